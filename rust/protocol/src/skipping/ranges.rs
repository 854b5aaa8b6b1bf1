//! The range of the values of a column in a file, according to its statistics.
//!
//! Writers truncate bounds in different ways. A range is always wide enough for all of them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use crate::expr::Scalar;
use crate::schema::PrimitiveType;
use crate::statistics::STRING_PREFIX;
use crate::{Error, ErrorKind, Result};

/// Timestamps in statistics are truncated to milliseconds, and most writers round both bounds down.
const MILLISECOND: i64 = 1_000;
/// Some writers format an instant in their own zone, whose offset has no seconds in the text. Until 1972,
/// some offsets had seconds.
const MINUTE: i64 = 60_000_000;
const OFFSETS_HAVE_NO_SECONDS: i64 = 1_096 * MICROS_PER_DAY;
const MICROS_PER_DAY: i64 = 86_400_000_000;
/// Decimals with this many digits may not survive a conversion to double and back, which some writers do.
const EXACT_IN_DOUBLE: u128 = 100_000_000_000_000;
/// The conversion changes a decimal by less than this fraction of it, as a power of two, plus one: a few
/// units in the last place of a double.
const LOST_IN_DOUBLE: u32 = 48;

/// The bounds of a value; `None` if a side is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range<V> {
    pub(super) low: Option<V>,
    pub(super) high: Option<V>,
}

impl<V: PartialOrd + Copy> Range<V> {
    /// Creates a range; inverted bounds are ignored.
    pub(super) fn new(low: Option<V>, high: Option<V>) -> Self {
        match (low, high) {
            (Some(a), Some(b)) if a > b => Self {
                low: None,
                high: None,
            },
            _ => Self { low, high },
        }
    }

    /// The range of one value.
    pub(super) fn of(value: V) -> Self {
        Self {
            low: Some(value),
            high: Some(value),
        }
    }
}

/// An operand: a range for each file, or the same value for all.
pub(super) enum Ranges<V> {
    Files(Vec<Range<V>>),
    Value(V),
}

impl<V: PartialOrd + Copy> Ranges<V> {
    pub(super) fn get(&self, row: usize) -> Range<V> {
        let unknown = Range {
            low: None,
            high: None,
        };
        match self {
            Self::Files(ranges) => ranges.get(row).copied().unwrap_or(unknown),
            Self::Value(value) => Range::of(*value),
        }
    }
}

/// The bounds of a column.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    min: ArrayRef,
    max: ArrayRef,
    /// Whether they come from statistics and may be truncated.
    cut: bool,
}

impl Bounds {
    /// Bounds from statistics.
    pub(super) fn of_statistics(min: ArrayRef, max: ArrayRef) -> Self {
        Self { min, max, cut: true }
    }

    /// Bounds of files whose rows all have the same value.
    pub(super) fn of_values(values: ArrayRef) -> Self {
        Self {
            min: Arc::clone(&values),
            max: values,
            cut: false,
        }
    }

    /// How far a value may be outside of the bound of a timestamp.
    fn reach(&self, bound: i64) -> i64 {
        match self.min.data_type() {
            ArrowType::Timestamp(_, Some(_)) if self.cut && bound < OFFSETS_HAVE_NO_SECONDS => MINUTE,
            ArrowType::Timestamp(..) if self.cut => MILLISECOND,
            _ => 0,
        }
    }

    /// Ranges of integers, dates and timestamps, as 64-bit integers in the unit of `common`.
    pub(super) fn integers(&self, common: PrimitiveType) -> Option<Ranges<i64>> {
        let (low, high) = (integers(&self.min, common)?, integers(&self.max, common)?);
        let pairs = low.iter().zip(high.iter());
        Some(Ranges::Files(
            pairs
                .map(|(low, high)| {
                    let raw = Range::new(low, high);
                    Range {
                        low: raw.low.map(|low| low.saturating_sub(self.reach(low))),
                        high: raw.high.map(|high| high.saturating_add(self.reach(high))),
                    }
                })
                .collect(),
        ))
    }

    /// Ranges of decimals with the scale of `common`.
    pub(super) fn decimals(&self, common: PrimitiveType) -> Result<Ranges<i128>> {
        let arrow = common.to_arrow()?;
        let bound = |array: &ArrayRef, low| cast(&self.reached(array, low), &arrow);
        let (low, high) = (bound(&self.min, true)?, bound(&self.max, false)?);
        let (Some(low), Some(high)) = (
            low.as_primitive_opt::<Decimal128Type>(),
            high.as_primitive_opt::<Decimal128Type>(),
        ) else {
            return Ok(Ranges::Files(Vec::new()));
        };
        Ok(Ranges::Files(zip(low.iter(), high.iter())))
    }

    /// Ranges of floating point numbers. NaN is not a bound; `-0.0` and `0.0` are equal.
    ///
    /// Any file may contain NaN, which is above every bound. So only `WithoutNan` has upper bounds.
    pub(super) fn doubles(&self, nan: Nan) -> Result<Ranges<f64>> {
        let is_float = matches!(self.max.data_type(), ArrowType::Float32 | ArrowType::Float64);
        let is_decimal = matches!(self.max.data_type(), ArrowType::Decimal128(..));
        let bound = |array: &ArrayRef, low| cast(&self.reached(array, low), &ArrowType::Float64);
        let (low, high) = (bound(&self.min, true)?, bound(&self.max, false)?);
        let (Some(low), Some(high)) = (
            low.as_primitive_opt::<Float64Type>(),
            high.as_primitive_opt::<Float64Type>(),
        ) else {
            return Ok(Ranges::Files(Vec::new()));
        };
        let mut ranges: Vec<_> = low.iter().zip(high.iter()).map(of_doubles).collect();
        if is_float && self.cut && nan == Nan::Counts {
            ranges.iter_mut().for_each(|range| range.high = None);
        }
        if is_decimal {
            // Writers differ in how they round to a double.
            for range in &mut ranges {
                range.low = range.low.map(|low| low.next_down().next_down());
                range.high = range.high.map(|high| high.next_up().next_up());
            }
        }
        Ok(Ranges::Files(ranges))
    }

