//! `deltaic._rust.Scan` and `deltaic._rust.ScanTask`

use std::sync::Arc;

use deltaic_table::read::{BatchStream, count, stream_scan, stream_task};
use deltaic_table::scan;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use super::batches::{BatchReader, Blocking};
use super::schema::Schema;
use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::calls::runtime::wait;
use crate::capsule::{export_schema, export_stream, requested_strings};

#[pyclass(module = "deltaic._rust", frozen)]
pub struct Scan(pub scan::Scan);

fn stream(py: Python<'_>, scan: &scan::Scan) -> CallResult<BatchStream> {
    let scan = scan.clone();
    wait(py, async move { stream_scan(&scan).await })
}

#[pymethods]
impl Scan {
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::new(self.0.schema().clone()), None)
    }

    fn with_strings(&self, strings: &str) -> CallResult<Self> {
        guarded(|| Ok(Self(self.0.with_strings(scan::StringsAs::parse(strings)?))))
    }

    fn batches(&self, py: Python<'_>) -> CallResult<BatchReader> {
        Ok(BatchReader::new(stream(py, &self.0)?))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| export_schema(py, &self.0.arrow_schema()?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> CallResult<Bound<'py, PyCapsule>> {
        let strings = guarded(|| {
            let schema_of = |strings| self.0.with_strings(strings).arrow_schema();
            requested_strings(requested_schema.as_ref(), schema_of)
        })?;
        let scan = strings.map_or_else(|| self.0.clone(), |strings| self.0.with_strings(strings));
        let stream = stream(py, &scan)?;
        guarded(|| {
            let reader = Blocking::new(py, Arc::new(scan.arrow_schema()?), stream)?;
            export_stream(py, Box::new(reader), requested_schema)
        })
    }

    fn count(&self, py: Python<'_>) -> CallResult<i64> {
        let scan = self.0.clone();
        wait(py, async move { count(&scan).await })
    }

    fn tasks(&self, py: Python<'_>) -> CallResult<Vec<ScanTask>> {
        let scan = self.0.clone();
        let tasks = wait(py, async move { scan.tasks().await })?;
        Ok(tasks.into_iter().map(ScanTask).collect())
    }

    fn explain(&self, py: Python<'_>) -> CallResult<String> {
        let scan = self.0.clone();
        wait(py, async move { scan.explain().await })
    }
}

#[pyclass(module = "deltaic._rust", frozen)]
pub struct ScanTask(pub scan::ScanTask);

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
    fn predicate(&self) -> CallResult<Option<String>> {
        guarded(|| Ok(self.0.predicate()?))
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::new(self.0.schema().clone()), None)
    }

    fn batches(&self) -> BatchReader {
        BatchReader::new(stream_task(self.0.clone()))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| export_schema(py, &self.0.arrow_schema()?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| {
            let schema_of = |strings| self.0.with_strings(strings).arrow_schema();
            let strings = requested_strings(requested_schema.as_ref(), schema_of)?;
            let task = strings.map_or_else(|| self.0.clone(), |strings| self.0.with_strings(strings));
            let schema = Arc::new(task.arrow_schema()?);
            let reader = Blocking::new(py, schema, stream_task(task))?;
            export_stream(py, Box::new(reader), requested_schema)
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyBytes>> {
        guarded(|| Ok(PyBytes::new(py, &self.0.to_bytes()?)))
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> CallResult<Self> {
        guarded(|| Ok(Self(scan::ScanTask::from_bytes(data)?)))
    }
}
