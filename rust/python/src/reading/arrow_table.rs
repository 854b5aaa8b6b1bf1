//! `deltaic._rust.ArrowTable`

use std::sync::Arc;

use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use deltaic_protocol::{Error, ErrorKind};
use deltaic_storage::memory_budget::MemoryBudget;
use deltaic_table::write::of_producer;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::capsule::{BatchesIn, export_schema, export_stream};

#[pyclass(module = "deltaic._rust", frozen)]
pub struct ArrowTable {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

/// Reads all rows of a stream into memory.
///
/// # Errors
///
/// `InvalidArgument` if they take more than `memory` bytes, by default those of a write.
#[pyfunction]
#[pyo3(signature = (data, memory=None))]
pub(crate) fn read_rows(py: Python<'_>, data: BatchesIn, memory: Option<usize>) -> CallResult<ArrowTable> {
    let most = memory
        .map_or_else(MemoryBudget::default, MemoryBudget::of)
        .bytes();
    guarded(|| {
        let (schema, mut batches, mut bytes) = (data.rows.schema(), Vec::new(), 0usize);
        for batch in data.rows {
            py.check_signals()?;
            let batch = batch.map_err(of_producer)?;
            bytes = batch.columns().iter().fold(bytes, |bytes, column| {
                bytes.saturating_add(column.to_data().get_slice_memory_size().unwrap_or(usize::MAX))
            });
            if bytes > most {
                let what =
                    format!("a dry run keeps the rows of a stream, but these take more than {most} bytes");
                return Err(Error::new(ErrorKind::InvalidArgument, what)
                    .hint("pass rows that can be read again, such as a pyarrow.Table, or more memory")
                    .into());
            }
            batches.push(batch);
        }
        Ok(ArrowTable { schema, batches })
    })
}

#[pymethods]
impl ArrowTable {
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn schema(&self) -> ArrowSchema {
        ArrowSchema(Arc::clone(&self.schema))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> CallResult<Bound<'py, PyCapsule>> {
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        guarded(|| export_stream(py, Box::new(reader), requested_schema))
    }
}

/// The Arrow schema of an `ArrowTable`. Its columns are those of log actions, not of a Delta table.
#[pyclass(module = "deltaic._rust", frozen)]
pub struct ArrowSchema(SchemaRef);

#[pymethods]
impl ArrowSchema {
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| export_schema(py, &self.0))
    }
}
