//! How each known writer formats the bounds of a column in statistics.

use super::values::{Chance, order};
use crate::expr::{Scalar, format_date, format_timestamp};
use crate::statistics::{STRING_PREFIX, lower_bound, upper_bound};

/// The writer of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// Truncates to code points and appends a tie-breaker character.
    DeltaSpark,
    /// Truncates to UTF-16 units and uses U+FFFD as the tie-breaker character.
    DeltaSparkOld,
    /// Truncates without a tie-breaker character.
    CutInCodePoints,
    /// Truncates UTF-16 without a tie-breaker character.
    CutInUtf16,
    /// Copied from Parquet footers: strings of 64 bytes, doubles for decimals, timestamps in
    /// microseconds, no NaN.
    DeltaRs,
    /// Copied from Parquet footers: complete strings, timestamps truncated to milliseconds, no NaN.
    KernelJava,
}

pub(super) const WRITERS: [Writer; 6] = [
    Writer::DeltaSpark,
    Writer::DeltaSparkOld,
    Writer::CutInCodePoints,
    Writer::CutInUtf16,
    Writer::DeltaRs,
    Writer::KernelJava,
];

/// The zones of a writer: the seconds of the offset and its text, before and after a timestamp in
/// microseconds.
type Offset = (i64, &'static str);
const ZONES: [(Offset, i64, Offset); 4] = [
    ((0, "Z"), 0, (0, "Z")),
    ((19_800, "+05:30"), 0, (19_800, "+05:30")),
    ((-28_378, "-07:52"), -2_717_650_800_000_000, (-28_800, "-08:00")),
    ((-2_670, "-00:44"), 63_593_070_000_000, (0, "Z")),
];

/// The minimum and maximum of a column in JSON; `None` if the writer omits them.
pub(super) fn bounds(writer: Writer, values: &[Option<Scalar>], chance: &mut Chance) -> [Option<String>; 2] {
    let of_footer = matches!(writer, Writer::DeltaRs | Writer::KernelJava);
    let counts = |value: &&Scalar| match value {
        Scalar::Float(value) => !of_footer || !value.is_nan(),
        Scalar::Double(value) => !of_footer || !value.is_nan(),
        Scalar::Boolean(_) | Scalar::Binary(_) => writer == Writer::DeltaRs,
        _ => true,
    };
    let known = || values.iter().flatten().filter(counts);
    let zone = chance.below(ZONES.len());
    let mut spelled = |value: Option<&Scalar>, is_max| spell(writer, value?, is_max, zone, chance);
    [
        spelled(known().min_by(|a, b| order(a, b)), false),
        spelled(known().max_by(|a, b| order(a, b)), true),
    ]
}

fn spell(writer: Writer, value: &Scalar, is_max: bool, zone: usize, chance: &mut Chance) -> Option<String> {
    Some(match value {
        Scalar::String(text) => quoted(&cut(writer, text, is_max)?),
        Scalar::Binary(bytes) => quoted(&bytes.escape_ascii().to_string()),
        Scalar::Date(days) => quoted(&format_date(*days)?),
        Scalar::Timestamp(micros) if writer == Writer::DeltaRs => {
            quoted(&(format_timestamp(*micros, 'T')? + "Z"))
        }
        Scalar::Timestamp(micros) => {
            let (before, until, from) = ZONES[zone];
            let (seconds, offset) = if *micros < until { before } else { from };
            quoted(&format!(
                "{}{offset}",
                milliseconds(micros + seconds * 1_000_000)?
            ))
        }
        Scalar::TimestampNtz(micros) if writer == Writer::DeltaRs => {
            quoted(&(format_timestamp(*micros, 'T')? + "Z"))
        }
        Scalar::TimestampNtz(micros) => quoted(&milliseconds(*micros)?),
        // JSON cannot represent them, and one writer omits them.
        Scalar::Float(value) if !value.is_finite() && writer == Writer::DeltaRs => "null".to_owned(),
        Scalar::Double(value) if !value.is_finite() && writer == Writer::DeltaRs => "null".to_owned(),
        Scalar::Float(value) if !value.is_finite() => not_finite(f64::from(*value)),
        Scalar::Double(value) if !value.is_finite() => not_finite(*value),
        Scalar::Float(value) if writer == Writer::DeltaRs => format!("{:?}", f64::from(*value)),
        Scalar::Float(_) | Scalar::Double(_) => value.to_partition_text()?,
        Scalar::Decimal {
            unscaled,
            precision,
            scale,
        } => match writer {
            Writer::DeltaRs => through_a_double(*unscaled, *precision, *scale),
            _ if chance.percent(50) => format!("{unscaled}E-{scale}"),
            _ => value.to_partition_text()?,
        },
        other => other.to_partition_text()?,
    })
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn not_finite(value: f64) -> String {
    quoted(&value.to_string().replace("inf", "Infinity"))
}

fn milliseconds(micros: i64) -> Option<String> {
    let text = format_timestamp(micros.div_euclid(1_000) * 1_000, 'T')?;
    Some(match text.split_once('.') {
        Some((seconds, fraction)) => format!("{seconds}.{}", fraction.get(..3)?),
        None => text + ".000",
    })
}

/// The decimal of one writer: rounded three times, and decreased if it is too large.
fn through_a_double(unscaled: i128, precision: u8, scale: u8) -> String {
    let mut value = unscaled as f64 / 10f64.powi(i32::from(scale));
    if value.is_normal() && (value.trunc() as i128).to_string().len() > usize::from(precision - scale) {
        value = f64::from_bits(value.to_bits() - 1);
    }
    serde_json::to_string(&value).unwrap()
}

fn cut(writer: Writer, text: &str, is_max: bool) -> Option<String> {
    match (writer, is_max) {
        (Writer::DeltaSpark, true) => upper_bound(text, STRING_PREFIX),
        (Writer::DeltaSpark | Writer::CutInCodePoints, _) => {
            Some(lower_bound(text, STRING_PREFIX).to_owned())
        }
        (Writer::CutInUtf16 | Writer::DeltaSparkOld, false) | (Writer::CutInUtf16, true) => {
            Some(of_utf16(text.encode_utf16().take(STRING_PREFIX)))
        }
        (Writer::DeltaSparkOld, true) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            let Some((kept, rest)) = units
                .split_at_checked(STRING_PREFIX)
                .filter(|(_, rest)| !rest.is_empty())
            else {
                return Some(text.to_owned());
            };
            let more = rest.iter().take_while(|unit| **unit >= 0xFFFD).copied();
            Some(of_utf16(kept.iter().copied().chain(more).chain([0xFFFD])))
        }
        (Writer::DeltaRs, false) => Some(in_bytes(text).to_owned()),
        (Writer::DeltaRs, true) if in_bytes(text) == text => Some(text.to_owned()),
        (Writer::DeltaRs, true) => above(in_bytes(text)),
        (Writer::KernelJava, _) => Some(text.to_owned()),
    }
}

/// Java writes an unpaired surrogate as a question mark.
fn of_utf16(units: impl Iterator<Item = u16>) -> String {
    char::decode_utf16(units).map(|one| one.unwrap_or('?')).collect()
}

/// At most 64 bytes of a string.
fn in_bytes(text: &str) -> &str {
    let end = (0..=text.len().min(64))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap();
    text.get(..end).unwrap()
}

/// The next string with at most as many bytes, whose last character is replaced by a larger one of the
/// same length.
fn above(text: &str) -> Option<String> {
    let (at, last) = text.char_indices().last()?;
    let next = char::from_u32(u32::from(last) + 1).filter(|next| next.len_utf8() == last.len_utf8());
    match next {
        Some(next) => Some(format!("{}{next}", text.get(..at)?)),
        None => above(text.get(..at)?),
    }
}
