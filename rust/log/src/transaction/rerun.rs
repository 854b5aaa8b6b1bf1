//! Runs an operation again after a conflict: it is planned against the latest version, and may reuse output files whose
//! inputs are unchanged.

use std::collections::{HashMap, HashSet};
use std::future::Future;

use deltaic_protocol::actions::Add;
use deltaic_protocol::clustering;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};

use super::proposal::key_of;
use super::{Committed, Transaction, Vectors};
use crate::clock::{Deadline, pause_by_chance};
use crate::snapshot::Snapshot;

/// Limits on the runs of an operation.
#[derive(Clone, Copy, Debug)]
pub struct RerunPolicy {
    /// Maximum number of runs.
    pub max_runs: usize,
    /// No run is started and no version is tried after this deadline; `None` means no deadline.
    pub deadline: Option<Deadline>,
}

impl RerunPolicy {
    /// Whether an operation may be run again after run number `runs` failed with `error`: only after a commit conflict.
    /// After other errors, a retry would fail again or the outcome of the commit is unknown. `AddedTwice` is not
    /// retried: the winning commit that added the same file may be this commit itself.
    #[must_use]
    pub fn allows_after(&self, runs: usize, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::CommitConflict(conflict) if conflict != Conflict::AddedTwice)
            && runs < self.max_runs
            && !self.deadline.is_some_and(Deadline::has_passed)
    }
}

/// Data files that a run wrote, and the live files whose rows they contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Paths of the input files, as in the log.
    pub inputs: Vec<String>,
    /// The `add` actions of the written files.
    pub adds: Vec<Add>,
}

/// The planned commit of one run.
pub struct Planned<'a> {
    /// The transaction with all actions staged.
    pub transaction: Transaction<'a>,
    /// Outputs that a later run may reuse. The transaction adds all of their files.
    pub outputs: Vec<Output>,
}

/// An operation on a table that can be run any number of times.
pub trait Rerunnable: Send {
    /// Plans the operation against a version; `None` if there is nothing to do. `earlier` is the run that conflicted.
    fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        earlier: Option<&Earlier>,
    ) -> impl Future<Output = Result<Option<Planned<'a>>>> + Send;
}

/// The previous run of an operation, whose commit conflicted: the table contains none of its changes.
#[derive(Debug)]
pub struct Earlier {
    conflict: Error,
    outputs: Vec<Output>,
    unchanged: HashSet<String>,
    is_same_form: bool,
}

impl Earlier {
    fn new(
        conflict: Error,
        outputs: Vec<Output>,
        touched: &HashSet<String>,
        versions: [&Snapshot; 2],
    ) -> Self {
        let is_same_form = are_of_one_form(versions);
        let [before, after] = versions.map(|snapshot| live(snapshot, touched));
        let unchanged = before
            .into_iter()
            .filter(|(path, id)| after.get(path) == Some(id));
        Self {
            conflict,
            outputs,
            unchanged: unchanged.map(|(path, _)| path).collect(),
            is_same_form,
        }
    }

    /// The conflict of its commit.
    #[must_use]
    pub fn conflict(&self) -> &Error {
        &self.conflict
    }

    /// Whether a file that it read or removed is still live and unchanged: same path, same deletion vector.
    #[must_use]
    pub fn is_unchanged(&self, path: &str) -> bool {
        self.unchanged.contains(&key_of(path))
    }

    /// Outputs whose input files and table configuration are unchanged: this run may add them again instead of reading
    /// the inputs.
    pub fn reusable(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|output| self.is_reusable(output))
    }

    /// All other outputs: no version references them, so they can be deleted.
    pub fn outdated(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|output| !self.is_reusable(output))
    }

    fn is_reusable(&self, output: &Output) -> bool {
        self.is_same_form && output.inputs.iter().all(|path| self.is_unchanged(path))
    }
}

/// Whether files written for one version are valid for the other: same protocol, table id, schema, partition and
/// clustering columns, and properties (including constraints and row tracking).
fn are_of_one_form(versions: [&Snapshot; 2]) -> bool {
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
/// Returns `None` if there was nothing to do.
///
/// Resolved conflicts are listed in [`Committed::conflicts_resolved`]. `vectors` merges deletion vectors if the
/// transaction does not set its own. Must be called within a Tokio runtime.
///
/// # Errors
///
/// The last conflict, if the policy allows no further run; `CommitUnknown` without a retry, since the commit may have
/// succeeded; any error of planning.
pub async fn rerun(
    snapshot: Snapshot,
    policy: RerunPolicy,
    vectors: Option<&dyn Vectors>,
    operation: &mut impl Rerunnable,
) -> Result<Option<Committed>> {
    let mut snapshot = snapshot;
    let mut earlier: Option<Earlier> = None;
    let mut resolved = Vec::new();
    for run in 1usize.. {
        let Some(planned) = operation.plan(&snapshot, earlier.as_ref()).await? else {
            return Ok(None);
        };
        let Planned {
            mut transaction,
            outputs,
        } = planned;
        transaction.options.deadline = transaction.options.deadline.or(policy.deadline);
        transaction.vectors = transaction.vectors.or(vectors);
        let mut touched: HashSet<String> = transaction.read.files().map(str::to_owned).collect();
        let removes = transaction.proposal.removes.iter();
        touched.extend(removes.map(|remove| key_of(&remove.path)));
        let error = match transaction.commit().await {
            Ok(mut committed) => {
                resolved.append(&mut committed.conflicts_resolved);
                committed.conflicts_resolved = resolved;
                return Ok(Some(committed));
            }
            Err(error) if policy.allows_after(run, &error) => error,
            Err(error) => return Err(error),
        };
        pause_by_chance(run).await;
        let fresh = snapshot.refresh().await?;
        resolved.push(format!(
            "{}; run again at version {}",
            error.what(),
            fresh.version()
        ));
        earlier = Some(Earlier::new(error, outputs, &touched, [&snapshot, &fresh]));
        snapshot = fresh;
    }
    Ok(None)
}
