//! Collects a data file's statistics while its rows are written.
//!
//! Protocol: *Per-file Statistics*. Strings are truncated to a prefix, timestamps to milliseconds (a maximum is rounded
//! up, so that it is a bound for every reader). A bound that JSON or a reader cannot represent exactly is omitted.

use std::fmt::Write;
use std::iter::Peekable;
use std::ptr;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::expr::Scalar;
use deltaic_protocol::properties::IndexedColumns;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::statistics::{Cut, day_text, lower_bound, time_text, upper_bound};

/// Statistics of one file.
#[derive(Debug)]
pub(crate) struct FileStatistics {
    num_records: u64,
    /// The number of rows that the file has and its deletion vector deletes; `None` without one.
    deleted: Option<u64>,
    columns: Vec<Node>,
    /// The number of characters of a string that are kept.
    prefix: usize,
}

#[derive(Debug)]
enum Node {
    Struct {
        name: String,
        index: usize,
        children: Vec<Node>,
    },
    Leaf {
        name: String,
        index: usize,
        leaf: Leaf,
    },
}

#[derive(Debug, Default)]
struct Leaf {
    data_type: Option<PrimitiveType>,
    null_count: u64,
    /// Whether the number of NULLs is unknown.
    has_unknown_nulls: bool,
    bounds: Option<(Scalar, Scalar)>,
    /// A value above every bound occurred: NaN.
    above_all: bool,
}

impl FileStatistics {
    /// Starts statistics of the indexed columns of a data file; strings are truncated to `prefix` characters.
    pub(crate) fn new(
        data_schema: &StructType,
        indexed: &IndexedColumns,
        prefix: usize,
        mode: ColumnMappingMode,
    ) -> Self {
        let mut indexed = indexed.leaves(data_schema).into_iter().peekable();
        Self {
            num_records: 0,
            deleted: None,
            columns: nodes(data_schema, &mut indexed, mode),
            prefix,
        }
    }

    /// Adds the rows of a batch.
    pub(crate) fn update(&mut self, batch: &RecordBatch) {
        self.num_records += batch.num_rows() as u64;
        for node in &mut self.columns {
            node.update(batch.columns(), None, self.prefix);
        }
    }

    /// Returns the statistics of a file with this number of rows, from rows that contain its bounds, and the number of
    /// NULLs of each leaf by its path; `None` if it is unknown.
    pub(in crate::write) fn of_bounds(
        mut self,
        num_records: u64,
        bounds: &RecordBatch,
        nulls_of: &dyn Fn(&[&str]) -> Option<u64>,
    ) -> Self {
        self.update(bounds);
        self.num_records = num_records;
        for node in &mut self.columns {
            node.set_nulls(&mut Vec::new(), nulls_of);
        }
        self
    }

    pub(in crate::write) fn num_records(&self) -> u64 {
        self.num_records
    }

    /// States that the deletion vector of the file deletes this many rows, which were not added: `numRecords` counts
    /// them, and the bounds are tight nevertheless.
    pub(crate) fn with_deleted(&mut self, rows: u64) {
        self.deleted = Some(rows);
    }

    /// Returns the statistics as JSON for the log.
    pub(crate) fn to_json(&self) -> String {
        let records = self.num_records.saturating_add(self.deleted.unwrap_or_default());
        let mut text = format!("{{\"numRecords\":{records}");
        if self.deleted.is_some() {
            text.push_str(",\"tightBounds\":true");
        }
        for (key, value) in [
            ("minValues", Leaf::min_json as ToJson),
            ("maxValues", Leaf::max_json),
            ("nullCount", |leaf, _| {
                (!leaf.has_unknown_nulls).then(|| leaf.null_count.to_string())
            }),
        ] {
            let inner = fields_json(&self.columns, value, self.prefix).unwrap_or_else(|| "{}".to_owned());
            // Writing to a String cannot fail.
            let _ = write!(text, ",\"{key}\":{inner}");
        }
        text.push('}');
        text
    }
}

