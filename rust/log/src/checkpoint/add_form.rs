//! The columns that the adds of a checkpoint have besides the fields of the log: statistics and partition
//! values, as JSON and as structs.
//!
//! Protocol: *Checkpoints* (`delta.checkpoint.writeStatsAsJson`, `delta.checkpoint.writeStatsAsStruct`),
//! *Checkpoint Schema*: with column mapping, names are physical.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringViewArray, StructArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields};
use deltaic_protocol::Result;
use deltaic_protocol::column_mapping::{name_in_log, physical_schema};
use deltaic_protocol::partition::parse_texts;
use deltaic_protocol::properties::{IndexedColumns, boolean, indexed_columns};
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsColumns, StatisticsSchema, StatisticsText};

use super::columns::{add_schema, failed};
use crate::snapshot::Snapshot;

/// Approximate number of statistics values that are converted at once: a table with thousands of columns uses
/// fewer rows at a time.
const VALUES_TOGETHER: usize = 1 << 20;

/// Minimum and maximum number of rows that are converted at once.
const ROWS_TOGETHER: (usize, usize) = (64, 4096);

/// The columns of a table's adds in checkpoints.
#[derive(Debug)]
pub(super) struct AddColumns {
    has_text: bool,
    /// The schema of `stats_parsed`, if it is written.
    columns: Option<StatisticsSchema>,
    /// The schema of all possible statistics, for reading a checkpoint that has only `stats_parsed`.
    all: StatisticsSchema,
    /// The partition columns with physical names, if `partitionValues_parsed` is written.
    partitions: Vec<StructField>,
    fields: Fields,
}

impl AddColumns {
    /// Returns the columns that the table's properties require.
    ///
    /// Fails with `CorruptLog` if a property is neither true nor false.
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self> {
        let (metadata, mode) = (snapshot.metadata(), snapshot.column_mapping());
        let has_text = boolean(metadata, "delta.checkpoint.writeStatsAsJson")?;
        let has_columns = boolean(metadata, "delta.checkpoint.writeStatsAsStruct")?;
        let is_partition = |field: &&StructField| metadata.partition_columns.contains(&field.name);
        let with_data = StructType {
            fields: snapshot
                .schema()
                .fields
                .iter()
                .filter(|field| !is_partition(field))
                .cloned()
                .collect(),
        };
        let physical = physical_schema(&with_data, mode);
        let same = |field: &StructField| field.name.clone();
        let all = StatisticsSchema::all(&physical, &same);
        // With JSON, which is complete, the indexed columns suffice; without it, the struct must be complete.
        let indexed = indexed_columns(metadata).unwrap_or(IndexedColumns::All);
        let columns = match (has_columns, has_text) {
            (false, _) => None,
            (true, false) => Some(all.clone()),
            (true, true) => {
                let in_log = |leaf: &Vec<&StructField>| -> Vec<String> {
                    leaf.iter()
                        .map(|field| name_in_log(field, mode).to_owned())
                        .collect()
                };
                let paths: Vec<_> = indexed.leaves(&with_data).iter().map(in_log).collect();
                Some(StatisticsSchema::of_columns(&physical, &same, &paths))
            }
        };
        let in_log = |field: &StructField| StructField {
            name: name_in_log(field, mode).to_owned(),
            // Without its declared type, so that texts of char(n) are those in the log.
            metadata: Default::default(),
            ..field.clone()
        };
        let partitions = match has_columns {
            true => snapshot.partition_fields().into_iter().map(in_log).collect(),
            false => Vec::new(),
        };
        let mut form = Self {
            has_text,
            columns,
            all,
            partitions,
            fields: Fields::empty(),
        };
        let none = RecordBatch::new_empty(add_schema());
        form.fields = form.finish(&none, None)?.fields().clone();
        Ok(form)
    }

    /// The fields of an add.
    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Number of adds that are converted at once.
    pub(super) fn rows_together(&self) -> usize {
        rows_of_width(
            self.columns
                .as_ref()
                .map_or(1, |columns| columns.struct_leaves().len()),
        )
    }

    /// Converts adds of [`add_schema`] to the columns of the checkpoint. `parsed` is their existing
    /// `stats_parsed`, which is used for adds without JSON statistics.
    pub(super) fn finish(&self, adds: &RecordBatch, parsed: Option<&StructArray>) -> Result<StructArray> {
        let rows = adds.num_rows();
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        let mut push = |name: &str, column: ArrayRef| {
            fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
            columns.push(column);
        };
        let mut texts = StringViewArray::new_null(rows);
        for (field, column) in adds.schema_ref().fields().iter().zip(adds.columns()) {
            match field.name().as_str() {
                "stats" => texts = column.as_string_view_opt().cloned().unwrap_or(texts),
                // Always false in a checkpoint.
                "dataChange" => push(
                    "dataChange",
                    Arc::new(BooleanArray::new(BooleanBuffer::new_unset(rows), None)),
                ),
                name => push(name, Arc::clone(column)),
            }
        }
        if self.has_text {
            push("stats", Arc::new(self.texts(&texts, parsed)?));
        }
        if let Some(wanted) = &self.columns {
            push("stats_parsed", Arc::new(statistics_of(wanted, &texts, parsed)?));
        }
        if let Some(values) = self.partition_values(adds)? {
            push("partitionValues_parsed", Arc::new(values));
        }
        StructArray::try_new(Fields::from(fields), columns, None).map_err(failed)
    }

