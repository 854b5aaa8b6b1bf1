//! Validates all bytes of a text at once, so that the scanner does not have to check each.

/// Whether a text can be scanned: it is UTF-8, without control characters, and the only backslashes are
/// those of quotes, each of which has one if the text is `ESCAPED`.
///
/// Many bytes are checked at once, which is faster than checking each.
pub(super) fn is_ordinary<const ESCAPED: bool>(text: &[u8]) -> bool {
    // The smallest and the largest byte, because a processor computes those of many bytes in one step.
    let (mut low, mut high, mut to_backslash) = (u8::MAX, 0, u8::MAX);
    for byte in text {
        low = low.min(*byte);
        high = high.max(*byte);
        to_backslash = to_backslash.min(*byte ^ b'\\');
    }
    low >= 0x20
        && (if ESCAPED {
            are_quotes_escaped(text)
        } else {
            to_backslash > 0
        })
        && (high.is_ascii() || std::str::from_utf8(text).is_ok())
}

/// Whether there are as many backslashes as quotes.
fn are_quotes_escaped(text: &[u8]) -> bool {
    count(text, b'"') == count(text, b'\\')
}

fn count(text: &[u8], wanted: u8) -> usize {
    // A byte can count 240 of them, and many such bytes are added in one step.
    let in_part = |part: &[u8]| part.iter().fold(0u8, |sum, byte| sum + u8::from(*byte == wanted));
    text.chunks(240).map(|part| usize::from(in_part(part))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_ordinary_is_distinguished_from_the_rest(text in "[ -~é🚋]{0,600}", at in 0..600usize, more in proptest::sample::select(vec!["\\", "\"", "\n", "\0", "x", "é"])) {
            let text = text.replace(['"', '\\'], "");
            let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            let (before, after) = text.split_at(at);
            let with = |more: &str| format!("{before}{more}{after}");
            let plain = is_ordinary::<false>(with(more).as_bytes());
            proptest::prop_assert_eq!(plain, matches!(more, "\"" | "x" | "é"));
            let escaped = is_ordinary::<true>(with(more).as_bytes());
            proptest::prop_assert_eq!(escaped, matches!(more, "x" | "é"));
            proptest::prop_assert!(is_ordinary::<true>(with("\\\"").as_bytes()));
            let torn = [before.as_bytes(), b"\xFF", after.as_bytes()].concat();
            proptest::prop_assert!(!is_ordinary::<false>(&torn));
        }
    }
}
