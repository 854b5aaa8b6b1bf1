//! Parses the text of numbers, strings and bytes.

use crate::expr::Scalar;
use crate::expr::literal::decimal_text::parse_decimal;

/// Resolves the escapes of a string; `None` if one is an unpaired surrogate.
pub(super) fn unescape(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return Some(text.to_owned());
    }
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        found.push_str(rest.get(..at)?);
        rest = rest.get(at + 1..)?;
        let Some(first) = rest.chars().next() else {
            found.push('\\');
            break;
        };
        if let Some((c, length)) = coded(rest)? {
            found.push(c);
            rest = rest.get(length..)?;
            continue;
        }
        match first {
            '0' => found.push('\0'),
            'b' => found.push('\u{8}'),
            'n' => found.push('\n'),
            'r' => found.push('\r'),
            't' => found.push('\t'),
            'Z' => found.push('\u{1A}'),
            // Remains escaped for patterns.
            '%' | '_' => found.extend(['\\', first]),
            other => found.push(other),
        }
        rest = rest.get(first.len_utf8()..)?;
    }
    found.push_str(rest);
    Some(found)
}

/// A character by its code, `u` and four hexadecimal digits, `U` and eight, or three octal ones, and the
/// length of the escape; `u` escapes may be a surrogate pair.
fn coded(rest: &str) -> Option<Option<(char, usize)>> {
    let hex = |from: usize, length: usize| {
        let digits = rest.get(from..from + length)?;
        let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    if rest.starts_with('u')
        && let Some(unit) = hex(1, 4)
    {
        if let Some(c) = char::from_u32(unit) {
            return Some(Some((c, 5)));
        }
        let second = rest
            .get(5..7)
            .filter(|between| *between == "\\u")
            .and_then(|_| hex(7, 4));
        let pair = [u16::try_from(unit).ok()?, u16::try_from(second?).ok()?];
        let c = char::decode_utf16(pair).next()?.ok()?;
        return Some(Some((c, 11)));
    }
    if rest.starts_with('U')
        && let Some(number) = hex(1, 8)
    {
        return Some(Some((char::from_u32(number)?, 9)));
    }
    if let [first @ b'0'..=b'1', second @ b'0'..=b'7', third @ b'0'..=b'7', ..] = rest.as_bytes() {
        let number = (first - b'0') * 64 + (second - b'0') * 8 + (third - b'0');
        return Some(Some((char::from(number), 3)));
    }
    Some(None)
}

/// Parses hexadecimal digits; a missing first digit is 0.
pub(super) fn unhex(digits: &str) -> Option<Vec<u8>> {
    let padded = if digits.len() % 2 == 1 {
        format!("0{digits}")
    } else {
        digits.to_owned()
    };
    let byte = |pair: &[u8]| {
        let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
        u8::try_from(digit(0)? * 16 + digit(1)?).ok()
    };
    padded.as_bytes().chunks(2).map(byte).collect()
}

/// A number of the type that its spelling specifies, with its sign; `None` if it is out of range.
pub(super) fn number(digits: &str, suffix: &str) -> Option<Scalar> {
    Some(match suffix {
        "Y" => Scalar::Byte(digits.parse().ok()?),
        "S" => Scalar::Short(digits.parse().ok()?),
        "L" => Scalar::Long(digits.parse().ok()?),
        "F" => Scalar::Float(digits.parse().ok().filter(|value: &f32| value.is_finite())?),
        "D" => double(digits)?,
        "BD" => decimal(digits)?,
        _ if digits.contains(['e', 'E']) => double(digits)?,
        _ if digits.contains('.') => decimal(digits)?,
        _ => match (digits.parse::<i32>(), digits.parse::<i64>()) {
            (Ok(value), _) => Scalar::Integer(value),
            (_, Ok(value)) => Scalar::Long(value),
            _ => decimal(digits)?,
        },
    })
}

fn double(digits: &str) -> Option<Scalar> {
    let value: f64 = digits.parse().ok()?;
    value.is_finite().then_some(Scalar::Double(value))
}

/// A decimal with the precision and scale of its text.
fn decimal(text: &str) -> Option<Scalar> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = i64::try_from(fraction).ok()?.checked_sub(exponent)?.max(0);
    let scale = u8::try_from(scale).ok().filter(|scale| *scale <= 38)?;
    let unscaled = parse_decimal(text, 38, scale)?;
    let count = u8::try_from(unscaled.unsigned_abs().to_string().len()).ok()?;
    Some(Scalar::Decimal {
        unscaled,
        precision: count.max(scale).max(1),
        scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_sparks() {
        for (text, expected) in [
            (r"a\nb\t\\\'", Some("a\nb\t\\'")),
            (r"\u0041\101\%\_\Z\q\0", Some("AA\\%\\_\u{1A}q\0")),
            (r"\uD83D\uDE00\U0001F600", Some("😀😀")),
            (r"\u00", Some("u00")),
            (r"\uD83D", None),
            (r"\UFFFFFFFF", None),
            (r"é\é", Some("éé")),
        ] {
            assert_eq!(unescape(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_have_the_type_of_their_spelling() {
        let decimal = |unscaled, precision, scale| {
            Some(Scalar::Decimal {
                unscaled,
                precision,
                scale,
            })
        };
        for (digits, suffix, expected) in [
            ("5", "", Some(Scalar::Integer(5))),
            ("-2147483648", "", Some(Scalar::Integer(i32::MIN))),
            ("2147483648", "", Some(Scalar::Long(2_147_483_648))),
            (
                "9223372036854775808",
                "",
                decimal(9_223_372_036_854_775_808, 19, 0),
            ),
            ("-128", "Y", Some(Scalar::Byte(-128))),
            ("128", "Y", None),
            ("1.50", "", decimal(150, 3, 2)),
            ("0.05", "", decimal(5, 2, 2)),
            ("0.0", "", decimal(0, 1, 1)),
            ("1.", "", decimal(1, 1, 0)),
            ("1e2", "BD", decimal(100, 3, 0)),
            ("1e2", "", Some(Scalar::Double(100.0))),
            ("1e400", "D", None),
            ("1e39", "F", None),
        ] {
            assert_eq!(number(digits, suffix), expected, "{digits}{suffix}");
        }
    }
}
