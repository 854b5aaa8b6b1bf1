//! The read set of a transaction, against which conflict detection checks winning commits.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, MapArray, StructArray};
use arrow_schema::Field;
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::partition::{parse_texts, unreadable_texts};
use deltaic_protocol::schema::StructField;
use deltaic_protocol::skipping::{Files, files_that_may_match};
use deltaic_protocol::{Result, TableConfiguration};

use super::proposal::key_of;
use crate::changes::PartitionValues;

/// The parts of a table that a transaction read. Partition predicates refer to the partition columns of the read
/// version, even if a winning commit changes these columns.
#[derive(Clone, Debug)]
pub struct ReadSet {
    /// The partition columns, each with its logical name and with its name in `partitionValues`.
    columns: Vec<(StructField, StructField)>,
    /// For each read, the conjuncts on partition columns only; `None` for a read of all partitions.
    predicates: Vec<Option<BoundPredicate>>,
    whole_table: bool,
    rests_on_files: bool,
    files: HashSet<String>,
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
        let mode = table.column_mapping()?;
        let schema = table.schema()?;
        let named = |field: &StructField| StructField {
            name: name_in_log(field, mode).to_owned(),
            ..field.clone()
        };
        let columns = table.metadata().partition_columns.iter();
        Ok(Self {
            columns: columns
                .filter_map(|column| schema.field(column))
                .map(|field| (field.clone(), named(field)))
                .collect(),
            predicates: Vec::new(),
            whole_table: false,
            rests_on_files: false,
            files: HashSet::new(),
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

    /// Records a read of the files that match a predicate, or of all files without one. Only conjuncts on partition
    /// columns narrow the read.
    pub fn read_where(&mut self, predicate: Option<&BoundPredicate>) {
        let conjuncts = predicate.map(BoundPredicate::conjuncts).unwrap_or_default();
        let is_partition = |name: &str| self.columns.iter().any(|(field, _)| field.name == name);
        let of_partitions = conjuncts.into_iter().filter(|conjunct| {
            let columns = conjunct.columns();
            !columns.is_empty() && columns.into_iter().all(is_partition)
        });
        self.predicates
            .push(BoundPredicate::all_of(of_partitions.cloned().collect()));
    }

    /// Records files that were read.
    pub fn read_files<'a>(&mut self, paths: impl IntoIterator<Item = &'a str>) {
        self.files.extend(paths.into_iter().map(key_of));
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

    /// Whether the file at a path was read, with any deletion vector.
    #[must_use]
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(&key_of(path))
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

    /// Whether a file with these partition values would have been read. Unreadable values match every predicate; in a
    /// table without partitions, every file matches.
    #[must_use]
    pub fn matches(&self, partition_values: &PartitionValues) -> bool {
        self.first_match(&[partition_values]).is_some()
    }

    /// Returns the index of the first file that would have been read.
    #[must_use]
    pub fn first_match(&self, files: &[&PartitionValues]) -> Option<usize> {
        if files.is_empty() {
            return None;
        }
        if self.columns.is_empty() || self.predicates.iter().any(Option::is_none) {
            return Some(0);
        }
        // If the predicates cannot be evaluated, assume that the first file would have been read.
        self.first_read(files).unwrap_or(Some(0))
    }

    fn first_read(&self, files: &[&PartitionValues]) -> Result<Option<usize>> {
        let (values, unreadable) = self.typed(files)?;
        let known = Files::new(files.len()).with_partition_values(&values, &unreadable)?;
        let mut first: Option<usize> = None;
        for predicate in self.predicates.iter().flatten() {
            let found = match files_that_may_match(predicate, &known)? {
                None => Some(0),
                Some(kept) => kept.iter().position(|kept| kept != Some(false)),
            };
            first = match (first, found) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        Ok(first)
    }

    /// Returns the typed partition columns of the files, and a mask of the files with unreadable values.
    fn typed(&self, files: &[&PartitionValues]) -> Result<(StructArray, BooleanArray)> {
        let texts = texts_of(files);
        let mut unreadable = vec![false; files.len()];
        let mut columns: Vec<(Arc<Field>, ArrayRef)> = Vec::with_capacity(self.columns.len());
        for (field, in_log) in &self.columns {
            let values = parse_texts(in_log, &texts)?;
            for (found, wrong) in unreadable.iter_mut().zip(unreadable_texts(in_log, &texts).iter()) {
                *found |= wrong != Some(false);
            }
            let name = Field::new(&field.name, values.data_type().clone(), true);
            columns.push((Arc::new(name), values));
        }
        Ok((StructArray::from(columns), BooleanArray::from(unreadable)))
    }
}

fn texts_of(files: &[&PartitionValues]) -> MapArray {
    let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for values in files {
        for (name, value) in *values as &BTreeMap<String, Option<String>> {
            builder.keys().append_value(name);
            builder.values().append_option(value.as_deref());
        }
        // This fails only if the numbers of keys and values differ.
        let _ = builder.append(true);
    }
    builder.finish()
}

#[cfg(test)]
mod tests;
