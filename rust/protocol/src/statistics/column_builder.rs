//! Builds one column of statistics: typed values by row, NULL for missing values.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, StringArray, TimestampMicrosecondArray, new_null_array,
};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer};

use crate::expr::Scalar;
use crate::schema::PrimitiveType;
use crate::{Error, ErrorKind, Result};

/// The values, by type. Missing values are zeros.
#[derive(Debug)]
pub(super) enum Values {
    Byte(Vec<i8>),
    Short(Vec<i16>),
    Integer(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Decimal(Vec<i128>),
    String { ends: Vec<i32>, bytes: Vec<u8> },
    Date(Vec<i32>),
    Timestamp(Vec<i64>),
    TimestampNtz(Vec<i64>),
}

/// Whether a bound is a minimum or a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    High,
}

/// A column under construction. Rows are added in order; a row without a value has no cost.
#[derive(Debug)]
pub(super) struct ColumnBuilder {
    pub(super) values: Values,
    pub(super) data_type: PrimitiveType,
    /// The first unscaled number that exceeds the precision of a decimal, and its scale.
    pub(super) precision_and_scale: (i128, usize),
    /// The length of the usual spelling of a date or a timestamp.
    pub(super) time_length: usize,
    /// The side to which a double that was a float is adjusted.
    pub(super) once_float: Option<Side>,
    nulls: NullBufferBuilder,
    len: usize,
    capacity: usize,
}

macro_rules! each {
    ($values:expr, $vec:ident => $do:expr, $ends:ident, $bytes:ident => $string:expr) => {
        match $values {
            Values::Byte($vec) => $do,
            Values::Short($vec) => $do,
            Values::Integer($vec) | Values::Date($vec) => $do,
            Values::Long($vec) | Values::Timestamp($vec) | Values::TimestampNtz($vec) => $do,
            Values::Float($vec) => $do,
            Values::Double($vec) => $do,
            Values::Decimal($vec) => $do,
            Values::String {
                ends: $ends,
                bytes: $bytes,
            } => $string,
        }
    };
}

impl ColumnBuilder {
    /// Creates an empty column; `None` for a type without bounds.
    pub(super) fn new(data_type: PrimitiveType, capacity: usize) -> Option<Self> {
        let values = match data_type {
            PrimitiveType::Byte => Values::Byte(Vec::new()),
            PrimitiveType::Short => Values::Short(Vec::new()),
            PrimitiveType::Integer => Values::Integer(Vec::new()),
            PrimitiveType::Long => Values::Long(Vec::new()),
            PrimitiveType::Float => Values::Float(Vec::new()),
            PrimitiveType::Double => Values::Double(Vec::new()),
            PrimitiveType::Decimal { .. } => Values::Decimal(Vec::new()),
            PrimitiveType::String => Values::String {
                ends: Vec::new(),
                bytes: Vec::new(),
            },
            PrimitiveType::Date => Values::Date(Vec::new()),
            PrimitiveType::Timestamp => Values::Timestamp(Vec::new()),
            PrimitiveType::TimestampNtz => Values::TimestampNtz(Vec::new()),
            PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant => {
                return None;
            }
        };
        Some(Self {
            values,
            data_type,
            precision_and_scale: match data_type {
                PrimitiveType::Decimal { precision, scale } => (
                    10i128.checked_pow(u32::from(precision)).unwrap_or(0),
                    usize::from(scale),
                ),
                _ => (0, 0),
            },
            time_length: match data_type {
                PrimitiveType::Date => 10,
                PrimitiveType::TimestampNtz => 23,
                PrimitiveType::Timestamp => 24,
                _ => usize::MAX,
            },
            once_float: None,
            nulls: NullBufferBuilder::new(capacity),
            len: 0,
            capacity,
        })
    }

    /// Fills the rows before `row` with NULL, so that a value can be pushed and recorded by
    /// [`Self::pushed`].
    #[inline]
    pub(super) fn reach(&mut self, row: usize) {
        if self.len != row || row == 0 {
            self.pad(row);
        }
    }

    #[cold]
    fn pad(&mut self, row: usize) {
        let capacity = self.capacity;
        each!(&mut self.values, values => {
            if values.capacity() == 0 {
                values.reserve(capacity);
            }
            values.resize(row, Default::default());
        }, ends, bytes => {
            if ends.capacity() == 0 {
                ends.reserve(capacity);
            }
            // The text is never longer than the maximum offset.
            let end = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
            ends.resize(row, end);
        });
        // Adding zero NULLs would still allocate a validity bitmap.
        if row > self.len {
            self.nulls.append_n_nulls(row - self.len);
        }
        self.len = row;
    }

