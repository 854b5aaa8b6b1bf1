//! Functions of strings. Positions and lengths are counted in characters.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{BinaryArray, Int32Array, StringArray};

use super::call::Call;
use super::call::wrong_number;
use super::function::{Function, Laziness, MANY, values};
use super::signature::{Arguments, Signature, Types};
use crate::Result;
use crate::expr::failure::{Failure, invalid};
use crate::expr::kernels::Values;
use crate::schema::PrimitiveType::{self, Binary, Integer, String as Text};

use Laziness::{Eager, UntilNull};
use Signature::{Fixed, Of};

#[rustfmt::skip] // a table: a row each
pub(super) static FUNCTIONS: &[Function] = &[
    values(&[("concat", 0, MANY)], Of(types_of_concat), Eager, concat),
    values(
        &[("length", 1, 1), ("char_length", 1, 1), ("character_length", 1, 1), ("len", 1, 1)],
        Of(|call| Ok(Types::new([text_or_bytes(call)], Integer))), UntilNull, length,
    ),
    values(&[("lower", 1, 1), ("lcase", 1, 1)], Fixed(&[Text], Text), UntilNull, |call| each(call, str::to_lowercase)),
    values(&[("lpad", 2, 3)], Of(types_of_pad), UntilNull, |call| pad(call, Ends::Left)),
    values(&[("ltrim", 1, 2)], Fixed(&[Text, Text], Text), UntilNull, |call| trim(call, Ends::Left)),
    values(&[("replace", 2, 3)], Fixed(&[Text, Text, Text], Text), UntilNull, replace),
    values(&[("rpad", 2, 3)], Of(types_of_pad), UntilNull, |call| pad(call, Ends::Right)),
    values(&[("rtrim", 1, 2)], Fixed(&[Text, Text], Text), UntilNull, |call| trim(call, Ends::Right)),
    values(&[("substring", 2, 3), ("substr", 2, 3)], Of(types_of_substring), UntilNull, substring),
    values(&[("trim", 1, 2)], Fixed(&[Text, Text], Text), UntilNull, |call| trim(call, Ends::Both)),
    values(&[("upper", 1, 1), ("ucase", 1, 1)], Fixed(&[Text], Text), UntilNull, |call| each(call, str::to_uppercase)),
];

/// The longest text that a function creates for a row.
const LONGEST: usize = 1 << 30;

/// The ends of a string that are trimmed or padded.
#[derive(Clone, Copy)]
enum Ends {
    Left,
    Right,
    Both,
}

type Computed = std::result::Result<Values, Failure>;

/// The type of a function of strings that is also one of binary values.
fn text_or_bytes(call: &Arguments<'_>) -> PrimitiveType {
    match call.first() {
        Some(Binary) => Binary,
        _ => Text,
    }
}

fn types_of_concat(call: &Arguments<'_>) -> Result<Types> {
    let to = match !call.parts.is_empty() && call.parts.iter().all(|part| part.is(Binary)) {
        true => Binary,
        false => Text,
    };
    Ok(Types::new(vec![to; call.parts.len()], to))
}

/// LPAD and RPAD fill bytes if their padding is binary too.
fn types_of_pad(call: &Arguments<'_>) -> Result<Types> {
    let is_binary = call.first() == Some(Binary) && call.get(2).is_none_or(|pad| pad.is(Binary));
    let to = if is_binary { Binary } else { Text };
    Ok(Types::new([to, Integer, to], to))
}

fn types_of_substring(call: &Arguments<'_>) -> Result<Types> {
    let to = text_or_bytes(call);
    Ok(Types::new([to, Integer, Integer], to))
}

fn each(call: &Call<'_>, change: fn(&str) -> String) -> Computed {
    let [text] = call.arguments()?;
    call.texts(|row| Ok(text.text(row).map(change)))
}

fn length(call: &Call<'_>) -> Computed {
    let [text] = call.arguments()?;
    call.by_row::<_, Int32Array>(|row| {
        let length = match text.text(row) {
            Some(text) => Some(text.chars().count()),
            None => text.bytes(row).map(<[u8]>::len),
        };
        Ok(length.and_then(|length| i32::try_from(length).ok()))
    })
}

fn concat(call: &Call<'_>) -> Computed {
    let parts = call.values;
    if call.is_binary() {
        return call.by_row::<_, BinaryArray>(|row| {
            let parts = parts
                .iter()
                .map(|part| part.bytes(row))
                .collect::<Option<Vec<_>>>();
            Ok(parts.map(|parts| parts.concat()))
        });
    }
    if parts.is_empty() {
        return Ok(Values::constant(Arc::new(StringArray::from(vec![""]))));
    }
    call.texts(|row| {
        let parts = parts
            .iter()
            .map(|part| part.text(row))
            .collect::<Option<Vec<_>>>();
        Ok(parts.map(|parts| parts.concat()))
    })
}

