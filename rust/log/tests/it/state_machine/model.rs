//! The table as plain maps, version by version, and the effects of commits.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::transaction::IsolationLevel;

use super::change::Change;

/// A live file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) size: i64,
    /// Number of rows including deleted ones; `None` if it can no longer be read.
    pub(crate) rows: Option<u64>,
    /// The value of the partition column, if any.
    pub(crate) partition: Option<String>,
    /// The rows that its vector deletes.
    pub(crate) deleted: BTreeSet<u64>,
    /// The base row id, and the version that added the file; if the table has row ids.
    pub(crate) numbered: Option<(i64, i64)>,
}

/// The table at one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) files: BTreeMap<String, File>,
    /// Tombstones: path and rows deleted by its vector, with the removal time in milliseconds since the epoch.
    pub(crate) gone: BTreeMap<(String, BTreeSet<u64>), i64>,
    /// The columns with their types.
    pub(crate) columns: Vec<(String, String)>,
    pub(crate) partition_column: Option<String>,
    pub(crate) properties: BTreeMap<String, String>,
    /// The table features that the model covers.
    pub(crate) features: BTreeSet<&'static str>,
    /// The version that enabled in-commit timestamps; `None` if they were enabled from the start.
    pub(crate) times_since: Option<usize>,
    pub(crate) apps: BTreeMap<String, i64>,
    pub(crate) domains: BTreeMap<String, String>,
    /// The highest assigned row id.
    pub(crate) mark: Option<i64>,
}

/// What a commit is to do, based on the version that its writer has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlannedCommit {
    /// The operation.
    pub(crate) name: &'static str,
    pub(crate) adds: Vec<(String, File)>,
    /// Removed files.
    pub(crate) removes: Vec<String>,
    /// Deleted rows.
    pub(crate) deletes: Vec<(String, BTreeSet<u64>)>,
    /// A change of the table's configuration.
    pub(crate) change: Option<Change>,
    /// An application, and its new version.
    pub(crate) app: Option<(String, i64)>,
    /// A domain, and its configuration; `None` to remove it.
    pub(crate) domain: Option<(String, Option<String>)>,
    /// Whether all files were read.
    pub(crate) reads_all: bool,
    /// The files that a predicate selected.
    pub(crate) reads: Option<Selection>,
    /// Overrides the table's isolation level.
    pub(crate) isolation: Option<IsolationLevel>,
    /// Whether rows are added or removed.
    pub(crate) changes_rows: bool,
    /// When the writer removed its files, in milliseconds since the epoch.
    pub(crate) removed_ms: i64,
}

/// The files that a predicate selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    Everything,
    Partition(String),
}

impl Selection {
    pub(crate) fn has(&self, file: &File) -> bool {
        match self {
            Self::Everything => true,
            Self::Partition(value) => file.partition.as_ref() == Some(value),
        }
    }
}

/// A version: its commit, the resulting table, and its times.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) planned: PlannedCommit,
    pub(crate) state: State,
    /// The in-commit timestamp.
    pub(crate) time_ms: Option<i64>,
    /// When the store wrote the commit's file.
    pub(crate) modified_ms: i64,
}

/// All versions of a table, including those that can no longer be opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) versions: Vec<Version>,
    /// The oldest version that can be opened.
    pub(crate) oldest: usize,
    /// Whether files get row ids.
    pub(crate) numbers_rows: bool,
}

impl State {
    pub(crate) fn has(&self, property: &str) -> bool {
        self.properties.get(property).is_some_and(|value| value == "true")
    }

    /// Number of rows of each file, including deleted ones.
    pub(crate) fn rows(&self) -> BTreeMap<String, u64> {
        let files = self.files.iter();
        files
            .filter_map(|(path, file)| Some((path.clone(), file.rows?)))
            .collect()
    }

    /// Whether in-commit timestamps are enabled.
    pub(crate) fn has_times(&self) -> bool {
        self.has("delta.enableInCommitTimestamps")
    }

