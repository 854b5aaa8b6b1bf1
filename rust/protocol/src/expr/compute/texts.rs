//! Functions of strings. Positions and lengths are counted in characters.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{BinaryArray, BooleanArray, Int32Array, StringArray};

use super::values::{Values, by_row};
use crate::expr::LikePattern;
use crate::expr::failure::{Failure, invalid};
use crate::expr::function::Function;
use crate::expr::operators::TextTest;
use crate::schema::PrimitiveType;

/// The longest text that a function creates for a row.
const LONGEST: usize = 1 << 30;

type Computed = Result<Values, Failure>;

/// Calls a function of strings; `None` for other functions.
pub(super) fn call(
    function: Function,
    values: &[Values],
    to: PrimitiveType,
    rows: usize,
) -> Option<Computed> {
    use Function as F;
    let all: Vec<&Values> = values.iter().collect();
    let texts = |value: &dyn Fn(usize) -> Result<Option<String>, Failure>| {
        by_row::<_, StringArray>(&all, rows, value)
    };
    let is_binary = to == PrimitiveType::Binary;
    Some(match (function, values) {
        (F::Upper, [text]) => texts(&|row| Ok(text.text(row).map(str::to_uppercase))),
        (F::Lower, [text]) => texts(&|row| Ok(text.text(row).map(str::to_lowercase))),
        (F::Length, [text]) => by_row::<_, Int32Array>(&all, rows, |row| {
            let length = match text.text(row) {
                Some(text) => Some(text.chars().count()),
                None => text.bytes(row).map(<[u8]>::len),
            };
            Ok(length.and_then(|length| i32::try_from(length).ok()))
        }),
        (F::Concat, _) if is_binary => by_row::<_, BinaryArray>(&all, rows, |row| {
            Ok(all
                .iter()
                .map(|part| part.bytes(row))
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.concat()))
        }),
        (F::Concat, []) => Ok(Values::constant(Arc::new(StringArray::from(vec![""])))),
        (F::Concat, _) => texts(&|row| {
            Ok(all
                .iter()
                .map(|part| part.text(row))
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.concat()))
        }),
        (F::Trim | F::LeftTrim | F::RightTrim, [text]) => {
            texts(&|row| Ok(text.text(row).map(|text| trimmed(function, text, " ").to_owned())))
        }
        (F::Trim | F::LeftTrim | F::RightTrim, [chars, text]) => texts(&|row| {
            let pair = chars.text(row).zip(text.text(row));
            Ok(pair.map(|(chars, text)| trimmed(function, text, chars).to_owned()))
        }),
        (F::Replace, [text, search, with @ ..]) => texts(&|row| {
            let with = with.first().map_or(Some(""), |with| with.text(row));
            let (Some(text), Some(search), Some(with)) = (text.text(row), search.text(row), with) else {
                return Ok(None);
            };
            replaced(text, search, with).map(Some)
        }),
        (F::LeftPad | F::RightPad, [bytes, length, pad @ ..]) if is_binary => {
            by_row::<_, BinaryArray>(&all, rows, |row| {
                let pad = pad.first().map_or(Some([0].as_slice()), |pad| pad.bytes(row));
                let (Some(bytes), Some(length), Some(pad)) = (bytes.bytes(row), length.int(row), pad) else {
                    return Ok(None);
                };
                padded_bytes(function, bytes, length, pad).map(Some)
            })
        }
        (F::LeftPad | F::RightPad, [text, length, pad @ ..]) => texts(&|row| {
            let pad = pad.first().map_or(Some(" "), |pad| pad.text(row));
            let (Some(text), Some(length), Some(pad)) = (text.text(row), length.int(row), pad) else {
                return Ok(None);
            };
            padded(function, text, length, pad).map(Some)
        }),
        (F::Substring, [bytes, start, length @ ..]) if is_binary => {
            by_row::<_, BinaryArray>(&all, rows, |row| {
                let (bytes, range) = (bytes.bytes(row), range_of(start, length.first(), row));
                Ok(bytes.zip(range).map(|(bytes, range)| {
                    let (from, to) = bounds(range, bytes.len());
                    bytes.get(from..to).unwrap_or_default().to_owned()
                }))
            })
        }
        (F::Substring, [text, start, length @ ..]) => texts(&|row| {
            let (text, range) = (text.text(row), range_of(start, length.first(), row));
            Ok(text
                .zip(range)
                .map(|(text, range)| substring(text, range).into_owned()))
        }),
        _ => return None,
    })
}

