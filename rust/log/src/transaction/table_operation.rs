//! Runs an operation on a table: plans it against a version, commits, and after a conflict plans it again against the
//! newest version. A new plan may reuse output files whose inputs are unchanged.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;

use deltaic_protocol::actions::Add;
use deltaic_protocol::clustering;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::proposal::key_of;
use super::{CommitOptions, Committed, StagedFiles, Transaction, Vectors};
use crate::snapshot::Snapshot;
use deltaic_storage::clock::{Deadline, now_ms, pause_at_random};

/// Limits on the attempts of an operation.
#[derive(Clone, Copy, Debug)]
pub struct RunPolicy {
    /// Maximum number of attempts.
    pub max_attempts: usize,
    /// No attempt is started and no version is proposed after this deadline; `None` means no deadline.
    pub deadline: Option<Deadline>,
}

/// The maximum number of times that a change of rows is planned because of conflicts.
const MAX_PLANS: usize = 10;

impl RunPolicy {
    /// The policy of changes of rows: they are planned again after conflicts, unless `row_level` is off.
    #[must_use]
    pub fn of_rows(options: &CommitOptions) -> Self {
        Self {
            max_attempts: if options.row_level { MAX_PLANS } else { 1 },
            deadline: options.deadline,
        }
    }

    /// Whether an operation may be planned again after attempt number `attempts` failed with `error`: only after a
    /// commit conflict. After other errors, a retry would fail again or the outcome of the commit is unknown.
    /// `AddedTwice` is not retried: the winning commit that added the same file may be this commit itself.
    #[must_use]
    pub fn allows_after(&self, attempts: usize, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::CommitConflict(_))
            && error.is_retryable()
            && attempts < self.max_attempts
            && !self.deadline.is_some_and(Deadline::has_passed)
    }
}

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

    async fn attempt(self) -> (Arc<StagedFiles>, Result<Committed>) {
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

/// An operation on a table, which can be planned any number of times.
pub trait TableOperation: Send {
    /// Plans the operation against a version; `None` if there is nothing to do. `previous` is the attempt whose commit
    /// conflicted.
    fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> impl Future<Output = Result<Option<Planned<'a>>>> + Send;

    /// Whether the operation may be planned again after this conflict, if the policy allows it.
    fn may_plan_again(&self, _conflict: &Error) -> bool {
        true
    }
}

/// The previous attempt of an operation, whose commit conflicted: the table contains none of its changes.
#[derive(Debug)]
pub struct PreviousAttempt {
    attempts: usize,
    conflict: Error,
    is_same_table: bool,
    outputs: Vec<Output>,
    files: Arc<StagedFiles>,
    unchanged: HashSet<String>,
    is_same_configuration: bool,
}

impl PreviousAttempt {
    fn new(
        attempts: usize,
        conflict: Error,
        (outputs, files): (Vec<Output>, Arc<StagedFiles>),
        touched: &HashSet<String>,
        versions: [&Snapshot; 2],
    ) -> Self {
        let is_same_configuration = have_same_configuration(versions);
        let [old, new] = versions.map(|snapshot| &snapshot.metadata().id);
        let is_same_table = old == new;
        let [before, after] = versions.map(|snapshot| live(snapshot, touched));
        let unchanged = before
            .into_iter()
            .filter(|(path, id)| after.get(path) == Some(id));
        Self {
            attempts,
            conflict,
            is_same_table,
            outputs,
            files,
            unchanged: unchanged.map(|(path, _)| path).collect(),
            is_same_configuration,
        }
    }

    /// Number of attempts that conflicted.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    /// Whether the newest version has the table id of the attempt: a table can be replaced by another one.
    #[must_use]
    pub fn is_same_table(&self) -> bool {
        self.is_same_table
    }

    /// The conflict of its commit.
    #[must_use]
    pub fn conflict(&self) -> &Error {
        &self.conflict
    }

    /// Whether files that it wrote are valid in the newest version, as far as its configuration is concerned: it has the
    /// same protocol, table id, schema, partition and clustering columns, and properties.
    #[must_use]
    pub fn is_same_configuration(&self) -> bool {
        self.is_same_configuration
    }

    /// Whether a file that it read or removed is still live and unchanged: same path, same deletion vector.
    #[must_use]
    pub fn is_unchanged(&self, path: &str) -> bool {
        self.unchanged.contains(&key_of(path))
    }

    /// Outputs whose input files and table configuration are unchanged: this attempt may add them again instead of
    /// reading the inputs.
    pub fn reusable(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|output| self.is_reusable(output))
    }

    fn is_reusable(&self, output: &Output) -> bool {
        self.is_same_configuration && output.inputs.iter().all(|path| self.is_unchanged(path))
    }
}

