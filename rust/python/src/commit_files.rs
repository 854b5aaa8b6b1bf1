//! `deltaic._rust.CommitFiles`

use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Version;
use deltaic_table::changes::{self, CommitFilesOptions};
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::runtime::wait;
use crate::reading::scan::ScanTask;
use crate::snapshot::Snapshot;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct CommitFiles(changes::CommitFiles);

#[pymethods]
impl CommitFiles {
    #[getter]
    fn version(&self) -> i64 {
        self.0.version.as_i64()
    }

    #[getter]
    fn removed(&self) -> Option<&str> {
        self.0.removed.as_deref()
    }

    fn tasks(&self) -> Vec<ScanTask> {
        self.0.tasks.iter().cloned().map(ScanTask).collect()
    }
}

/// The options of a range of commits.
pub(crate) struct CommitFilesRequest<'a> {
    pub first: i64,
    pub last: i64,
    pub rows_as: &'a Snapshot,
    pub before: Option<&'a CommitFiles>,
    pub columns: Option<Vec<String>>,
    pub feed: bool,
}

/// Reads the commits of a range.
pub(crate) fn read(
    py: Python<'_>,
    question: CommitFilesRequest<'_>,
    load: LoadOptions,
) -> CallResult<Vec<CommitFiles>> {
    let options = CommitFilesOptions {
        first: Version::try_new(question.first)?,
        last: Version::try_new(question.last)?,
        columns: question.columns,
        feed: question.feed,
    };
    let rows_as = question.rows_as.snapshot.clone();
    let before = question.before.map(|before| before.0.clone());
    let files = wait(py, async move {
        changes::commit_files(&rows_as, before.as_ref(), options, load).await
    })?;
    Ok(files.into_iter().map(CommitFiles).collect())
}