    /// Ranges of strings in byte order.
    pub(super) fn texts(&self) -> Option<Ranges<&str>> {
        let (low, high) = (self.min.as_string_opt::<i32>()?, self.max.as_string_opt::<i32>()?);
        let ranges = low.iter().zip(high.iter()).map(|(low, high)| {
            let raw = Range::new(low, high);
            Range {
                low: raw.low,
                high: raw.high.filter(|text| !self.cut || is_upper_bound(text)),
            }
        });
        Some(Ranges::Files(ranges.collect()))
    }

    /// Decimals widened by the possible error of a conversion to double; other values unchanged.
    fn reached(&self, array: &ArrayRef, low: bool) -> ArrayRef {
        let Some(decimals) = array.as_primitive_opt::<Decimal128Type>().filter(|_| self.cut) else {
            return Arc::clone(array);
        };
        let moved = decimals.unary::<_, Decimal128Type>(|value| {
            if value.unsigned_abs() < EXACT_IN_DOUBLE {
                return value;
            }
            let by = i128::try_from(value.unsigned_abs() >> LOST_IN_DOUBLE).unwrap_or(i128::MAX);
            if low {
                value.saturating_sub(by).saturating_sub(1)
            } else {
                value.saturating_add(by).saturating_add(1)
            }
        });
        Arc::new(moved.with_data_type(array.data_type().clone()))
    }
}

/// Whether NaN can satisfy the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nan {
    /// It can: it is greater than everything.
    Counts,
    /// It cannot: the comparison requires a number.
    WithoutNan,
}

/// Whether a maximum is valid for the complete string. If it was truncated without a tie-breaker
/// character, it is not: writers count code points or UTF-16 units, and append the largest character to a
/// truncated maximum.
fn is_upper_bound(text: &str) -> bool {
    let has_last = |kept: &str| kept.chars().nth(STRING_PREFIX - 1).is_some();
    text.len() < STRING_PREFIX
        || text.encode_utf16().nth(STRING_PREFIX - 1).is_none()
        || text.strip_suffix(['\u{7F}', '\u{10FFFF}']).is_some_and(has_last)
}

/// The range of two bounds that may be NaN, which is greater than every number and bounds nothing.
fn of_doubles((low, high): (Option<f64>, Option<f64>)) -> Range<f64> {
    let number = |value: Option<f64>| value.filter(|value| !value.is_nan());
    // Inverted bounds.
    if low.is_some_and(f64::is_nan) && number(high).is_some() {
        return Range::new(None, None);
    }
    Range::new(number(low), number(high))
}

fn zip<V: PartialOrd + Copy>(
    low: impl Iterator<Item = Option<V>>,
    high: impl Iterator<Item = Option<V>>,
) -> Vec<Range<V>> {
    low.zip(high).map(|(low, high)| Range::new(low, high)).collect()
}

fn integers(array: &ArrayRef, common: PrimitiveType) -> Option<PrimitiveArray<Int64Type>> {
    let in_micros = matches!(common, PrimitiveType::Timestamp | PrimitiveType::TimestampNtz);
    Some(match array.data_type() {
        ArrowType::Date32 => {
            let days = array.as_primitive_opt::<Date32Type>()?;
            let unit = if in_micros { MICROS_PER_DAY } else { 1 };
            days.unary_opt(|days| i64::from(days).checked_mul(unit))
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => array
            .as_primitive_opt::<TimestampMicrosecondType>()?
            .reinterpret_cast(),
        ArrowType::Int8 | ArrowType::Int16 | ArrowType::Int32 | ArrowType::Int64 => {
            let wide = arrow_cast::cast(array, &ArrowType::Int64).ok()?;
            wide.as_primitive_opt::<Int64Type>()?.clone()
        }
        _ => return None,
    })
}

/// Casts an array; values that do not fit are NULL.
fn cast(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    arrow_cast::cast(array, to).map_err(|error| {
        Error::new(
            ErrorKind::InvalidPredicate,
            format!("statistics cannot be compared with the predicate's value: {error}"),
        )
    })
}

/// The value as a 64-bit integer if it is an integer, a date or a timestamp.
pub(super) fn integer(value: &Scalar) -> Option<i64> {
    Some(match value {
        Scalar::Byte(value) => i64::from(*value),
        Scalar::Short(value) => i64::from(*value),
        Scalar::Integer(value) | Scalar::Date(value) => i64::from(*value),
        Scalar::Long(value) | Scalar::Timestamp(value) | Scalar::TimestampNtz(value) => *value,
        _ => return None,
    })
}

/// The value as a double if it is a floating point number.
pub(super) fn double(value: &Scalar) -> Option<f64> {
    match value {
        Scalar::Float(value) => Some(f64::from(*value)),
        Scalar::Double(value) => Some(*value),
        _ => None,
    }
}
