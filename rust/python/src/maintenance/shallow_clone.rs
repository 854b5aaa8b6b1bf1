//! Makes shallow clones, and `deltaic._rust.ClonePreview`.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::transaction::IfExists;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_table::shallow_clone;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait_reporting;
use crate::snapshot::Snapshot;
use crate::writing::commit::Commit;
use crate::writing::commit_options::CommitOptions;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct ClonePreview {
    files: usize,
    bytes: i64,
    removed_files: usize,
    removed_bytes: i64,
}

/// A mapping from option names to values, validated by Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CloneRequest {
    properties: BTreeMap<String, String>,
    if_exists: String,
    verify_files: bool,
}

impl CloneRequest {
    pub(crate) fn parse(self, target: Arc<TableLocation>) -> Result<shallow_clone::CloneRequest> {
        let if_exists = match IfExists::parse(&self.if_exists) {
            Ok(if_exists @ (IfExists::Error | IfExists::Replace)) => if_exists,
            _ => {
                let what = format!(
                    "if_exists is {:?}; it must be \"error\" or \"replace\"",
                    self.if_exists
                );
                return Err(Error::new(ErrorKind::InvalidArgument, what));
            }
        };
        Ok(shallow_clone::CloneRequest {
            target,
            properties: self.properties,
            if_exists,
            verify_files: self.verify_files,
        })
    }
}

pub(crate) fn run(
    py: Python<'_>,
    known: &Snapshot,
    request: shallow_clone::CloneRequest,
    options: CommitOptions,
) -> CallResult<Commit> {
    let (source, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    let committed = wait_reporting(py, reporter.as_ref(), async move {
        shallow_clone::shallow_clone(&source, &request, &options).await
    })?;
    Ok(committed.into())
}

pub(crate) fn preview(
    py: Python<'_>,
    known: &Snapshot,
    request: shallow_clone::CloneRequest,
    options: CommitOptions,
) -> CallResult<ClonePreview> {
    let (source, (options, reporter)) = (known.snapshot.clone(), options.parse()?);
    let found = wait_reporting(py, reporter.as_ref(), async move {
        shallow_clone::preview_clone(&source, &request, &options.progress).await
    })?;
    Ok(ClonePreview {
        files: found.files,
        bytes: found.bytes,
        removed_files: found.removed_files,
        removed_bytes: found.removed_bytes,
    })
}
