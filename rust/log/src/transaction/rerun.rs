//! An operation that is run again: after a conflict it is asked anew, against the table as it is by then, and may use
//! again what it wrote from files that nobody changed.

use std::collections::{HashMap, HashSet};
use std::future::Future;

use deltaic_protocol::actions::Add;
use deltaic_protocol::clustering;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result};

use super::proposal::key_of;
use super::{Committed, Transaction, Vectors};
use crate::clock::{Deadline, pause_by_chance};
use crate::snapshot::Snapshot;

/// How often an operation is run, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct RerunPolicy {
    /// How many runs there may be.
    pub max_runs: usize,
    /// When no further run is begun, and no further version tried; never without.
    pub deadline: Option<Deadline>,
}

impl RerunPolicy {
    /// Whether an operation whose `runs`th run ended with an error may be run again: its commit met a winner that it
    /// cannot follow. After any other error it is known to be in vain, or not known what became of the commit. A winner that
    /// added the same file may be the commit itself.
    #[must_use]
    pub fn allows_after(&self, runs: usize, error: &Error) -> bool {
        matches!(error.kind(), ErrorKind::CommitConflict(conflict) if conflict != Conflict::AddedTwice)
            && runs < self.max_runs
            && !self.deadline.is_some_and(Deadline::has_passed)
    }
}

/// Data files that a run wrote, and the live files whose rows they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The paths of the files that were read for them, as the log has them.
    pub inputs: Vec<String>,
    /// What they are in the log.
    pub adds: Vec<Add>,
}

/// What one run of an operation wants to commit.
pub struct Planned<'a> {
    /// The transaction, everything staged.
    pub transaction: Transaction<'a>,
    /// What of it a later run may use again, if there must be one. Its files are among those that the transaction adds.
    pub outputs: Vec<Output>,
}

/// An operation on a table, which can be run any number of times.
pub trait Rerunnable: Send {
    /// Plans it against a version; none where there is nothing to do. After a conflict it hears of the run before.
    fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        earlier: Option<&Earlier>,
    ) -> impl Future<Output = Result<Option<Planned<'a>>>> + Send;
}

/// The run of an operation before this one, whose commit met a conflict: nothing of it is in the table.
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

    /// What its commit met.
    #[must_use]
    pub fn conflict(&self) -> &Error {
        &self.conflict
    }

    /// Whether a file that it had read or removed is still live, with the rows that it had: under the same path with the
    /// same deletion vector.
    #[must_use]
    pub fn is_unchanged(&self, path: &str) -> bool {
        self.unchanged.contains(&key_of(path))
    }

    /// What it wrote from files of which none has changed, where the table says the same of its files as then: this run may
    /// add it again as it is, instead of reading them.
    pub fn reusable(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|output| self.is_reusable(output))
    }

    /// What else it wrote: nothing names it, and it can be removed.
    pub fn outdated(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|output| !self.is_reusable(output))
    }

    fn is_reusable(&self, output: &Output) -> bool {
        self.is_same_form && output.inputs.iter().all(|path| self.is_unchanged(path))
    }
}

/// Whether files that were written for one version are those that the other asks for: nothing has changed of the schema,
/// the properties with constraints and row tracking among them, the protocol, nor by which columns files are arranged.
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

/// The unique ids of the deletion vectors of live files, by their paths.
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

/// Runs an operation until it is committed or can never be: after a conflict the table is read as it is by then, and the
/// operation planned anew. None where it found nothing to do.
///
/// What was in the way is told among [`Committed::conflicts_resolved`]. `vectors` unites deletion vectors where a
/// transaction brings nothing for it. Must be called inside a runtime.
///
/// # Errors
///
/// The last conflict, where the policy allows no further run; `CommitUnknown` at once, since the operation may have been
/// done; whatever planning fails with.
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