    /// Returns the JSON text of each add's statistics: its own, else converted from the struct.
    pub(super) fn texts(
        &self,
        texts: &StringViewArray,
        parsed: Option<&StructArray>,
    ) -> Result<StringViewArray> {
        let Some(parsed) = parsed.filter(|_| texts.null_count() > 0) else {
            return Ok(texts.clone());
        };
        let present: BooleanArray = (0..texts.len())
            .map(|row| Some(texts.is_null(row) && parsed.is_valid(row)))
            .collect();
        let spelled = StatisticsColumns::from_struct(parsed, &self.all)?.to_texts(&present);
        Ok(texts
            .iter()
            .zip(&spelled)
            .map(|(text, spelled)| text.or(spelled))
            .collect())
    }

    /// Returns `partitionValues_parsed`; `None` if it is not written.
    fn partition_values(&self, adds: &RecordBatch) -> Result<Option<StructArray>> {
        let Some(texts) = adds
            .column_by_name("partitionValues")
            .and_then(|column| column.as_map_opt())
        else {
            return Ok(None);
        };
        let mut columns: Vec<(FieldRef, ArrayRef)> = Vec::new();
        for field in &self.partitions {
            let column = parse_texts(field, texts)?;
            // A column of Arrow's null type has no type in Parquet.
            if *column.data_type() != ArrowType::Null {
                let name = Field::new(&field.name, column.data_type().clone(), true);
                columns.push((Arc::new(name), column));
            }
        }
        Ok((!columns.is_empty()).then(|| StructArray::from(columns)))
    }
}

/// Returns the number of rows with this number of columns that are converted at once.
fn rows_of_width(columns: usize) -> usize {
    let (least, most) = ROWS_TOGETHER;
    (VALUES_TOGETHER / columns.max(1)).clamp(least, most)
}

/// Returns `stats_parsed`: NULL for files without statistics.
fn statistics_of(
    wanted: &StatisticsSchema,
    texts: &StringViewArray,
    parsed: Option<&StructArray>,
) -> Result<StructArray> {
    let mut builder = StatisticsBuilder::with_capacity(wanted, texts.len());
    for text in texts {
        builder.push(text.map_or(StatisticsText::Absent, |text| {
            StatisticsText::Plain(text.as_bytes())
        }));
    }
    let mut statistics = builder.finish()?;
    let has_text: BooleanArray = (0..texts.len()).map(|row| Some(texts.is_valid(row))).collect();
    let mut present = has_text.values().clone();
    if let Some(parsed) = parsed.filter(|_| texts.null_count() > 0) {
        let columns = StatisticsColumns::from_struct(parsed, wanted)?;
        statistics = statistics.or_else(&has_text, &columns)?;
        present = (0..texts.len())
            .map(|row| texts.is_valid(row) || parsed.is_valid(row))
            .collect();
    }
    let parts = [
        ("numRecords", Some(statistics.num_records)),
        // The flag is preserved independently of the table's features.
        ("tightBounds", Some(statistics.tight_bounds)),
        ("minValues", without_empty(&statistics.min)?),
        ("maxValues", without_empty(&statistics.max)?),
        ("nullCount", without_empty(&statistics.null_count)?),
    ];
    let (mut fields, mut columns): (Vec<FieldRef>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (name, column) in parts {
        if let Some(column) = column {
            fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
            columns.push(column);
        }
    }
    StructArray::try_new(Fields::from(fields), columns, Some(NullBuffer::new(present))).map_err(failed)
}

/// Removes structs without fields, which Parquet does not support; `None` if nothing remains.
fn without_empty(column: &ArrayRef) -> Result<Option<ArrayRef>> {
    let Some(rows) = column.as_struct_opt() else {
        return Ok(Some(Arc::clone(column)));
    };
    let (mut fields, mut columns): (Vec<FieldRef>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (field, column) in rows.fields().iter().zip(rows.columns()) {
        if let Some(column) = without_empty(column)? {
            let kept = field.as_ref().clone().with_data_type(column.data_type().clone());
            fields.push(Arc::new(kept));
            columns.push(column);
        }
    }
    if fields.is_empty() {
        return Ok(None);
    }
    let kept = StructArray::try_new(Fields::from(fields), columns, rows.nulls().cloned()).map_err(failed)?;
    Ok(Some(Arc::new(kept)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory use does not grow with the width of the table, except for extremely wide tables.
    #[test]
    fn wide_tables_take_fewer_rows_at_once() {
        let widths = [
            (0, 4096),
            (1, 4096),
            (256, 4096),
            (1024, 1024),
            (10_000, 104),
            (100_000, 64),
        ];
        for (columns, rows) in widths {
            assert_eq!(rows_of_width(columns), rows, "{columns}");
        }
    }
}