/// Whether strings or binary values start or end with others, or contain them.
pub(super) fn test(test: TextTest, text: &Values, part: &Values, rows: usize) -> Computed {
    by_row::<_, BooleanArray>(&[text, part], rows, |row| {
        Ok(text
            .bytes(row)
            .zip(part.bytes(row))
            .map(|(text, part)| match test {
                TextTest::StartsWith => text.starts_with(part),
                TextTest::EndsWith => text.ends_with(part),
                TextTest::Contains => part.is_empty() || text.windows(part.len()).any(|found| found == part),
            }))
    })
}

/// LIKE with a pattern for each row.
pub(super) fn like(text: &Values, pattern: &Values, escape: char, rows: usize) -> Computed {
    by_row::<_, BooleanArray>(&[text, pattern], rows, |row| {
        let Some((text, pattern)) = text.text(row).zip(pattern.text(row)) else {
            return Ok(None);
        };
        match LikePattern::parse(pattern, escape) {
            Ok(pattern) => Ok(Some(pattern.matches(text))),
            Err(why) => invalid(why),
        }
    })
}

/// Where a substring starts, from 1 or negative from the end, and its length.
type Range = (i64, i64);

fn range_of(start: &Values, length: Option<&Values>, row: usize) -> Option<Range> {
    let length = length.map_or(Some(i64::from(i32::MAX)), |length| length.int(row))?;
    Some((start.int(row)?, length))
}

/// The bounds of a substring of so many characters.
fn bounds((start, length): Range, count: usize) -> (usize, usize) {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let start = match start {
        1.. => start - 1,
        0 => 0,
        _ => count + start,
    };
    let end = start.saturating_add(length).clamp(0, count);
    let start = start.clamp(0, count);
    let size = |number: i64| usize::try_from(number).unwrap_or_default();
    (size(start), size(end.max(start)))
}

fn substring(text: &str, range: Range) -> Cow<'_, str> {
    if text.is_ascii() {
        let (from, to) = bounds(range, text.len());
        return Cow::Borrowed(text.get(from..to).unwrap_or_default());
    }
    let (from, to) = bounds(range, text.chars().count());
    Cow::Owned(text.chars().skip(from).take(to - from).collect())
}

fn trimmed<'t>(function: Function, text: &'t str, chars: &str) -> &'t str {
    let is_trimmed = |c: char| chars.contains(c);
    match function {
        Function::LeftTrim => text.trim_start_matches(is_trimmed),
        Function::RightTrim => text.trim_end_matches(is_trimmed),
        _ => text.trim_matches(is_trimmed),
    }
}

fn too_long<T>() -> Result<T, Failure> {
    invalid("the string is too long")
}

fn replaced(text: &str, search: &str, with: &str) -> Result<String, Failure> {
    if search.is_empty() {
        return Ok(text.to_owned());
    }
    let count = text.matches(search).count();
    if count.saturating_mul(with.len()).saturating_add(text.len()) > LONGEST {
        return too_long();
    }
    Ok(text.replace(search, with))
}

fn padded(function: Function, text: &str, length: i64, pad: &str) -> Result<String, Failure> {
    let length = usize::try_from(length).unwrap_or_default();
    let count = text.chars().count();
    if count >= length || pad.is_empty() {
        return Ok(text.chars().take(length).collect());
    }
    if length.saturating_mul(4) > LONGEST {
        return too_long();
    }
    let padding = pad.chars().cycle().take(length - count);
    Ok(match function {
        Function::LeftPad => padding.chain(text.chars()).collect(),
        _ => text.chars().chain(padding).collect(),
    })
}

fn padded_bytes(function: Function, bytes: &[u8], length: i64, pad: &[u8]) -> Result<Vec<u8>, Failure> {
    let length = usize::try_from(length).unwrap_or_default();
    if bytes.len() >= length || pad.is_empty() {
        return Ok(bytes.iter().take(length).copied().collect());
    }
    if length > LONGEST {
        return too_long();
    }
    let padding = pad.iter().cycle().take(length - bytes.len());
    Ok(match function {
        Function::LeftPad => padding.chain(bytes).copied().collect(),
        _ => bytes.iter().chain(padding).copied().collect(),
    })
}
