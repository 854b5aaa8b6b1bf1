//! `deltaic._rust.NativeScanPlan`

use deltaic_table::native_scan::{NativeScanPlan as TableNativeScanPlan, Times};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrow_table::ArrowTable;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct NativeScanPlan(pub TableNativeScanPlan);

#[pymethods]
impl NativeScanPlan {
    #[getter]
    fn num_files(&self) -> usize {
        self.0.num_files()
    }

    #[getter]
    fn files_of_snapshot(&self) -> usize {
        self.0.report.files
    }

    #[getter]
    fn files_after_partitions(&self) -> usize {
        self.0.report.after_partitions
    }

    #[getter]
    fn size_in_bytes(&self) -> i64 {
        self.0.report.bytes_after_statistics
    }

    #[getter]
    fn largest_file_in_bytes(&self) -> i64 {
        self.0.largest_file_in_bytes()
    }

    #[getter]
    fn is_in_folders(&self) -> bool {
        self.0.is_in_folders
    }

    #[getter]
    fn files(&self) -> ArrowTable {
        let (schema, batches) = self.0.files.clone();
        ArrowTable { schema, batches }
    }

    #[getter]
    fn vectors(&self) -> Option<ArrowTable> {
        let vectors = self.0.vectors.as_ref()?;
        Some(ArrowTable {
            schema: vectors.schema(),
            batches: vec![vectors.clone()],
        })
    }

    #[pyo3(signature = (*, ordinals))]
    fn sink_log<'py>(&self, py: Python<'py>, ordinals: bool) -> Bound<'py, PyBytes> {
        let times = if ordinals {
            Times::Ordinals
        } else {
            Times::AsInTheLog
        };
        let text = py.detach(|| self.0.sink_log(times));
        PyBytes::new(py, &text)
    }
}
