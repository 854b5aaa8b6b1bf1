//! What happens to rows of the table, in a temporary file: read bucket by bucket, with the rows of the source that the new
//! versions need.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, Result};

use super::buckets::Buckets;
use super::keys::add_to_parts;
use crate::operations::merge::bound_merge::{BoundAction, BoundMerge};
use crate::operations::merge::matches::{MatchedRows, Positions, bitmaps};
use crate::operations::merge::shares::Shares;
use crate::operations::merge::sides::failed;
use crate::operations::merge::source::SourceRows;
use crate::rows::decisions::Decision;
use crate::write::RowsFile;

/// The columns before those of the source: the file, the position in it, and the clause.
const OWN_COLUMNS: usize = 3;

/// What happens to rows of the table.
pub(in crate::operations::merge) struct SpilledDecisions<'a> {
    merge: &'a BoundMerge,
    buckets: Buckets,
    /// Two parts for each bucket: updates with their rows of the source, and the other decisions.
    rows: RowsFile,
    /// The columns of the source that new versions of rows need, and their places.
    columns: Vec<usize>,
    schema: StructType,
    fields: Fields,
    schemas: [SchemaRef; 2],
    /// The rows of each file that change.
    changed: Vec<Positions>,
    /// The rows of each file that match but do not change.
    unchanged: Vec<Positions>,
    /// The number of rows of each clause.
    counts: Vec<usize>,
}

/// What happens to a row of a batch: its number, the clause, and the row of the source if one matches.
pub(in crate::operations::merge) type Decided = (u32, usize, Option<u32>);

impl<'a> SpilledDecisions<'a> {
    pub(in crate::operations::merge) fn new(
        merge: &'a BoundMerge,
        source: &SourceRows,
        buckets: Buckets,
        shares: Shares,
    ) -> Result<Self> {
        let mut columns = source.columns_of(&merge.columns_of_updates());
        if columns.is_empty() && !source.schema.fields.is_empty() {
            columns.push(0); // A batch without columns has no rows.
        }
        let fields = columns
            .iter()
            .filter_map(|index| source.schema.fields.get(*index));
        let schema = StructType {
            fields: fields.cloned().collect(),
        };
        let fields = schema.to_arrow()?.fields().clone();
        let own = vec![
            Arc::new(Field::new("file", DataType::UInt32, false)),
            Arc::new(Field::new("position", DataType::UInt64, false)),
            Arc::new(Field::new("clause", DataType::UInt32, false)),
        ];
        let with_source: Fields = own.iter().chain(&fields).cloned().collect();
        Ok(Self {
            merge,
            rows: RowsFile::new(buckets.len() * 2, shares.buffer),
            columns,
            schema,
            fields,
            schemas: [Arc::new(Schema::new(with_source)), Arc::new(Schema::new(own))],
            changed: vec![Positions::default(); buckets.paths().len()],
            unchanged: vec![Positions::default(); buckets.paths().len()],
            counts: vec![0; merge.matched.len() + merge.not_matched_by_source.len()],
            buckets,
        })
    }

    pub(in crate::operations::merge) fn buckets(&self) -> &Buckets {
        &self.buckets
    }

