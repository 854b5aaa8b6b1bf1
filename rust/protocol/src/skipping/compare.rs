//! Whether two values can satisfy a comparison, given only their ranges.

use arrow_buffer::BooleanBuffer;

use super::files::Files;
use super::ranges::{Bounds, Nan, Range, Ranges, double, integer};
use crate::Result;
use crate::expr::{Comparison, Operand, Scalar};
use crate::schema::PrimitiveType;

/// An operand, with the bounds of a column.
enum Side<'a> {
    Column(Bounds),
    Value(&'a Scalar),
}

/// The files that may contain a row for which the comparison of two non-NULL values is true; `None` if
/// nothing is known. The columns in `numbers` are not NaN.
pub(super) fn compare(
    op: Comparison,
    operands: [&Operand; 2],
    common: PrimitiveType,
    files: &Files<'_>,
    numbers: &[&[String]],
) -> Result<Option<BooleanBuffer>> {
    let [Some(left), Some(right)] = operands.map(|operand| side(operand, files)) else {
        return Ok(None);
    };
    let rows = files.len();
    Ok(match common {
        PrimitiveType::Byte
        | PrimitiveType::Short
        | PrimitiveType::Integer
        | PrimitiveType::Long
        | PrimitiveType::Date
        | PrimitiveType::Timestamp
        | PrimitiveType::TimestampNtz => {
            let ranges = |side: &Side<'_>| match side {
                Side::Column(bounds) => bounds.integers(common),
                Side::Value(value) => integer(value).map(Ranges::Value),
            };
            each(op, ranges(&left), ranges(&right), rows)
        }
        PrimitiveType::Decimal { .. } => {
            let ranges = |side: &Side<'_>| {
                Ok(match side {
                    Side::Column(bounds) => Some(bounds.decimals(common)?),
                    Side::Value(value) => unscaled(value).map(Ranges::Value),
                })
            };
            each(op, ranges(&left)?, ranges(&right)?, rows)
        }
        PrimitiveType::Float | PrimitiveType::Double => {
            let is_number = |operand: &Operand| match operand {
                Operand::Column(path) => numbers.contains(&path.as_slice()),
                Operand::Scalar(value) => double(value).is_some_and(|value| !value.is_nan()),
            };
            // If one operand is not NaN, an equal one is not NaN either.
            let both = op == Comparison::Equal && operands.into_iter().any(is_number);
            let ranges = |side: &Side<'_>, operand| {
                let nan = if both || is_number(operand) {
                    Nan::WithoutNan
                } else {
                    Nan::Counts
                };
                Ok(match side {
                    Side::Column(bounds) => Some(bounds.doubles(nan)?),
                    // NaN is above every range, so no file is skipped.
                    Side::Value(value) => double(value).filter(|value| !value.is_nan()).map(Ranges::Value),
                })
            };
            each(
                op,
                ranges(&left, operands[0])?,
                ranges(&right, operands[1])?,
                rows,
            )
        }
        PrimitiveType::String => each(op, texts(&left), texts(&right), rows),
        PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant => None,
    })
}

/// The files that may contain one of these values, which have the type of the column and are sorted;
/// `None` if nothing is known.
pub(super) fn one_of(path: &[String], values: &[Scalar], files: &Files<'_>) -> Result<Option<BooleanBuffer>> {
    let (Some(bounds), Some(common)) = (files.bounds(path), values.first().map(Scalar::data_type)) else {
        return Ok(None);
    };
    let rows = files.len();
    Ok(match common {
        PrimitiveType::Byte
        | PrimitiveType::Short
        | PrimitiveType::Integer
        | PrimitiveType::Long
        | PrimitiveType::Date
        | PrimitiveType::Timestamp
        | PrimitiveType::TimestampNtz => any_within(bounds.integers(common), values, integer, rows),
        PrimitiveType::Decimal { .. } => any_within(Some(bounds.decimals(common)?), values, unscaled, rows),
        PrimitiveType::Float | PrimitiveType::Double => {
            // NaN is above every range, so no file is skipped.
            let number = |value: &Scalar| double(value).filter(|value| !value.is_nan());
            any_within(Some(bounds.doubles(Nan::WithoutNan)?), values, number, rows)
        }
        PrimitiveType::String => any_within(bounds.texts(), values, text, rows),
        PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant => None,
    })
}