fn trim(call: &Call<'_>, ends: Ends) -> Computed {
    match call.values {
        [text] => call.texts(|row| Ok(text.text(row).map(|text| trimmed(ends, text, " ").to_owned()))),
        [chars, text] => call.texts(|row| {
            let pair = chars.text(row).zip(text.text(row));
            Ok(pair.map(|(chars, text)| trimmed(ends, text, chars).to_owned()))
        }),
        _ => wrong_number(),
    }
}

fn replace(call: &Call<'_>) -> Computed {
    let [text, search, with @ ..] = call.values else {
        return wrong_number();
    };
    call.texts(|row| {
        let with = with.first().map_or(Some(""), |with| with.text(row));
        let (Some(text), Some(search), Some(with)) = (text.text(row), search.text(row), with) else {
            return Ok(None);
        };
        replaced(text, search, with).map(Some)
    })
}

fn pad(call: &Call<'_>, end: Ends) -> Computed {
    let [text, length, pad @ ..] = call.values else {
        return wrong_number();
    };
    if call.is_binary() {
        return call.by_row::<_, BinaryArray>(|row| {
            let pad = pad.first().map_or(Some([0].as_slice()), |pad| pad.bytes(row));
            let (Some(bytes), Some(length), Some(pad)) = (text.bytes(row), length.int(row), pad) else {
                return Ok(None);
            };
            padded_bytes(end, bytes, length, pad).map(Some)
        });
    }
    call.texts(|row| {
        let pad = pad.first().map_or(Some(" "), |pad| pad.text(row));
        let (Some(text), Some(length), Some(pad)) = (text.text(row), length.int(row), pad) else {
            return Ok(None);
        };
        padded(end, text, length, pad).map(Some)
    })
}

fn substring(call: &Call<'_>) -> Computed {
    let [text, start, length @ ..] = call.values else {
        return wrong_number();
    };
    let length = length.first();
    if call.is_binary() {
        return call.by_row::<_, BinaryArray>(|row| {
            let (bytes, range) = (text.bytes(row), range_of(start, length, row));
            Ok(bytes.zip(range).map(|(bytes, range)| {
                let (from, to) = bounds(range, bytes.len());
                bytes.get(from..to).unwrap_or_default().to_owned()
            }))
        });
    }
    call.texts(|row| {
        let (text, range) = (text.text(row), range_of(start, length, row));
        Ok(text
            .zip(range)
            .map(|(text, range)| part_of(text, range).into_owned()))
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

fn part_of(text: &str, range: Range) -> Cow<'_, str> {
    if text.is_ascii() {
        let (from, to) = bounds(range, text.len());
        return Cow::Borrowed(text.get(from..to).unwrap_or_default());
    }
    let (from, to) = bounds(range, text.chars().count());
    Cow::Owned(text.chars().skip(from).take(to - from).collect())
}

fn trimmed<'t>(ends: Ends, text: &'t str, chars: &str) -> &'t str {
    let is_trimmed = |c: char| chars.contains(c);
    match ends {
        Ends::Left => text.trim_start_matches(is_trimmed),
        Ends::Right => text.trim_end_matches(is_trimmed),
        Ends::Both => text.trim_matches(is_trimmed),
    }
}

fn too_long<T>() -> std::result::Result<T, Failure> {
    invalid("the string is too long")
}

fn replaced(text: &str, search: &str, with: &str) -> std::result::Result<String, Failure> {
    if search.is_empty() {
        return Ok(text.to_owned());
    }
    let count = text.matches(search).count();
    if count.saturating_mul(with.len()).saturating_add(text.len()) > LONGEST {
        return too_long();
    }
    Ok(text.replace(search, with))
}

fn padded(end: Ends, text: &str, length: i64, pad: &str) -> std::result::Result<String, Failure> {
    let length = usize::try_from(length).unwrap_or_default();
    let count = text.chars().count();
    if count >= length || pad.is_empty() {
        return Ok(text.chars().take(length).collect());
    }
    if length.saturating_mul(4) > LONGEST {
        return too_long();
    }
    let padding = pad.chars().cycle().take(length - count);
    Ok(match end {
        Ends::Left => padding.chain(text.chars()).collect(),
        _ => text.chars().chain(padding).collect(),
    })
}

fn padded_bytes(end: Ends, bytes: &[u8], length: i64, pad: &[u8]) -> std::result::Result<Vec<u8>, Failure> {
    let length = usize::try_from(length).unwrap_or_default();
    if bytes.len() >= length || pad.is_empty() {
        return Ok(bytes.iter().take(length).copied().collect());
    }
    if length > LONGEST {
        return too_long();
    }
    let padding = pad.iter().cycle().take(length - bytes.len());
    Ok(match end {
        Ends::Left => padding.chain(bytes).copied().collect(),
        _ => bytes.iter().chain(padding).copied().collect(),
    })
}
