//! The table as plain maps, version by version: what commits do to it.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::transaction::IsolationLevel;

use super::change::Change;

/// A live file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) size: i64,
    /// How many rows it has, deleted ones too; none where that cannot be read any more.
    pub(crate) rows: Option<u64>,
    /// The value of the partition column, where the table has one.
    pub(crate) partition: Option<String>,
    /// The rows that its vector deletes.
    pub(crate) deleted: BTreeSet<u64>,
    /// The row id of its first row, and the version that brought it; where rows have ids.
    pub(crate) numbered: Option<(i64, i64)>,
}

/// The table at one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) files: BTreeMap<String, File>,
    /// What went: the path and the rows that its vector had deleted, and when, in milliseconds since the epoch.
    pub(crate) gone: BTreeMap<(String, BTreeSet<u64>), i64>,
    /// The columns, each with its type.
    pub(crate) columns: Vec<(String, String)>,
    pub(crate) partition_column: Option<String>,
    pub(crate) properties: BTreeMap<String, String>,
    /// Those of the features that the model follows that the protocol lists.
    pub(crate) features: BTreeSet<&'static str>,
    /// The version that enabled in-commit timestamps; none where the table had them from the start.
    pub(crate) times_since: Option<usize>,
    pub(crate) apps: BTreeMap<String, i64>,
    pub(crate) domains: BTreeMap<String, String>,
    /// The highest row id that was handed out.
    pub(crate) mark: Option<i64>,
}

/// What a commit is to do, as of the version that its writer has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    /// The operation.
    pub(crate) name: &'static str,
    pub(crate) adds: Vec<(String, File)>,
    /// Files that go.
    pub(crate) removes: Vec<String>,
    /// Rows that go.
    pub(crate) deletes: Vec<(String, BTreeSet<u64>)>,
    /// A change of the table's configuration.
    pub(crate) change: Option<Change>,
    /// An application, and how far it comes.
    pub(crate) app: Option<(String, i64)>,
    /// A domain, and its configuration; none where it goes.
    pub(crate) domain: Option<(String, Option<String>)>,
    /// Whether all files were read.
    pub(crate) reads_all: bool,
    /// What a predicate selected.
    pub(crate) reads: Option<Selection>,
    /// The isolation level instead of the table's.
    pub(crate) isolation: Option<IsolationLevel>,
    /// Whether rows come or go.
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

/// A version: what its commit did, what the table is then, and when it was made.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) wish: Wish,
    pub(crate) state: State,
    /// The commit's own time.
    pub(crate) time_ms: Option<i64>,
    /// When the store wrote the commit's file.
    pub(crate) modified_ms: i64,
}

/// All versions of a table, those among them that can be opened no more.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) versions: Vec<Version>,
    /// The oldest that can be opened.
    pub(crate) oldest: usize,
    /// Whether files are given row ids.
    pub(crate) numbers_rows: bool,
}

impl State {
    pub(crate) fn has(&self, property: &str) -> bool {
        self.properties.get(property).is_some_and(|value| value == "true")
    }

    /// How many rows each file has, deleted ones too.
    pub(crate) fn rows(&self) -> BTreeMap<String, u64> {
        let files = self.files.iter();
        files
            .filter_map(|(path, file)| Some((path.clone(), file.rows?)))
            .collect()
    }

    /// Whether commits hold their time.
    pub(crate) fn has_times(&self) -> bool {
        self.has("delta.enableInCommitTimestamps")
    }

    /// The table after a commit that made a version. Panics where the commit cannot be: a file that it takes is not there,
    /// a row that it deletes is deleted, a name that it brings has been there, a change cannot be made.
    pub(crate) fn after(&self, wish: &Wish, version: usize, numbers_rows: bool) -> Self {
        let mut after = self.clone();
        for path in &wish.removes {
            let Some(file) = after.files.remove(path) else {
                panic!("the commit of version {version} removes {path}, which is not there");
            };
            after.gone.insert((path.clone(), file.deleted), wish.removed_ms);
        }
        for (path, rows) in &wish.deletes {
            let Some(file) = after.files.get_mut(path) else {
                panic!("the commit of version {version} deletes rows of {path}, which is not there");
            };
            assert!(
                file.deleted.is_disjoint(rows),
                "version {version} deletes a row of {path} that is gone"
            );
            after
                .gone
                .insert((path.clone(), file.deleted.clone()), wish.removed_ms);
            file.deleted.extend(rows);
            // Two commits together may leave no row of a file.
            if u64::try_from(file.deleted.len()).ok() == file.rows {
                after.files.remove(path);
            }
        }
        for (path, file) in &wish.adds {
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
        if let Some(change) = &wish.change {
            let Some(changed) = change.apply(&after, version, wish.removed_ms) else {
                panic!("version {version} makes a change that cannot be made: {change:?}");
            };
            after = changed;
        }
        after.apps.extend(wish.app.clone());
        match &wish.domain {
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

    /// Whether the newest version says that an application has come so far.
    pub(crate) fn is_done(&self, wish: &Wish) -> bool {
        let reached = |(id, version): &(String, i64)| self.last().apps.get(id) >= Some(version);
        wish.app.as_ref().is_some_and(reached)
    }

    /// Takes in a commit that made the next version.
    pub(crate) fn commit(&mut self, wish: Wish, time_ms: Option<i64>, modified_ms: i64) {
        let version = self.versions.len();
        let state = self.last().after(&wish, version, self.numbers_rows);
        assert_eq!(time_ms.is_some(), state.has_times(), "times are there or not");
        let before = &self.versions[version - 1];
        // The first commit with a time of its own is newer than the file of the one before.
        let last_ms = before.time_ms.unwrap_or(before.modified_ms);
        assert!(
            time_ms.is_none_or(|time_ms| time_ms > last_ms),
            "time stands still: {last_ms}, {time_ms:?}"
        );
        assert!(state.mark >= self.last().mark, "the mark of row ids falls");
        self.versions.push(Version {
            wish,
            state,
            time_ms,
            modified_ms,
        });
    }

    /// The newest version that had expired by a midnight UTC: the log may begin there, and not later. The times of commits
    /// are those that the newest version goes by.
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