    pub(in crate::operations::merge) fn merge(&self) -> &'a BoundMerge {
        self.merge
    }

    /// Adds what happens to rows of a batch, whose files and positions are given.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be written.
    pub(in crate::operations::merge) fn add(
        &mut self,
        decided: &[Decided],
        (files, positions): (&[u32], &[u64]),
        source: &SourceRows,
    ) -> Result<()> {
        let mut of_kind: [Vec<Decided>; 2] = Default::default();
        for decision in decided {
            let (row, clause, source) = *decision;
            if let Some(count) = self.counts.get_mut(clause) {
                *count += 1;
            }
            let row = row as usize;
            if let (Some(file), Some(position)) = (files.get(row), positions.get(row))
                && let Some(changed) = self.changed.get_mut(*file as usize)
            {
                changed.insert(*position);
            }
            let is_update = matches!(self.merge.action(clause), Some(BoundAction::Update(_)));
            let [updates, others] = &mut of_kind;
            match is_update && source.is_some() {
                true => updates.push(*decision),
                false => others.push(*decision),
            }
        }
        let [updates, others] = &of_kind;
        for updates in source.divided(updates, &self.columns, |(_, _, row)| row.unwrap_or(0)) {
            self.add_of_kind((0, updates), (files, positions), source)?;
        }
        match others.is_empty() {
            true => Ok(()),
            false => self.add_of_kind((1, others), (files, positions), source),
        }
    }

    /// Adds updates, or other decisions.
    fn add_of_kind(
        &mut self,
        (kind, decided): (usize, &[Decided]),
        (files, positions): (&[u32], &[u64]),
        source: &SourceRows,
    ) -> Result<()> {
        let missing = || Error::internal("a decided row is missing");
        let (mut own, mut parts) = ((Vec::new(), Vec::new(), Vec::new()), Vec::new());
        for (row, clause, _) in decided {
            let file = *files.get(*row as usize).ok_or_else(missing)?;
            let position = *positions.get(*row as usize).ok_or_else(missing)?;
            own.0.push(file);
            own.1.push(position);
            own.2.push(u32::try_from(*clause).unwrap_or(u32::MAX));
            parts.push(Some(self.buckets.of(file, position) * 2 + kind));
        }
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(own.0)),
            Arc::new(UInt64Array::from(own.1)),
            Arc::new(UInt32Array::from(own.2)),
        ];
        if kind == 0 {
            let sources: Vec<u32> = decided.iter().filter_map(|(_, _, source)| *source).collect();
            let taken = source.take(&sources, &self.columns)?;
            columns.extend_from_slice(taken.as_struct().columns());
        }
        let schema = self.schemas.get(kind).ok_or_else(missing)?;
        let rows = RecordBatch::try_new(Arc::clone(schema), columns).map_err(|error| failed(&error))?;
        add_to_parts(&rows, &parts, &mut self.rows)
    }

    /// Ends adding.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be written.
    pub(in crate::operations::merge) fn write(&mut self) -> Result<()> {
        self.rows.write()
    }

    /// The number of rows of each clause.
    pub(in crate::operations::merge) fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Adds a row of a file that matches but does not change.
    pub(in crate::operations::merge) fn add_unchanged(&mut self, file: u32, position: u64) {
        if let Some(unchanged) = self.unchanged.get_mut(file as usize) {
            unchanged.insert(position);
        }
    }

    /// Takes the rows of each file that match: those that change, and the others.
    ///
    /// # Errors
    ///
    /// `ValueError` for a position that deletion vectors cannot have.
    pub(in crate::operations::merge) fn take_matched(&mut self) -> Result<MatchedRows> {
        let paths = self.buckets.paths().iter();
        let (changed, unchanged) = (
            std::mem::take(&mut self.changed),
            std::mem::take(&mut self.unchanged),
        );
        Ok(MatchedRows {
            changed: bitmaps(paths.clone().cloned().zip(changed))?,
            unchanged: bitmaps(paths.cloned().zip(unchanged))?,
        })
    }

    /// What happens to the rows of a bucket, and the rows of the source for that.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be read.
    pub(in crate::operations::merge) fn read(
        &self,
        bucket: usize,
    ) -> Result<(SourceRows, BTreeMap<String, Vec<Decision>>)> {
        let mut batches = Vec::new();
        let mut by_file: BTreeMap<u32, Vec<Decision>> = BTreeMap::new();
        let mut next = 0;
        for kind in [0, 1] {
            for block in self.rows.blocks(bucket * 2 + kind) {
                for rows in self.rows.read(block)? {
                    let (Some(files), Some(positions), Some(clauses)) = (
                        rows.columns()
                            .first()
                            .and_then(|column| column.as_primitive_opt::<UInt32Type>()),
                        rows.columns()
                            .get(1)
                            .and_then(|column| column.as_primitive_opt::<UInt64Type>()),
                        rows.columns()
                            .get(2)
                            .and_then(|column| column.as_primitive_opt::<UInt32Type>()),
                    ) else {
                        return Err(Error::internal("a decision has no place"));
                    };
                    let places = files
                        .values()
                        .iter()
                        .zip(positions.values())
                        .zip(clauses.values());
                    for ((file, position), clause) in places {
                        let clause = *clause as usize;
                        let is_matched = clause < self.merge.matched.len();
                        by_file.entry(*file).or_default().push(Decision {
                            position: *position,
                            clause,
                            source: is_matched.then_some(next),
                        });
                        // A row that is deleted needs no row of the source.
                        next += u32::from(kind == 0);
                    }
                    if kind == 0 {
                        let of_source = rows.columns().iter().skip(OWN_COLUMNS).cloned().collect();
                        let schema = Arc::new(Schema::new(self.fields.clone()));
                        let of_source = RecordBatch::try_new(schema, of_source);
                        batches.push(of_source.map_err(|error| failed(&error))?);
                    }
                }
            }
        }
        let mut decisions = BTreeMap::new();
        for (file, mut of_file) in by_file {
            of_file.sort_unstable_by_key(|decision| decision.position);
            decisions.insert(self.buckets.path_of(file).to_owned(), of_file);
        }
        Ok((
            SourceRows::of_batches(self.schema.clone(), self.fields.clone(), batches)?,
            decisions,
        ))
    }
}
