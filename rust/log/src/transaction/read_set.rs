//! What a transaction has read of the table: by it a winner's commit is judged.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, MapArray, StructArray};
use arrow_schema::Field;
use deltaic_protocol::Result;
use deltaic_protocol::actions::{Metadata, Protocol};
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::partition::{parse_texts, unreadable_texts};
use deltaic_protocol::schema::StructField;
use deltaic_protocol::skipping::{Files, files_that_may_match};

use super::proposal::key_of;
use crate::changes::PartitionValues;

/// What was read. Partition predicates are kept with the partition columns as they were at that time: a winner that
/// changes these changes nothing about what was read.
#[derive(Clone, Debug)]
pub struct ReadSet {
    /// The partition columns, each as the schema and as the log's partition values name it.
    columns: Vec<(StructField, StructField)>,
    /// The parts of predicates that look at partition columns alone; none of a read of every partition.
    predicates: Vec<Option<BoundPredicate>>,
    whole_table: bool,
    rests_on_files: bool,
    files: HashSet<String>,
    app_ids: BTreeSet<String>,
    domains: BTreeSet<String>,
}

impl ReadSet {
    /// Nothing yet of a table of this protocol and metadata.
    ///
    /// Errors: `CorruptLog` where the metadata contradict themselves.
    pub fn try_new(protocol: &Protocol, metadata: &Metadata) -> Result<Self> {
        let mode = ColumnMappingMode::of(protocol, metadata)?;
        let schema = metadata.schema()?;
        let named = |field: &StructField| StructField {
            name: name_in_log(field, mode).to_owned(),
            ..field.clone()
        };
        let columns = metadata.partition_columns.iter();
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

    /// The table was read as a whole: whatever comes or goes would have been seen.
    pub fn read_whole_table(&mut self) {
        self.whole_table = true;
        self.predicates.push(None);
    }

    /// The table was read as a whole, and what is done is right for these very files alone: something was proved of each of
    /// them, or all of them go. A file that comes makes it wrong, whatever the isolation level.
    pub fn rest_on_every_file(&mut self) {
        self.rests_on_files = true;
        self.read_whole_table();
    }

    /// Files were looked for by a predicate, all without one. What it says of partition columns alone narrows what was
    /// read; what it says of other columns does not.
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

    /// Files were found and looked at.
    pub fn read_files<'a>(&mut self, paths: impl IntoIterator<Item = &'a str>) {
        self.files.extend(paths.into_iter().map(key_of));
    }

    /// It was asked how far an application has come.
    pub fn read_app_id(&mut self, app_id: &str) {
        self.app_ids.insert(app_id.to_owned());
    }

    /// A domain's configuration was read.
    pub fn read_domain(&mut self, domain: &str) {
        self.domains.insert(domain.to_owned());
    }

    /// The files that were looked at, each path in its shortest spelling.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Whether any file, found or not, could have mattered.
    #[must_use]
    pub fn depends_on_files(&self) -> bool {
        self.whole_table || !self.predicates.is_empty() || !self.files.is_empty()
    }

    /// Whether the table was read as a whole.
    #[must_use]
    pub fn is_of_whole_table(&self) -> bool {
        self.whole_table
    }

    /// Whether what is done is right for the very files alone that were there.
    #[must_use]
    pub fn rests_on_every_file(&self) -> bool {
        self.rests_on_files
    }

    /// Whether the file at a path was looked at, whatever its vector.
    #[must_use]
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(&key_of(path))
    }

    /// Whether it was asked how far an application has come.
    #[must_use]
    pub fn has_app_id(&self, app_id: &str) -> bool {
        self.app_ids.contains(app_id)
    }

    /// Whether a domain's configuration was read.
    #[must_use]
    pub fn has_domain(&self, domain: &str) -> bool {
        self.domains.contains(domain)
    }

    /// Whether a file of these partition values would have been read. One whose values cannot be read would have been,
    /// and so would any file of a table without partitions.
    #[must_use]
    pub fn matches(&self, partition_values: &PartitionValues) -> bool {
        self.first_match(&[partition_values]).is_some()
    }

    /// The first of many files that would have been read.
    #[must_use]
    pub fn first_match(&self, files: &[&PartitionValues]) -> Option<usize> {
        if files.is_empty() {
            return None;
        }
        if self.columns.is_empty() || self.predicates.iter().any(Option::is_none) {
            return Some(0);
        }
        // What cannot be judged would have been read.
        self.judge(files).unwrap_or(Some(0))
    }

    fn judge(&self, files: &[&PartitionValues]) -> Result<Option<usize>> {
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

    /// The partition columns of the files, typed, and the files of which a value cannot be read.
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
        // Keys and values were pushed side by side, which is all that this could complain of.
        let _ = builder.append(true);
    }
    builder.finish()
}

#[cfg(test)]
mod tests;
