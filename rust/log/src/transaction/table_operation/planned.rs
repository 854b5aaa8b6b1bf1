//! The plan of one attempt of an operation.

use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;

use super::staged_files::StagedFiles;
use crate::transaction::commit::{Transaction, Vectors};
use crate::transaction::committed::Committed;

/// Data files that an attempt wrote, and the live files whose rows they contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Paths of the input files, as in the log.
    pub inputs: Vec<String>,
    /// The `add` actions of the written files.
    pub adds: Vec<Add>,
}

/// The planned commit of one attempt.
pub struct Planned<'a> {
    /// The transaction with all actions staged.
    pub transaction: Transaction<'a>,
    /// Outputs that a later attempt may reuse.
    pub outputs: Vec<Output>,
    /// All files that were written for the commit, those of `outputs` included.
    pub files: Arc<StagedFiles>,
    /// Merges deletion vectors, unless the transaction has its own merger.
    pub vectors: Option<Arc<dyn Vectors>>,
}

impl<'a> Planned<'a> {
    /// A plan that has written no file.
    #[must_use]
    pub fn without_files(transaction: Transaction<'a>) -> Self {
        Self {
            files: Arc::new(StagedFiles::new(transaction.location())),
            transaction,
            outputs: Vec::new(),
            vectors: None,
        }
    }

    /// Commits the transaction; then the staged files are settled, see [`StagedFiles::settle`]. Returns also whether
    /// they were retained.
    pub async fn commit(self) -> (Result<Committed>, bool) {
        let (files, committed) = self.attempt().await;
        let are_kept = files.settle(&committed).await;
        (committed, are_kept)
    }

    pub(super) async fn attempt(self) -> (Arc<StagedFiles>, Result<Committed>) {
        let Self {
            transaction,
            files,
            vectors,
            ..
        } = self;
        let mut transaction: Transaction<'_> = transaction;
        transaction.vectors = transaction.vectors.or(vectors.as_deref());
        files.begin_commit();
        let committed = transaction.commit().await;
        (files, committed)
    }
}