fn any_within<'a, V: PartialOrd + Copy>(
    ranges: Option<Ranges<V>>,
    values: &'a [Scalar],
    value_of: impl Fn(&'a Scalar) -> Option<V>,
    rows: usize,
) -> Option<BooleanBuffer> {
    let ranges = ranges?;
    let values: Vec<V> = values.iter().map(value_of).collect::<Option<_>>()?;
    Some(BooleanBuffer::collect_bool(rows, |row| {
        let Range { low, high } = ranges.get(row);
        let first = low.map_or(0, |low| values.partition_point(|value| *value < low));
        let least = values.get(first);
        least.is_some_and(|least| high.is_none_or(|high| *least <= high))
    }))
}

fn text(value: &Scalar) -> Option<&str> {
    match value {
        Scalar::String(text) => Some(text),
        _ => None,
    }
}

fn unscaled(value: &Scalar) -> Option<i128> {
    match value {
        Scalar::Decimal { unscaled, .. } => Some(*unscaled),
        _ => None,
    }
}

/// The files that may contain a string that starts with `prefix`; or, if `begins` is false, one that does
/// not.
pub(super) fn starts_with(
    path: &[String],
    prefix: &str,
    begins: bool,
    files: &Files<'_>,
) -> Option<BooleanBuffer> {
    let bounds = files.bounds(path)?;
    let ranges = bounds.texts()?;
    Some(BooleanBuffer::collect_bool(files.len(), |row| {
        let Range { low, high } = ranges.get(row);
        if begins {
            // Strings with a prefix are contiguous in the order, starting with the prefix itself.
            let too_high = low.is_some_and(|low| low > prefix && !low.starts_with(prefix));
            let too_low = high.is_some_and(|high| high < prefix);
            !too_high && !too_low
        } else {
            let has = |bound: Option<&str>| bound.is_some_and(|bound| bound.starts_with(prefix));
            !(has(low) && has(high))
        }
    }))
}

fn side<'a>(operand: &'a Operand, files: &Files<'_>) -> Option<Side<'a>> {
    match operand {
        Operand::Column(path) => files.bounds(path).map(Side::Column),
        Operand::Scalar(value) => Some(Side::Value(value)),
    }
}

fn texts<'a>(side: &'a Side<'_>) -> Option<Ranges<&'a str>> {
    match side {
        Side::Column(bounds) => bounds.texts(),
        Side::Value(value) => text(value).map(Ranges::Value),
    }
}

fn each<V: PartialOrd + Copy>(
    op: Comparison,
    left: Option<Ranges<V>>,
    right: Option<Ranges<V>>,
    rows: usize,
) -> Option<BooleanBuffer> {
    let (left, right) = (left?, right?);
    Some(BooleanBuffer::collect_bool(rows, |row| {
        possible(op, left.get(row), right.get(row))
    }))
}

/// Whether a value of one range and a value of the other can satisfy the comparison.
fn possible<V: PartialOrd + Copy>(op: Comparison, left: Range<V>, right: Range<V>) -> bool {
    // False only if both bounds are known and exclude it.
    let may_be_below = |a: Range<V>, b: Range<V>| !matches!((a.low, b.high), (Some(a), Some(b)) if a >= b);
    let may_be_at_most = |a: Range<V>, b: Range<V>| !matches!((a.low, b.high), (Some(a), Some(b)) if a > b);
    match op {
        Comparison::Equal | Comparison::NullSafeEqual => {
            may_be_at_most(left, right) && may_be_at_most(right, left)
        }
        Comparison::NotEqual => may_be_below(left, right) || may_be_below(right, left),
        Comparison::Less => may_be_below(left, right),
        Comparison::LessOrEqual => may_be_at_most(left, right),
        Comparison::Greater => may_be_below(right, left),
        Comparison::GreaterOrEqual => may_be_at_most(right, left),
    }
}
