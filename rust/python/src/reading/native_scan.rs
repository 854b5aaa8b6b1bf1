//! `deltaic._rust.NativeScanPlan`

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_table::native_scan::{NativeScanPlan as TableNativeScanPlan, Times};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrow_table::ArrowTable;
use crate::calls::error::CallResult;
use crate::calls::runtime::wait;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct NativeScanPlan(pub Arc<TableNativeScanPlan>, pub Snapshot);

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

    #[getter]
    fn file_list(&self) -> CallResult<ArrowTable> {
        let list = self.0.file_list()?;
        Ok(ArrowTable {
            schema: list.schema(),
            batches: vec![list],
        })
    }

    /// One byte for each file: 0 for those without a row that passes the filters; None if no filter leaves out files.
    fn kept<'py>(&self, py: Python<'py>, tree: String) -> CallResult<Option<Bound<'py, PyBytes>>> {
        let (plan, snapshot) = (Arc::clone(&self.0), self.1.clone());
        let kept = wait(py, async move { plan.kept(&snapshot, &tree).await })?;
        Ok(kept.map(|kept| PyBytes::new(py, &kept)))
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