    /// The table after a commit that created a version. Panics if the commit is invalid: a removed file does not exist,
    /// a deleted row is already deleted, the name of an added file was used before, a change is impossible.
    pub(crate) fn after(&self, planned: &PlannedCommit, version: usize, numbers_rows: bool) -> Self {
        let mut after = self.clone();
        for path in &planned.removes {
            let Some(file) = after.files.remove(path) else {
                panic!("the commit of version {version} removes {path}, which is not there");
            };
            after
                .gone
                .insert((path.clone(), file.deleted), planned.removed_ms);
        }
        for (path, rows) in &planned.deletes {
            let Some(file) = after.files.get_mut(path) else {
                panic!("the commit of version {version} deletes rows of {path}, which is not there");
            };
            assert!(
                file.deleted.is_disjoint(rows),
                "version {version} deletes a row of {path} that is gone"
            );
            after
                .gone
                .insert((path.clone(), file.deleted.clone()), planned.removed_ms);
            file.deleted.extend(rows);
            // Two commits together may delete all rows of a file.
            if u64::try_from(file.deleted.len()).ok() == file.rows {
                after.files.remove(path);
            }
        }
        for (path, file) in &planned.adds {
            let mut file = file.clone();
            if numbers_rows {
                let first = after.mark.unwrap_or(-1) + 1;
                after.mark = Some(first + i64::try_from(file.rows.unwrap_or(0)).unwrap_or(0) - 1);
                file.numbered = Some((first, i64::try_from(version).unwrap_or(0)));
            }
            assert!(
                after.files.insert(path.clone(), file).is_none(),
                "{path} comes twice"
            );
        }
        if let Some(change) = &planned.change {
            let Some(changed) = change.apply(&after, version, planned.removed_ms) else {
                panic!("version {version} makes a change that cannot be made: {change:?}");
            };
            after = changed;
        }
        after.apps.extend(planned.app.clone());
        match &planned.domain {
            Some((name, Some(configuration))) => {
                after.domains.insert(name.clone(), configuration.clone());
            }
            Some((name, None)) => {
                after.domains.remove(name);
            }
            None => {}
        }
        after
    }
}

impl History {
    /// The number of the newest version.
    pub(crate) fn newest(&self) -> usize {
        self.versions.len() - 1
    }

    pub(crate) fn state(&self, version: usize) -> &State {
        &self.versions[version].state
    }

    pub(crate) fn last(&self) -> &State {
        self.state(self.newest())
    }

    /// Whether the newest version contains this version of the application.
    pub(crate) fn is_done(&self, planned: &PlannedCommit) -> bool {
        let reached = |(id, version): &(String, i64)| self.last().apps.get(id) >= Some(version);
        planned.app.as_ref().is_some_and(reached)
    }

    /// Adds a commit that created the next version.
    pub(crate) fn commit(&mut self, planned: PlannedCommit, time_ms: Option<i64>, modified_ms: i64) {
        let version = self.versions.len();
        let state = self.last().after(&planned, version, self.numbers_rows);
        assert_eq!(time_ms.is_some(), state.has_times(), "times are there or not");
        let before = &self.versions[version - 1];
        // The first in-commit timestamp is later than the modification time of the previous version.
        let last_ms = before.time_ms.unwrap_or(before.modified_ms);
        assert!(
            time_ms.is_none_or(|time_ms| time_ms > last_ms),
            "time stands still: {last_ms}, {time_ms:?}"
        );
        assert!(state.mark >= self.last().mark, "the mark of row ids falls");
        self.versions.push(Version {
            planned,
            state,
            time_ms,
            modified_ms,
        });
    }

    /// The newest version that had expired by a midnight UTC, which is the latest version at which the log may begin.
    /// Uses the times that the newest version uses.
    pub(crate) fn last_expired(&self, midnight_ms: i64) -> usize {
        let last = self.last();
        let since = last.times_since.unwrap_or(0);
        let time_ms = |(number, version): (usize, &Version)| match version.time_ms {
            Some(time_ms) if last.has_times() && number >= since => time_ms,
            _ => version.modified_ms,
        };
        let times = self.versions.iter().enumerate().map(time_ms);
        let expired = times.take_while(|time_ms| *time_ms <= midnight_ms).count();
        expired.saturating_sub(1).max(self.oldest)
    }
}