/// Returns the nodes of the next leaves, which are in schema order.
fn nodes<'a>(
    schema: &'a StructType,
    indexed: &mut Peekable<impl Iterator<Item = Vec<&'a StructField>>>,
    mode: ColumnMappingMode,
) -> Vec<Node> {
    let mut found = Vec::new();
    for (index, field) in schema.fields.iter().enumerate() {
        let name = || name_in_log(field, mode).to_owned();
        if let DataType::Struct(inner) = &field.data_type {
            let children = nodes(inner, indexed, mode);
            if !children.is_empty() {
                found.push(Node::Struct {
                    name: name(),
                    index,
                    children,
                });
            }
        } else if indexed
            .next_if(|path| path.last().is_some_and(|leaf| ptr::eq(*leaf, field)))
            .is_some()
        {
            let leaf = Leaf {
                data_type: field.data_type.as_primitive(),
                ..Leaf::default()
            };
            found.push(Node::Leaf {
                name: name(),
                index,
                leaf,
            });
        }
    }
    found
}

/// Returns a statistic of a leaf as JSON; strings are truncated to this many characters.
type ToJson = fn(&Leaf, usize) -> Option<String>;

fn fields_json(nodes: &[Node], value: ToJson, prefix: usize) -> Option<String> {
    let fields: Vec<String> = nodes
        .iter()
        .filter_map(|node| {
            let (name, inner) = match node {
                Node::Struct { name, children, .. } => (name, fields_json(children, value, prefix)?),
                Node::Leaf { name, leaf, .. } => (name, value(leaf, prefix)?),
            };
            Some(format!("{}:{inner}", quoted(name)))
        })
        .collect();
    (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Node {
    fn set_nulls<'a>(&'a mut self, above: &mut Vec<&'a str>, nulls_of: &dyn Fn(&[&str]) -> Option<u64>) {
        match self {
            Self::Struct { name, children, .. } => {
                above.push(name);
                for child in children {
                    child.set_nulls(above, nulls_of);
                }
            }
            Self::Leaf { name, leaf, .. } => {
                above.push(name);
                let count = nulls_of(above);
                leaf.null_count = count.unwrap_or_default();
                leaf.has_unknown_nulls = count.is_none();
            }
        }
        above.pop();
    }

    fn update(&mut self, columns: &[ArrayRef], parent: Option<&NullBuffer>, prefix: usize) {
        match self {
            Self::Struct { index, children, .. } => {
                if let Some(rows) = columns.get(*index).and_then(|column| column.as_struct_opt()) {
                    let rows: &StructArray = rows;
                    let nulls = NullBuffer::union(parent, rows.nulls());
                    for child in children {
                        child.update(rows.columns(), nulls.as_ref(), prefix);
                    }
                }
            }
            Self::Leaf { index, leaf, .. } => {
                if let Some(column) = columns.get(*index) {
                    leaf.update(
                        column,
                        NullBuffer::union(parent, column.logical_nulls().as_ref()).as_ref(),
                        prefix,
                    );
                }
            }
        }
    }
}

/// Returns the minimum and maximum of the values that are not NULL.
fn range_of<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    nulls: Option<&NullBuffer>,
) -> Option<(T::Native, T::Native)>
where
    T::Native: PartialOrd,
{
    let values = array.as_primitive::<T>().values();
    if nulls.is_none_or(|nulls| nulls.null_count() == 0) {
        // Without branches, so that it is vectorized.
        let first = *values.first()?;
        return Some(values.iter().fold((first, first), |(low, high), &value| {
            (
                if value < low { value } else { low },
                if value > high { value } else { high },
            )
        }));
    }
    let present = values
        .iter()
        .enumerate()
        .filter(|(row, _)| nulls.is_none_or(|nulls| nulls.is_valid(*row)));
    present
        .map(|(_, value)| *value)
        .fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((
                if value < low { value } else { low },
                if value > high { value } else { high },
            )),
        })
}

/// Returns the least and the greatest of some texts. Most are compared by their first bytes, as numbers.
fn text_range<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let first = texts.next()?;
    let (mut low, mut high) = (first, first);
    let (mut low_head, mut high_head) = (head(first), head(first));
    for text in texts {
        let head = head(text);
        if head <= low_head && text < low {
            (low, low_head) = (text, head);
        }
        if head >= high_head && text > high {
            (high, high_head) = (text, head);
        }
    }
    Some((low, high))
}

