//! Decides which commits are incompatible by what they read and did, independently of the conflict checker.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::transaction::IsolationLevel::{self, Serializable, SnapshotIsolation, WriteSerializable};

use super::model::{File, History, PlannedCommit, State};

impl PlannedCommit {
    fn touches(&self) -> BTreeSet<&str> {
        let files = self.deletes.iter().map(|(path, _)| path);
        self.removes.iter().chain(files).map(String::as_str).collect()
    }

    /// Whether the commit read no file.
    pub(crate) fn is_blind(&self) -> bool {
        self.touches().is_empty() && !self.reads_all && self.reads.is_none()
    }

    fn app_id(&self) -> Option<&str> {
        self.app.as_ref().map(|(id, _)| id.as_str())
    }

    fn domain_name(&self) -> Option<&str> {
        self.domain.as_ref().map(|(name, _)| name.as_str())
    }

    fn replaces(&self) -> bool {
        self.change.as_ref().is_some_and(super::change::Change::replaces)
    }

    /// Whether a winning commit is incompatible with this one.
    fn must_lose_to(&self, winning_commit: &Self) -> bool {
        (self.change.is_some() && winning_commit.change.is_some())
            || winning_commit.replaces()
            || (self.app_id().is_some() && self.app_id() == winning_commit.app_id())
            || (self.domain_name().is_some() && self.domain_name() == winning_commit.domain_name())
            || self
                .removes
                .iter()
                .any(|path| winning_commit.touches().contains(path.as_str()))
            || (self.reads_all && !winning_commit.touches().is_empty())
    }

    /// Whether a winning commit may be a conflict for a conservative writer.
    fn may_lose_to(&self, winning_commit: &Self, state: &State) -> bool {
        let came = winning_commit.adds.iter().map(|(_, file)| file);
        let changed = winning_commit
            .deletes
            .iter()
            .filter_map(|(path, _)| state.files.get(path));
        let is_partitioned = state.partition_column.is_some();
        // Without partitions, a predicate may select every file.
        let would_read = |file: &File| {
            !is_partitioned || self.reads_all || self.reads.as_ref().is_some_and(|reads| reads.has(file))
        };
        self.must_lose_to(winning_commit)
            || winning_commit.change.is_some()
            || !self.touches().is_disjoint(&winning_commit.touches())
            || (self.reads.is_some() && !winning_commit.touches().is_empty())
            || (!self.is_blind() && came.chain(changed).any(would_read))
    }

    /// The effective isolation level. A commit that changes no row and nothing but files is only checked for its own
    /// files; for `WriteSerializable` this applies to operations that never change rows.
    fn level(&self, state: &State) -> IsolationLevel {
        let property = state.properties.get("delta.isolationLevel");
        let of_table = match property.map(String::as_str) {
            Some("WriteSerializable") => WriteSerializable,
            _ => Serializable,
        };
        let has_files = !self.adds.is_empty() || !self.touches().is_empty();
        let changes_rows = self.changes_rows && has_files;
        let only_files = self.app.is_none() && self.domain.is_none() && self.change.is_none();
        match self.isolation.unwrap_or(of_table) {
            Serializable if only_files && !changes_rows => SnapshotIsolation,
            WriteSerializable if only_files && self.name == "OPTIMIZE" => SnapshotIsolation,
            level => level,
        }
    }
}

/// The files that a transaction's predicate selected, with the deleted rows of each.
type Observed<'a> = BTreeMap<&'a str, &'a BTreeSet<u64>>;

impl History {
    fn winning_commits(&self, read: usize) -> impl Iterator<Item = (usize, &PlannedCommit)> {
        let versions = self.versions.iter().enumerate().skip(read + 1);
        versions.map(|(number, version)| (number, &version.planned))
    }

    /// Whether a writer that has read a version may get a conflict.
    pub(crate) fn may_lose(&self, planned: &PlannedCommit, read: usize) -> bool {
        self.winning_commits(read)
            .any(|(number, winning_commit)| planned.may_lose_to(winning_commit, self.state(number)))
    }

    /// Whether a writer that has read a version must get a conflict.
    pub(crate) fn must_lose(&self, planned: &PlannedCommit, read: usize) -> bool {
        self.winning_commits(read)
            .any(|(_, winning_commit)| planned.must_lose_to(winning_commit))
            || self.has_phantom(planned, read)
    }

    /// Whether the predicate of a commit would select something else if run directly before the commit.
    ///
    /// A level that orders blind appends later ignores their files. A commit that decides per row, such as a DELETE,
    /// may follow winning commits that deleted other rows of its files, but none that added rows.
    fn has_phantom(&self, planned: &PlannedCommit, read: usize) -> bool {
        let level = planned.level(self.state(read));
        let Some(selection) = planned.reads.as_ref().filter(|_| level != SnapshotIsolation) else {
            return false;
        };
        let unseen: BTreeSet<&str> = match level {
            WriteSerializable => {
                let blind = self
                    .winning_commits(read)
                    .filter(|(_, winning_commit)| winning_commit.is_blind());
                let files = blind.flat_map(|(_, winning_commit)| &winning_commit.adds);
                files.map(|(path, _)| path.as_str()).collect()
            }
            _ => BTreeSet::new(),
        };
        let observe = |version: usize| -> Observed<'_> {
            let files = self.state(version).files.iter();
            let selected =
                files.filter(|(path, file)| selection.has(file) && !unseen.contains(path.as_str()));
            selected
                .map(|(path, file)| (path.as_str(), &file.deleted))
                .collect()
        };
        let (before, now) = (observe(read), observe(self.newest()));
        if planned.deletes.is_empty() {
            before != now
        } else {
            now.keys().any(|path| !before.contains_key(path))
        }
    }
}