/// Whether files written for one version are valid for the other: same protocol, table id, schema, partition and
/// clustering columns, and properties (including constraints and row tracking).
fn have_same_configuration(versions: [&Snapshot; 2]) -> bool {
    let [before, after] = versions.map(|snapshot| {
        let metadata = snapshot.metadata();
        (
            snapshot.protocol(),
            (&metadata.id, &metadata.schema_string, &metadata.partition_columns),
            &metadata.configuration,
            snapshot.domains().get(clustering::DOMAIN),
        )
    });
    before == after
}

/// Deletion vector ids of live files, by path.
fn live(snapshot: &Snapshot, paths: &HashSet<String>) -> HashMap<String, Option<VectorId>> {
    let mut found = HashMap::with_capacity(paths.len());
    for survivors in snapshot.adds() {
        for row in survivors.live.set_indices() {
            let key = survivors.files.keys.key(row);
            if paths.contains(key.path()) {
                let vector = key.deletion_vector();
                let id = vector.map(|(kind, text, offset)| (kind.to_owned(), text.to_owned(), offset));
                found.insert(key.path().to_owned(), id);
            }
        }
    }
    found
}

/// Storage type, text and offset of a deletion vector.
type VectorId = (String, String, Option<i32>);

/// Runs an operation until it commits or fails: after a conflict, refreshes the table and plans the operation again.
/// Returns a skipped commit if there is nothing to do.
///
/// Resolved conflicts are listed in [`Committed::conflicts_resolved`]. Files of an attempt that conflicted are deleted
/// unless the next plan reuses them; those of the last attempt unless a version may reference them. Must be called in a
/// Tokio runtime.
///
/// # Errors
///
/// The last conflict, if no further attempt is allowed or the table has no newer version; `CommitUnknown` without a
/// retry, since the commit may have succeeded; any error of planning.
pub async fn run(
    snapshot: Snapshot,
    policy: RunPolicy,
    operation: &mut impl TableOperation,
) -> Result<Committed> {
    let mut snapshot = snapshot;
    let mut previous: Option<PreviousAttempt> = None;
    let mut resolved = Vec::new();
    let mut attempts = 0;
    loop {
        let planned = operation.plan(&snapshot, previous.as_ref()).await;
        if let Some(previous) = &previous {
            match &planned {
                Ok(Some(planned)) => {
                    let proposal = &planned.transaction.proposal;
                    let adds = proposal.adds.iter().map(|add| add.path.as_str());
                    let paths = adds.chain(proposal.cdc.iter().map(|cdc| cdc.path.as_str()));
                    planned.files.take_over(&previous.files, paths).await;
                }
                Ok(None) | Err(_) => previous.files.delete().await,
            }
        }
        let Some(mut planned) = planned? else {
            let time_ms = snapshot.file_time_ms().unwrap_or_else(now_ms);
            return Ok(Committed {
                conflicts_resolved: resolved,
                ..Committed::skipped(snapshot.version(), time_ms)
            });
        };
        let outputs = std::mem::take(&mut planned.outputs);
        let transaction = &mut planned.transaction;
        transaction.options.deadline = transaction.options.deadline.or(policy.deadline);
        let mut touched: HashSet<String> = transaction.read.files().map(str::to_owned).collect();
        let removes = transaction.proposal.removes.iter();
        touched.extend(removes.map(|remove| key_of(&remove.path)));
        attempts += 1;
        let (files, committed) = planned.attempt().await;
        let error = match committed {
            Err(error) if policy.allows_after(attempts, &error) && operation.may_plan_again(&error) => error,
            mut committed => {
                files.settle(&committed).await;
                if let Ok(committed) = &mut committed {
                    resolved.append(&mut committed.conflicts_resolved);
                    committed.conflicts_resolved = resolved;
                }
                return committed;
            }
        };
        files.end_commit();
        pause_at_random(attempts).await;
        let newest = match snapshot.refresh().await {
            Ok(newest) if newest.version() > snapshot.version() => newest,
            refreshed => {
                files.delete().await;
                return Err(refreshed.err().unwrap_or(error));
            }
        };
        resolved.push(format!(
            "{}; planned again at version {}",
            error.what(),
            newest.version()
        ));
        let versions = [&snapshot, &newest];
        previous = Some(PreviousAttempt::new(
            attempts,
            error,
            (outputs, files),
            &touched,
            versions,
        ));
        snapshot = newest;
    }
}
