//! The read set of a transaction, against which conflict detection checks winning commits.

mod added_files;
mod columns;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::{Result, TableConfiguration};

use self::added_files::AddedFiles;
use self::columns::Columns;
use super::WinningFile;
use super::proposal::key_of;

/// The parts of a table that a transaction read. Predicates refer to the columns of the read version, even if a winning
/// commit changes these columns.
#[derive(Clone, Debug)]
pub struct ReadSet {
    columns: Arc<Columns>,
    /// For each read, the rows that were read; `None` for all rows.
    predicates: Vec<Option<BoundPredicate>>,
    whole_table: bool,
    rests_on_files: bool,
    rests_on_version: bool,
    files: HashSet<String>,
    /// Of some of these files, the rows that the transaction depends on without changing them.
    rows: HashMap<String, Arc<Bitmap>>,
    app_ids: BTreeSet<String>,
    domains: BTreeSet<String>,
}

impl ReadSet {
    /// Creates an empty read set of a table with this protocol and metadata.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the metadata is inconsistent.
    pub fn try_new(table: &TableConfiguration) -> Result<Self> {
        Ok(Self {
            columns: Arc::new(Columns::try_new(table)?),
            predicates: Vec::new(),
            whole_table: false,
            rests_on_files: false,
            rests_on_version: false,
            files: HashSet::new(),
            rows: HashMap::new(),
            app_ids: BTreeSet::new(),
            domains: BTreeSet::new(),
        })
    }

    /// Records a read of the whole table, which depends on every added or removed file.
    pub fn read_whole_table(&mut self) {
        self.whole_table = true;
        self.predicates.push(None);
    }

    /// Records a read of the whole table by a transaction that is only valid for exactly these files: it verified a
    /// condition on each of them, or removes all of them. An added file conflicts at every isolation level.
    pub fn require_exact_files(&mut self) {
        self.rests_on_files = true;
        self.read_whole_table();
    }

    /// Records a read of the whole version by a transaction that replaces its state: any other commit conflicts, even one
    /// that changes no file.
    pub fn require_version(&mut self) {
        self.rests_on_version = true;
        self.require_exact_files();
    }

    /// Records a read of the rows that match a predicate, or of all rows without one. A file that another commit adds
    /// conflicts unless its partition values and statistics show that it has no such row.
    pub fn read_where(&mut self, predicate: Option<&BoundPredicate>) {
        self.predicates.push(predicate.cloned());
    }

    /// Records files that were read.
    pub fn read_files<'a>(&mut self, paths: impl IntoIterator<Item = &'a str>) {
        self.files.extend(paths.into_iter().map(key_of));
    }

    /// Records a file and the positions of rows in it that the transaction depends on without changing them. Another
    /// commit that deletes one of these rows by a deletion vector conflicts.
    pub fn read_rows(&mut self, path: &str, rows: &Bitmap) {
        self.read_files([path]);
        let of_file = self.rows.entry(key_of(path)).or_default();
        *of_file = Arc::new(of_file.union(rows));
    }

    /// Records a read of the latest transaction version of an application.
    pub fn read_app_id(&mut self, app_id: &str) {
        self.app_ids.insert(app_id.to_owned());
    }

    /// Records a read of the configuration of a domain.
    pub fn read_domain(&mut self, domain: &str) {
        self.domains.insert(domain.to_owned());
    }

    /// The normalized paths of the files that were read.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Whether the transaction depends on any file, including files that a predicate may match later.
    #[must_use]
    pub fn depends_on_files(&self) -> bool {
        self.whole_table || !self.predicates.is_empty() || !self.files.is_empty()
    }

    /// Whether the whole table was read.
    #[must_use]
    pub fn is_of_whole_table(&self) -> bool {
        self.whole_table
    }

    /// Whether the transaction is only valid for exactly the files of the read version.
    #[must_use]
    pub fn requires_exact_files(&self) -> bool {
        self.rests_on_files
    }

    /// Whether the transaction is only valid directly after the version that was read.
    #[must_use]
    pub fn requires_version(&self) -> bool {
        self.rests_on_version
    }

    /// Whether the file at a path was read, with any deletion vector.
    #[must_use]
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(&key_of(path))
    }

    /// The rows of a file that the transaction depends on without changing them, if there are any.
    pub(super) fn rows_of(&self, path: &str) -> Option<Arc<Bitmap>> {
        self.rows.get(&key_of(path)).cloned()
    }

    /// Whether the latest transaction version of an application was read.
    #[must_use]
    pub fn has_app_id(&self, app_id: &str) -> bool {
        self.app_ids.contains(app_id)
    }

    /// Whether the configuration of a domain was read.
    #[must_use]
    pub fn has_domain(&self, domain: &str) -> bool {
        self.domains.contains(domain)
    }

    /// Whether a file that another commit added would have been read: its partition values and statistics do not rule
    /// out that it has a row of a predicate.
    #[must_use]
    pub fn matches(&self, file: &WinningFile) -> bool {
        self.first_match(&[file]).is_some()
    }

    /// Returns the index of the first file that would have been read.
    #[must_use]
    pub fn first_match(&self, files: &[&WinningFile]) -> Option<usize> {
        if files.is_empty() {
            return None;
        }
        if self.predicates.iter().any(Option::is_none) {
            return Some(0);
        }
        // If the predicates cannot be evaluated, assume that the first file would have been read.
        self.first_read(files).unwrap_or(Some(0))
    }

    fn first_read(&self, files: &[&WinningFile]) -> Result<Option<usize>> {
        let files = AddedFiles::try_new(&self.columns, files)?;
        let mut first: Option<usize> = None;
        for predicate in self.predicates.iter().flatten() {
            let found = files.first_that_may_match(predicate)?;
            first = match (first, found) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests;