/// The first eight bytes of a text, with zeros after its end: if they are less than those of another, so is the text.
fn head(text: &str) -> u64 {
    match text.as_bytes().first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes
                .iter_mut()
                .zip(text.bytes())
                .for_each(|(slot, byte)| *slot = byte);
            u64::from_be_bytes(bytes)
        }
    }
}

impl Leaf {
    fn update(&mut self, array: &ArrayRef, nulls: Option<&NullBuffer>, prefix: usize) {
        self.null_count += nulls.map_or(0, NullBuffer::null_count) as u64;
        macro_rules! range {
            ($arrow:ty, $scalar:expr) => {
                range_of::<$arrow>(array, nulls).map(|(low, high)| ($scalar(low), $scalar(high)))
            };
        }
        let range = match self.data_type {
            Some(PrimitiveType::Boolean) => {
                let values = array.as_boolean().iter().enumerate();
                let present = values.filter(|(row, _)| nulls.is_none_or(|nulls| nulls.is_valid(*row)));
                present
                    .filter_map(|(_, value)| value)
                    .fold(None, |range: Option<(bool, bool)>, value| {
                        Some(range.map_or((value, value), |(low, high)| (low && value, high || value)))
                    })
                    .map(|(low, high)| (Scalar::Boolean(low), Scalar::Boolean(high)))
            }
            Some(PrimitiveType::Byte) => range!(Int8Type, Scalar::Byte),
            Some(PrimitiveType::Short) => range!(Int16Type, Scalar::Short),
            Some(PrimitiveType::Integer) => range!(Int32Type, Scalar::Integer),
            Some(PrimitiveType::Long) => range!(Int64Type, Scalar::Long),
            Some(PrimitiveType::Date) => range!(Date32Type, Scalar::Date),
            Some(PrimitiveType::Timestamp) => range!(TimestampMicrosecondType, Scalar::Timestamp),
            Some(PrimitiveType::TimestampNtz) => range!(TimestampMicrosecondType, Scalar::TimestampNtz),
            Some(PrimitiveType::Decimal { precision, scale }) => {
                range!(Decimal128Type, |unscaled| Scalar::Decimal {
                    unscaled,
                    precision,
                    scale
                })
            }
            Some(PrimitiveType::Float) => {
                let values = array.as_primitive::<Float32Type>().iter().enumerate();
                let present = values.filter(|(row, _)| nulls.is_none_or(|nulls| nulls.is_valid(*row)));
                self.float_range(present.filter_map(|(_, value)| value).map(f64::from))
                    .map(|(low, high)| {
                        #[expect(clippy::cast_possible_truncation, reason = "the values were f32 a line ago")]
                        let narrow = |value: f64| Scalar::Float(value as f32);
                        (narrow(low), narrow(high))
                    })
            }
            Some(PrimitiveType::Double) => {
                let values = array.as_primitive::<Float64Type>().iter().enumerate();
                let present = values.filter(|(row, _)| nulls.is_none_or(|nulls| nulls.is_valid(*row)));
                self.float_range(present.filter_map(|(_, value)| value))
                    .map(|(low, high)| (Scalar::Double(low), Scalar::Double(high)))
            }
            Some(PrimitiveType::String) => {
                let strings = array.as_string::<i32>();
                let present = (0..strings.len()).filter(|row| nulls.is_none_or(|nulls| nulls.is_valid(*row)));
                text_range(present.map(|row| strings.value(row))).map(|(low, high)| {
                    // Both bounds depend on at most one character after the prefix.
                    let kept = |text| lower_bound(text, prefix.saturating_add(1)).to_owned();
                    (Scalar::String(kept(low)), Scalar::String(kept(high)))
                })
            }
            _ => None,
        };
        self.bounds = match (self.bounds.take(), range) {
            (None, range) => range,
            (bounds, None) => bounds,
            (Some((low, high)), Some((new_low, new_high))) => Some((
                if is_less(&new_low, &low) { new_low } else { low },
                if is_less(&high, &new_high) { new_high } else { high },
            )),
        };
    }

    /// NaN is greater than every number: it does not change the minimum, and removes the maximum.
    fn float_range(&mut self, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
        let mut range: Option<(f64, f64)> = None;
        for value in values {
            if value.is_nan() {
                self.above_all = true;
            } else {
                range = Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
            }
        }
        range
    }

