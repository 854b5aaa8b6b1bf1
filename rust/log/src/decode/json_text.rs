//! Finds the end of a JSON string, many bytes at a time.
//!
//! Each chunk of fixed size is reduced to one result, which compilers vectorize; only the chunk with the end,
//! or with a rare byte, is scanned byte by byte.

/// Bytes per chunk.
const CHUNK: usize = 32;

/// Returns the position of the quote that ends a string without escapes, whose text starts at `start`. `None`
/// if it contains an escape or a control character, or does not end.
///
/// The caller must validate UTF-8.
pub(super) fn plain_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
        let mut stop = false;
        for byte in chunk {
            stop |= is_special(*byte);
        }
        if stop {
            break;
        }
        at += CHUNK;
    }
    let rest = bytes.get(at..)?;
    let found = at + rest.iter().position(|byte| is_special(*byte))?;
    (bytes.get(found) == Some(&b'"')).then_some(found)
}

fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Returns the position of the quote that ends a string with escapes, and whether all of it is ASCII. `None`
/// for an invalid escape or a control character, or if the string does not end.
pub(super) fn escaped_end(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    let mut at = start;
    let mut high = 0u8;
    loop {
        // JSON within a string mostly has escaped quotes and no other escapes: if each quote in a chunk
        // follows a backslash and vice versa, the chunk contains neither the end nor another escape. A
        // backslash just before the chunk would be the second of a pair, which the bytewise loop below always
        // consumes.
        if let Some(window) = at
            .checked_sub(1)
            .and_then(|before| bytes.get(before..)?.first_chunk::<{ CHUNK + 1 }>())
            && window.first() != Some(&b'\\')
        {
            let (before, here) = (window.first_chunk::<CHUNK>(), window.last_chunk::<CHUNK>());
            if let (Some(before), Some(here)) = (before, here) {
                let mut rare = false;
                let mut any_high = 0u8;
                for (before, here) in before.iter().zip(here) {
                    rare |= ((*before == b'\\') ^ (*here == b'"')) | (*here < 0x20);
                    any_high |= here;
                }
                if !rare {
                    high |= any_high;
                    at += CHUNK;
                    // A backslash at the end of the chunk belongs to the quote after it.
                    if here.last() == Some(&b'\\') {
                        if bytes.get(at) != Some(&b'"') {
                            at -= 1;
                            at = escape_end(bytes, at)?;
                        } else {
                            at += 1;
                        }
                    }
                    continue;
                }
            }
        }
        // Scan some bytes one by one, then try chunks again.
        for _ in 0..CHUNK {
            match *bytes.get(at)? {
                b'"' => return Some((at, high < 0x80)),
                b'\\' => at = escape_end(bytes, at)?,
                byte if byte < 0x20 => return None,
                byte => {
                    high |= byte;
                    at += 1;
                }
            }
        }
    }
}

/// Returns the position after the escape whose backslash is at `at`.
fn escape_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => bytes
            .get(at + 2..at + 6)?
            .iter()
            .all(u8::is_ascii_hexdigit)
            .then_some(at + 6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytewise reference implementation.
    fn slow_end(bytes: &[u8]) -> Option<(usize, bool)> {
        let mut at = 0;
        let mut ascii = true;
        loop {
            match *bytes.get(at)? {
                b'"' => return Some((at, ascii)),
                b'\\' => at = escape_end(bytes, at)?,
                byte if byte < 0x20 => return None,
                byte => {
                    ascii &= byte < 0x80;
                    at += 1;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn the_end_is_where_byte_by_byte_finds_it(
            parts in prop::collection::vec(prop_oneof![
                8 => "[a-z:,{}0-9.]{0,40}",
                6 => Just("\\\"".to_owned()),
                1 => Just("\\\\".to_owned()),
                1 => Just("\\".to_owned()),
                1 => Just("\\u00e9".to_owned()),
                1 => Just("\\n".to_owned()),
                1 => Just("\u{e9}\u{1F600}".to_owned()),
                1 => Just("\"".to_owned()),
                1 => Just("\n".to_owned()),
            ], 0..60),
        ) {
            let text = parts.concat();
            let bytes = text.as_bytes();
            prop_assert_eq!(escaped_end(bytes, 0), slow_end(bytes));
            let plain = bytes.iter().position(|byte| is_special(*byte)).filter(|at| bytes[*at] == b'"');
            prop_assert_eq!(plain_end(bytes, 0), plain);
        }
    }
}
