//! The statistics of many files, gathered row by row out of their texts.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::{Array, ArrayRef, StructArray, new_null_array};
use arrow_schema::{DataType as ArrowType, Field, FieldRef};

use super::StatisticsColumns;
use super::column_builder::{ColumnBuilder, Side};
use super::schema::{Part, StatisticsSchema, Wanted};
use super::text;
use crate::Result;
use crate::schema::PrimitiveType;

/// The text of one file's statistics, as it stands in the log. Nothing is known about the bytes yet.
#[derive(Clone, Copy, Debug)]
pub enum StatisticsText<'a> {
    /// The file has none.
    Absent,
    /// JSON.
    Plain(&'a [u8]),
    /// JSON, still escaped: what stands between the outer quotes of the string in a commit's line.
    Escaped(&'a [u8]),
}

/// Gathers the statistics of many files, a row each. What cannot be used is NULL.
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
    tight_bounds: BooleanBuilder,
    rows: usize,
}

/// The columns by place: the number of rows, then minimum, maximum and NULL count of each leaf. None where a leaf
/// has no bounds.
#[derive(Debug)]
pub(super) struct Columns(pub(super) Vec<Option<ColumnBuilder>>);

impl Columns {
    pub(super) const NUM_RECORDS: usize = 0;

    fn new(schema: &StatisticsSchema, rows: usize) -> Self {
        let count = || ColumnBuilder::new(PrimitiveType::Long, rows);
        let mut columns = Vec::with_capacity(1 + 3 * schema.leaf_count());
        columns.push(count());
        schema.for_each_leaf(&mut |leaf| {
            for side in [Side::Low, Side::High] {
                let mut column = leaf.bounds.and_then(|bounds| ColumnBuilder::new(bounds, rows));
                if let Some(column) = column.as_mut().filter(|_| leaf.was_float) {
                    column.once_float = Some(side);
                }
                columns.push(column);
            }
            columns.push(count());
        });
        Self(columns)
    }

    /// The place of one kind of statistics of a leaf.
    pub(super) fn place(kind: text::Kind, leaf: usize) -> usize {
        1 + 3 * leaf
            + match kind {
                text::Kind::Min => 0,
                text::Kind::Max => 1,
                text::Kind::NullCount => 2,
            }
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut ColumnBuilder> {
        self.0.get_mut(place)?.as_mut()
    }
}

impl<'s> StatisticsBuilder<'s> {
    /// A builder for about so many rows.
    #[must_use]
    pub fn with_capacity(schema: &'s StatisticsSchema, rows: usize) -> Self {
        Self {
            schema,
            columns: Columns::new(schema, rows),
            tight_bounds: BooleanBuilder::with_capacity(rows),
            rows: 0,
        }
    }

    /// Adds a file. Text that is no statistics, and a value that cannot be one, are NULL.
    pub fn push(&mut self, text: StatisticsText<'_>) {
        let tight = match text {
            StatisticsText::Absent => None,
            StatisticsText::Plain(bytes) => Some(self.read_slowly(std::str::from_utf8(bytes).ok())),
            StatisticsText::Escaped(bytes) => Some(self.read_slowly(unescaped(bytes).as_deref())),
        };
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
        let mut columns = |kind: text::Kind| {
            assemble(&self.schema.fields, rows, &mut |leaf| {
                arrays.get_mut(Columns::place(kind, leaf)).and_then(Option::take)
            })
        };
        let (min, max, null_count) = (
            columns(text::Kind::Min),
            columns(text::Kind::Max),
            columns(text::Kind::NullCount),
        );
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

    /// Reads a text by the general way; gives whether its bounds are tight.
    fn read_slowly(&mut self, text: Option<&str>) -> bool {
        let Some(text) = text else { return true };
        text::read(text, self.schema, &mut self.columns, self.rows)
    }
}

/// The content of a JSON string, without its escapes.
fn unescaped(content: &[u8]) -> Option<String> {
    let quoted = [b"\"", content, b"\""].concat();
    serde_json::from_slice::<Cow<'_, str>>(&quoted)
        .ok()
        .map(Cow::into_owned)
}

/// The structs of one kind of statistics, out of the columns of their leaves. A leaf without a column is left out.
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
