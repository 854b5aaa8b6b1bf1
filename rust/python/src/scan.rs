//! `deltaic._rust.Scan` and `deltaic._rust.ScanTask`

use std::sync::Arc;

use deltaic_table::read::{count, stream_scan, stream_task};
use deltaic_table::scan;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::batches::{BatchReader, Blocking};
use crate::capsule::export_stream;
use crate::error::Answer;
use crate::runtime::wait;
use crate::schema::Schema;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct Scan(pub scan::Scan);

#[pymethods]
impl Scan {
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::new(self.0.schema().clone()), None)
    }

    fn batches(&self, py: Python<'_>) -> Answer<BatchReader> {
        Ok(BatchReader::new(wait(py, stream_scan(&self.0))?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> Answer<Bound<'py, PyCapsule>> {
        let stream = wait(py, stream_scan(&self.0))?;
        let reader = Blocking::new(Arc::new(self.0.schema().to_arrow()?), stream)?;
        export_stream(py, Box::new(reader), requested_schema)
    }

    fn count(&self, py: Python<'_>) -> Answer<i64> {
        wait(py, count(&self.0))
    }

    fn tasks(&self, py: Python<'_>) -> Answer<Vec<ScanTask>> {
        let tasks = wait(py, self.0.tasks())?;
        Ok(tasks.into_iter().map(ScanTask).collect())
    }

    fn explain(&self, py: Python<'_>) -> Answer<String> {
        wait(py, self.0.explain())
    }
}

#[pyclass(module = "deltaic._rust", frozen)]
pub struct ScanTask(scan::ScanTask);

#[pymethods]
impl ScanTask {
    #[getter]
    fn path(&self) -> &str {
        self.0.path()
    }

    #[getter]
    fn size_in_bytes(&self) -> i64 {
        self.0.size_in_bytes()
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::new(self.0.schema().clone()), None)
    }

    fn batches(&self) -> BatchReader {
        BatchReader::new(stream_task(self.0.clone()))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> Answer<Bound<'py, PyCapsule>> {
        let reader = Blocking::new(Arc::new(self.0.schema().to_arrow()?), stream_task(self.0.clone()))?;
        export_stream(py, Box::new(reader), requested_schema)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes()?))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> Answer<Self> {
        Ok(Self(scan::ScanTask::from_bytes(data)?))
    }
}
