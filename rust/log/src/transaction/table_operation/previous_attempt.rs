//! The attempt before, whose commit conflicted, and what of it remains valid.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::{Error, clustering};

use super::planned::Output;
use super::staged_files::StagedFiles;
use crate::snapshot::Snapshot;
use crate::transaction::proposal::key_of;

/// The previous attempt of an operation, whose commit conflicted: the table contains none of its changes.
#[derive(Debug)]
pub struct PreviousAttempt {
    attempts: usize,
    conflict: Error,
    is_same_table: bool,
    outputs: Vec<Output>,
    pub(super) files: Arc<StagedFiles>,
    unchanged: HashSet<String>,
    is_same_configuration: bool,
}

impl PreviousAttempt {
    pub(super) fn new(
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