    /// Records that a value was pushed.
    #[inline]
    pub(super) fn pushed(&mut self) {
        self.nulls.append_non_null();
        self.len += 1;
    }

    /// Sets a value; a value of another type is ignored.
    pub(super) fn put(&mut self, row: usize, value: Scalar) {
        self.reach(row);
        let pushed = match (&mut self.values, value) {
            (Values::Byte(values), Scalar::Byte(value)) => push(values, value),
            (Values::Short(values), Scalar::Short(value)) => push(values, value),
            (Values::Integer(values), Scalar::Integer(value))
            | (Values::Date(values), Scalar::Date(value)) => push(values, value),
            (Values::Long(values), Scalar::Long(value))
            | (Values::Timestamp(values), Scalar::Timestamp(value))
            | (Values::TimestampNtz(values), Scalar::TimestampNtz(value)) => push(values, value),
            (Values::Float(values), Scalar::Float(value)) => push(values, value),
            (Values::Double(values), Scalar::Double(value)) => {
                push(values, as_written(value, self.once_float))
            }
            (Values::Decimal(values), Scalar::Decimal { unscaled, .. }) => push(values, unscaled),
            (Values::String { ends, bytes }, Scalar::String(value)) => {
                push_text(ends, bytes, value.as_bytes())
            }
            _ => false,
        };
        if pushed {
            self.pushed();
        }
    }

    /// Removes the value of this row.
    pub(super) fn take_back(&mut self, row: usize) {
        if self.len <= row {
            return;
        }
        each!(&mut self.values, values => values.truncate(row), ends, bytes => {
            ends.truncate(row);
            let end = ends.last().copied().unwrap_or(0);
            bytes.truncate(usize::try_from(end).unwrap_or(0));
        });
        self.nulls.truncate(row);
        self.len = row;
    }

    /// Finishes the column with this many rows.
    pub(super) fn finish(mut self, rows: usize) -> Result<ArrayRef> {
        let arrow = self.data_type.to_arrow()?;
        if self.len == 0 {
            return Ok(new_null_array(&arrow, rows));
        }
        if self.len < rows {
            self.pad(rows);
        }
        let nulls = self.nulls.finish();
        Ok(match self.values {
            Values::Byte(values) => Arc::new(Int8Array::new(values.into(), nulls)),
            Values::Short(values) => Arc::new(Int16Array::new(values.into(), nulls)),
            Values::Integer(values) => Arc::new(Int32Array::new(values.into(), nulls)),
            Values::Long(values) => Arc::new(Int64Array::new(values.into(), nulls)),
            Values::Float(values) => Arc::new(Float32Array::new(values.into(), nulls)),
            Values::Double(values) => Arc::new(Float64Array::new(values.into(), nulls)),
            Values::Decimal(values) => {
                Arc::new(Decimal128Array::new(values.into(), nulls).with_data_type(arrow))
            }
            Values::String { mut ends, bytes } => {
                ends.insert(0, 0);
                let offsets = OffsetBuffer::new(ends.into());
                Arc::new(
                    StringArray::try_new(offsets, bytes.into(), nulls).map_err(|error| {
                        Error::new(
                            ErrorKind::CorruptLog,
                            format!("bounds of text cannot be read: {error}"),
                        )
                    })?,
                )
            }
            Values::Date(values) => Arc::new(Date32Array::new(values.into(), nulls)),
            Values::Timestamp(values) => {
                Arc::new(TimestampMicrosecondArray::new(values.into(), nulls).with_timezone("UTC"))
            }
            Values::TimestampNtz(values) => Arc::new(TimestampMicrosecondArray::new(values.into(), nulls)),
        })
    }
}

#[inline]
pub(super) fn push<T>(values: &mut Vec<T>, value: T) -> bool {
    values.push(value);
    true
}

/// Appends a string; returns false if the column is full.
#[inline]
pub(super) fn push_text(ends: &mut Vec<i32>, bytes: &mut Vec<u8>, text: &[u8]) -> bool {
    let Some(end) = bytes
        .len()
        .checked_add(text.len())
        .and_then(|end| i32::try_from(end).ok())
    else {
        return false;
    };
    bytes.extend_from_slice(text);
    ends.push(end);
    true
}

/// A bound of a column that was widened from float to double: old statistics contain the float (`6.1`),
/// and the file contains the double nearest to it (`6.0999999`). The bound that is valid for both is
/// used.
#[inline]
pub(super) fn as_written(value: f64, once_float: Option<Side>) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the nearest float is what was meant"
    )]
    let float = || f64::from(value as f32);
    match once_float {
        None => value,
        Some(Side::Low) => value.min(float()),
        Some(Side::High) => value.max(float()),
    }
}
