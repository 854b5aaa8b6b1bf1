//! The text of decimals.

/// The unscaled value of decimal text, also with an exponent; `None` if it does not fit exactly.
pub(in crate::expr) fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + fraction.len() == 0
        || !whole
            .bytes()
            .chain(fraction.bytes())
            .all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let joined = format!("{whole}{fraction}");
    let significant = joined.trim_start_matches('0');
    // Number of zeros to append to reach the scale; if negative, zeros must be removed.
    let shift = i32::from(scale)
        .checked_add(exponent)?
        .checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let unscaled: i128 = if significant.is_empty() {
        0
    } else if shift >= 0 {
        let shift = u32::try_from(shift).ok()?;
        let number: i128 = if significant.len() > 38 {
            return None;
        } else {
            significant.parse().ok()?
        };
        number.checked_mul(10i128.checked_pow(shift)?)?
    } else {
        let drop = usize::try_from(-i64::from(shift)).ok()?;
        let keep = significant.len().checked_sub(drop)?;
        let (kept, dropped) = significant.split_at_checked(keep)?;
        if kept.len() > 38 || dropped.bytes().any(|byte| byte != b'0') {
            return None;
        }
        if kept.is_empty() { 0 } else { kept.parse().ok()? }
    };
    (unscaled < 10i128.checked_pow(u32::from(precision))?).then_some(if negative {
        -unscaled
    } else {
        unscaled
    })
}

/// A decimal in plain notation.
#[must_use]
pub(in crate::expr) fn format_decimal(unscaled: i128, scale: u8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = unscaled.unsigned_abs().to_string();
    let scale = usize::from(scale);
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_or_refused() {
        for (text, expected) in [
            ("1.50", Some(150)),
            ("1.5E0", Some(150)),
            ("15E-1", Some(150)),
            ("-0.01", Some(-1)),
            ("1.500", Some(150)),
            ("1.501", None),
            ("1E-3", None),
            ("0E-30", Some(0)),
            ("99999999.99", Some(9_999_999_999)),
            ("100000000", None),
            ("", None),
            (".", None),
            ("1e999999999999", None),
            ("NaN", None),
        ] {
            assert_eq!(parse_decimal(text, 10, 2), expected, "{text}");
        }
    }
}
