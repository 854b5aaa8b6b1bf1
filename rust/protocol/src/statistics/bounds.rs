//! Truncates strings in statistics so that they remain bounds.
//!
//! Protocol: *Per-file Statistics*.

/// Default maximum number of characters of strings in statistics.
pub const STRING_PREFIX: usize = 32;

/// The minimum of a string in statistics: its first `prefix` characters.
///
/// ```
/// use deltaic_protocol::statistics::lower_bound;
/// assert_eq!(lower_bound("short", 32), "short");
/// assert_eq!(lower_bound(&"x".repeat(40), 32).len(), 32);
/// ```
#[must_use]
pub fn lower_bound(text: &str, prefix: usize) -> &str {
    match text.char_indices().nth(prefix) {
        Some((cut, _)) => text.get(..cut).unwrap_or(text),
        None => text,
    }
}

/// The maximum of a string in statistics: its first `prefix` characters and a character above any
/// truncated suffix. `None` if there is no such string.
///
/// ```
/// use deltaic_protocol::statistics::upper_bound;
/// assert_eq!(upper_bound("short", 32).as_deref(), Some("short"));
/// assert!(upper_bound(&"x".repeat(40), 32).is_some_and(|bound| bound > "x".repeat(40)));
/// ```
#[must_use]
pub fn upper_bound(text: &str, prefix: usize) -> Option<String> {
    let kept = lower_bound(text, prefix);
    let Some(next) = text.get(kept.len()..).and_then(|rest| rest.chars().next()) else {
        return Some(kept.to_owned());
    };
    match next {
        '\u{10FFFF}' => None,
        // U+007F is above the next character only if that is another ASCII character.
        '\0'..'\u{7F}' => Some(format!("{kept}\u{7F}")),
        _ => Some(format!("{kept}\u{10FFFF}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn bounds_hold(
            text in "\\PC{0,60}|[a-z\u{7F}-\u{80}\u{FFFF}-\u{10FFFF}]{0,60}",
            prefix in proptest::prop_oneof![proptest::strategy::Just(STRING_PREFIX), 0usize..70],
        ) {
            proptest::prop_assert!(lower_bound(&text, prefix) <= text.as_str());
            if let Some(bound) = upper_bound(&text, prefix) {
                proptest::prop_assert!(bound.as_str() >= text.as_str());
                proptest::prop_assert!(bound.chars().count() <= prefix + 1);
            }
        }
    }
}
