//! Parses the statistics of many files, row by row.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::{Array, ArrayRef, StructArray, new_null_array};
use arrow_schema::{DataType as ArrowType, Field, FieldRef};

use super::columns::StatisticsColumns;
use super::leaf_builders::Columns;
use super::leaf_builders::Kind;
use super::one_pass::OnePass;
use super::schema::{Part, StatisticsSchema, Wanted};
use super::text;
use crate::Result;
use crate::schema::StructType;
use arrow_array::StringArray;

/// The statistics of a file as found in the log. The bytes are not validated.
#[derive(Clone, Copy, Debug)]
pub enum StatisticsText<'a> {
    /// The file has no statistics.
    Absent,
    /// JSON.
    Plain(&'a [u8]),
    /// JSON, still escaped: the content of the string in a commit line, without its quotes.
    Escaped(&'a [u8]),
}

/// Builds the columns of the statistics of many files, one row per file. Unusable values are NULL.
///
/// ```
/// use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};
/// let wanted = StatisticsSchema::num_records_only();
/// let mut builder = StatisticsBuilder::with_capacity(&wanted, 2);
/// builder.push(StatisticsText::Plain(br#"{"numRecords":3}"#));
/// builder.push(StatisticsText::Escaped(br#"{\"numRecords\":4}"#));
/// let columns = builder.finish()?;
/// assert_eq!(columns.num_records.len(), 2);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Debug)]
pub struct StatisticsBuilder<'s> {
    schema: &'s StatisticsSchema,
    columns: Columns,
    plain: OnePass<'s, false>,
    escaped: OnePass<'s, true>,
    tight_bounds: BooleanBuilder,
    rows: usize,
}

impl<'s> StatisticsBuilder<'s> {
    /// Creates a builder with capacity for this many rows.
    #[must_use]
    pub fn with_capacity(schema: &'s StatisticsSchema, rows: usize) -> Self {
        Self {
            schema,
            columns: Columns::new(schema, rows),
            plain: OnePass::new(schema),
            escaped: OnePass::new(schema),
            tight_bounds: BooleanBuilder::with_capacity(rows),
            rows: 0,
        }
    }

    /// Adds a file. Invalid text and invalid values are NULL.
    pub fn push(&mut self, text: StatisticsText<'_>) {
        let quick = match text {
            StatisticsText::Absent => return self.push_row(None),
            _ if !self.schema.has_unique_keys() => None,
            StatisticsText::Plain(bytes) => self.plain.read(bytes, &mut self.columns, self.rows),
            StatisticsText::Escaped(bytes) => self.escaped.read(bytes, &mut self.columns, self.rows),
        };
        let tight = quick.unwrap_or_else(|| {
            self.columns.take_back(self.rows);
            self.read_slowly(text)
        });
        self.push_row(Some(tight));
    }

    /// Adds a file with the general parser: the reference implementation of [`Self::push`].
    #[cfg(test)]
    pub(super) fn push_slowly(&mut self, text: StatisticsText<'_>) {
        let tight = match text {
            StatisticsText::Absent => None,
            text => Some(self.read_slowly(text)),
        };
        self.push_row(tight);
    }

    fn push_row(&mut self, tight: Option<bool>) {
        self.tight_bounds.append_option(tight);
        self.rows += 1;
    }

    /// The columns of all files, in the order in which they were added.
    pub fn finish(mut self) -> Result<StatisticsColumns> {
        let rows = self.rows;
        let mut arrays: Vec<Option<ArrayRef>> = Vec::with_capacity(self.columns.0.len());
        for column in self.columns.0 {
            arrays.push(column.map(|column| column.finish(rows)).transpose()?);
        }
        let mut columns = |kind: Kind| {
            assemble(&self.schema.fields, rows, &mut |leaf| {
                arrays.get_mut(Columns::place(kind, leaf)).and_then(Option::take)
            })
        };
        let (min, max, null_count) = (columns(Kind::Min), columns(Kind::Max), columns(Kind::NullCount));
        let num_records = arrays
            .get_mut(Columns::NUM_RECORDS)
            .and_then(Option::take)
            .unwrap_or_else(|| new_null_array(&ArrowType::Int64, rows));
        Ok(StatisticsColumns {
            num_records,
            tight_bounds: Arc::new(self.tight_bounds.finish()),
            min,
            max,
            null_count,
        })
    }

    /// Parses a text with the general parser; returns whether its bounds are tight.
    #[cold]
    fn read_slowly(&mut self, text: StatisticsText<'_>) -> bool {
        let unescaped = match text {
            StatisticsText::Absent => None,
            StatisticsText::Plain(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            StatisticsText::Escaped(bytes) => unescape(bytes).map(Cow::Owned),
        };
        // Invalid text does not change the default, tight bounds.
        let Some(text) = unescaped else { return true };
        text::read(&text, self.schema, &mut self.columns, self.rows)
    }
}

impl StatisticsColumns {
    /// Parses the statistics of each file; partition columns have none and must not be in `schema`.
    pub fn parse(stats: &StringArray, schema: &StructType) -> Result<Self> {
        let wanted = StatisticsSchema::all(schema, &|field| field.name.clone());
        let mut builder = StatisticsBuilder::with_capacity(&wanted, stats.len());
        for text in stats {
            builder.push(text.map_or(StatisticsText::Absent, |text| {
                StatisticsText::Plain(text.as_bytes())
            }));
        }
        builder.finish()
    }
}

/// The content of a JSON string, unescaped.
fn unescape(content: &[u8]) -> Option<String> {
    let quoted = [b"\"", content, b"\""].concat();
    serde_json::from_slice::<Cow<'_, str>>(&quoted)
        .ok()
        .map(Cow::into_owned)
}

/// Assembles the structs of one kind of statistics from the columns of their leaves. A leaf without a
/// column is omitted.
pub(super) fn assemble(
    fields: &[Wanted],
    rows: usize,
    column_of: &mut dyn FnMut(usize) -> Option<ArrayRef>,
) -> ArrayRef {
    let mut columns: Vec<(FieldRef, ArrayRef)> = Vec::new();
    for field in fields {
        let column = match &field.part {
            Part::Fields(below) => Some(assemble(below, rows, column_of)),
            Part::Leaf(leaf) => column_of(leaf.index),
        };
        if let Some(column) = column {
            let name = Field::new(&field.name, column.data_type().clone(), true);
            columns.push((Arc::new(name), column));
        }
    }
    if columns.is_empty() {
        return Arc::new(StructArray::new_empty_fields(rows, None));
    }
    Arc::new(StructArray::from(columns))
}