    fn min_json(&self, prefix: usize) -> Option<String> {
        let (low, _) = self.bounds.as_ref()?;
        match low {
            Scalar::String(text) => Some(quoted(lower_bound(text, prefix))),
            Scalar::Timestamp(micros) => time_with_zone(*micros, Cut::Down),
            Scalar::TimestampNtz(micros) => time(*micros, Cut::Down),
            // Both zeros are equal, and readers that order them expect the lower one here.
            Scalar::Float(value) if *value == 0.0 => Some("-0.0".to_owned()),
            Scalar::Double(value) if *value == 0.0 => Some("-0.0".to_owned()),
            other => plain_json(other),
        }
    }

    fn max_json(&self, prefix: usize) -> Option<String> {
        let (_, high) = self.bounds.as_ref()?;
        if self.above_all {
            return None;
        }
        match high {
            Scalar::String(text) => upper_bound(text, prefix).map(|bound| quoted(&bound)),
            Scalar::Timestamp(micros) => time_with_zone(*micros, Cut::Up),
            Scalar::TimestampNtz(micros) => time(*micros, Cut::Up),
            Scalar::Float(value) if *value == 0.0 => Some("0.0".to_owned()),
            Scalar::Double(value) if *value == 0.0 => Some("0.0".to_owned()),
            other => plain_json(other),
        }
    }
}

fn time(micros: i64, cut: Cut) -> Option<String> {
    time_text(micros, cut).map(|text| quoted(&text))
}

fn time_with_zone(micros: i64, cut: Cut) -> Option<String> {
    time_text(micros, cut).map(|text| quoted(&(text + "Z")))
}

fn plain_json(scalar: &Scalar) -> Option<String> {
    Some(match scalar {
        Scalar::Boolean(_)
        | Scalar::Byte(_)
        | Scalar::Short(_)
        | Scalar::Integer(_)
        | Scalar::Long(_)
        | Scalar::Decimal { .. } => scalar.to_partition_text()?,
        Scalar::Float(value) if value.is_finite() => format!("{value:?}"),
        Scalar::Double(value) if value.is_finite() => format!("{value:?}"),
        Scalar::Float(_) | Scalar::Double(_) => quoted(&scalar.to_partition_text()?),
        Scalar::Date(days) => quoted(&day_text(*days)?),
        _ => return None,
    })
}

fn is_less(left: &Scalar, right: &Scalar) -> bool {
    match (left, right) {
        (Scalar::Boolean(a), Scalar::Boolean(b)) => a < b,
        (Scalar::Byte(a), Scalar::Byte(b)) => a < b,
        (Scalar::Short(a), Scalar::Short(b)) => a < b,
        (Scalar::Integer(a), Scalar::Integer(b)) | (Scalar::Date(a), Scalar::Date(b)) => a < b,
        (Scalar::Long(a), Scalar::Long(b))
        | (Scalar::Timestamp(a), Scalar::Timestamp(b))
        | (Scalar::TimestampNtz(a), Scalar::TimestampNtz(b)) => a < b,
        (Scalar::Float(a), Scalar::Float(b)) => a < b,
        (Scalar::Double(a), Scalar::Double(b)) => a < b,
        (Scalar::Decimal { unscaled: a, .. }, Scalar::Decimal { unscaled: b, .. }) => a < b,
        (Scalar::String(a), Scalar::String(b)) => a < b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::text_range;

    /// Texts that differ before, at and after the eighth byte, in their length, and by zeros.
    #[test]
    fn the_range_of_texts_is_their_minimum_and_maximum() {
        let texts = [
            "",
            "\0",
            "\0\0",
            "a",
            "a\0",
            "abcdefg",
            "abcdefg\0",
            "abcdefgh",
            "abcdefgh\0",
            "abcdefghi",
            "abcdefgi",
            "é",
            "\u{10ffff}",
        ];
        for first in texts {
            for second in texts {
                for third in texts {
                    let all = [first, second, third];
                    let expected = all.into_iter().min().zip(all.into_iter().max());
                    assert_eq!(text_range(all.into_iter()), expected, "of {all:?}");
                }
            }
        }
        assert_eq!(text_range(std::iter::empty()), None);
    }
}
