//! Converts folders of Parquet files, and `deltaic._rust.ConvertPreview`.

use std::sync::Arc;

use deltaic_storage::TableLocation;
use deltaic_table::convert::{self, ConvertRequest};
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait_reporting;
use crate::reading::schema::Schema;
use crate::writing::commit::Commit;
use crate::writing::commit_options::CommitOptions;

#[pyclass(module = "deltaic._rust", frozen)]
pub(crate) struct ConvertPreview {
    found: convert::ConvertSummary,
}

#[pymethods]
impl ConvertPreview {
    #[getter]
    fn files(&self) -> usize {
        self.found.files
    }

    #[getter]
    fn bytes(&self) -> i64 {
        self.found.bytes
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.found.rows
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::new(self.found.schema.clone()), None)
    }
}

pub(crate) fn run(py: Python<'_>, request: ConvertRequest, options: CommitOptions) -> CallResult<Commit> {
    let (options, reporter) = options.parse()?;
    let committed = wait_reporting(py, reporter.as_ref(), async move {
        convert::convert(&request, &options).await
    })?;
    Ok(committed.into())
}

pub(crate) fn preview(
    py: Python<'_>,
    request: ConvertRequest,
    options: CommitOptions,
) -> CallResult<ConvertPreview> {
    let (options, reporter) = options.parse()?;
    let found = wait_reporting(py, reporter.as_ref(), async move {
        convert::preview_convert(&request, &options).await
    })?;
    Ok(ConvertPreview { found })
}

/// A request; the partition schema has the columns outermost first.
pub(crate) fn request(
    location: &Arc<TableLocation>,
    partition_schema: deltaic_protocol::schema::StructType,
    statistics: bool,
) -> ConvertRequest {
    ConvertRequest {
        location: Arc::clone(location),
        partition_schema,
        statistics,
    }
}
