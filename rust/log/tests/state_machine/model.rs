//! The table as plain maps, version by version: what commits do to it, and which commits cannot both be.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_protocol::change::TableChange;

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
    /// What went: the path, and the rows that its vector had deleted.
    pub(crate) gone: BTreeSet<(String, BTreeSet<u64>)>,
    pub(crate) columns: Vec<String>,
    pub(crate) properties: BTreeMap<String, String>,
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
    /// A change of the table's form, and the columns and properties from then on.
    pub(crate) form: Option<(TableChange, Vec<String>, BTreeMap<String, String>)>,
    /// An application, and how far it comes.
    pub(crate) app: Option<(String, i64)>,
    /// A domain, and its configuration; none where it goes.
    pub(crate) domain: Option<(String, Option<String>)>,
    /// Whether all files were read.
    pub(crate) reads_all: bool,
    /// Whether rows come or go.
    pub(crate) changes_rows: bool,
}

/// A version: what its commit did, what the table is then, and the commit's own time.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) wish: Wish,
    pub(crate) state: State,
    pub(crate) time_ms: Option<i64>,
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
    /// The table after a commit that made a version. Panics where the commit cannot be: a file that it takes is not there,
    /// a row that it deletes is deleted, a name that it brings has been there.
    pub(crate) fn after(&self, wish: &Wish, version: usize, numbers_rows: bool) -> Self {
        let mut after = self.clone();
        for path in &wish.removes {
            let Some(file) = after.files.remove(path) else {
                panic!("the commit of version {version} removes {path}, which is not there");
            };
            after.gone.insert((path.clone(), file.deleted));
        }
        for (path, rows) in &wish.deletes {
            let Some(file) = after.files.get_mut(path) else {
                panic!("the commit of version {version} deletes rows of {path}, which is not there");
            };
            assert!(
                file.deleted.is_disjoint(rows),
                "version {version} deletes a row of {path} that is gone"
            );
            after.gone.insert((path.clone(), file.deleted.clone()));
            file.deleted.extend(rows);
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
        if let Some((_, columns, properties)) = &wish.form {
            after.columns.clone_from(columns);
            after.properties.clone_from(properties);
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

impl Wish {
    fn touches(&self) -> BTreeSet<&str> {
        let files = self.deletes.iter().map(|(path, _)| path);
        self.removes.iter().chain(files).map(String::as_str).collect()
    }

    fn brings_files(&self) -> bool {
        !self.adds.is_empty() || !self.deletes.is_empty()
    }

    /// Whether the commit looked at no file.
    pub(crate) fn is_blind(&self) -> bool {
        self.touches().is_empty() && !self.reads_all
    }

    fn app_id(&self) -> Option<&str> {
        self.app.as_ref().map(|(id, _)| id.as_str())
    }

    fn domain_name(&self) -> Option<&str> {
        self.domain.as_ref().map(|(name, _)| name.as_str())
    }

    /// Whether a winner has done something that no commit like this one may follow.
    fn must_lose_to(&self, winner: &Self) -> bool {
        let both_change = |ours: bool, theirs: bool| ours && theirs;
        both_change(self.form.is_some(), winner.form.is_some())
            || (self.app_id().is_some() && self.app_id() == winner.app_id())
            || (self.domain_name().is_some() && self.domain_name() == winner.domain_name())
            || self
                .removes
                .iter()
                .any(|path| winner.touches().contains(path.as_str()))
            || (self.reads_all && !winner.touches().is_empty())
    }

    /// Whether a winner has done anything that could be a conflict for a careful writer.
    fn may_lose_to(&self, winner: &Self) -> bool {
        self.must_lose_to(winner)
            || winner.form.is_some()
            || !self.touches().is_disjoint(&winner.touches())
            || (!self.is_blind() && winner.brings_files())
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

    fn winners(&self, read: usize) -> impl Iterator<Item = &Wish> {
        self.versions[read + 1..].iter().map(|version| &version.wish)
    }

    /// Whether someone who has read a version may be told that there is a conflict.
    pub(crate) fn may_lose(&self, wish: &Wish, read: usize) -> bool {
        self.winners(read).any(|winner| wish.may_lose_to(winner))
    }

    /// Whether someone who has read a version must not be let through.
    pub(crate) fn must_lose(&self, wish: &Wish, read: usize) -> bool {
        self.winners(read).any(|winner| wish.must_lose_to(winner))
    }

    /// Whether the newest version says that an application has come so far.
    pub(crate) fn is_done(&self, wish: &Wish) -> bool {
        let reached = |(id, version): &(String, i64)| self.last().apps.get(id) >= Some(version);
        wish.app.as_ref().is_some_and(reached)
    }

    /// Takes in a commit that made the next version.
    pub(crate) fn commit(&mut self, wish: Wish, time_ms: Option<i64>) {
        let version = self.versions.len();
        let state = self.last().after(&wish, version, self.numbers_rows);
        let last_ms = self.versions[version - 1].time_ms;
        assert!(
            time_ms.is_none() || time_ms > last_ms,
            "time stands still: {last_ms:?}, {time_ms:?}"
        );
        assert!(state.mark >= self.last().mark, "the mark of row ids falls");
        self.versions.push(Version { wish, state, time_ms });
    }
}
