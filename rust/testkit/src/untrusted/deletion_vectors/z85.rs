//! Arbitrary strings as Z85, and arbitrary bytes as its input: encoding and decoding are inverse.

use deltaic_protocol::deletion_vector::z85;

use crate::untrusted::memory::{Bound, bounded};

/// Four bytes for five characters, or five for four, and an error message.
const BOUND: Bound = Bound {
    per_byte: 4,
    spare: 1024,
};

/// The digits in the order of the Z85 specification.
const DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let written = bounded(BOUND, bytes.len(), || z85::encode(bytes));
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    assert_eq!(naively(&written).as_ref(), Some(&padded));
    assert_eq!(z85::decode_sized(&written, bytes.len()).as_deref(), Ok(bytes));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let read = bounded(BOUND, text.len(), || z85::decode(text));
    assert_eq!(read.clone().ok(), naively(text), "{read:?}");
    let Ok(read) = read else { return };
    assert_eq!(z85::encode(&read), text);
    // With padding, the data may end at any of the last four bytes, and nowhere else.
    for size in read.len().saturating_sub(5)..=read.len() + 1 {
        let fits = size <= read.len() && read.len() - size < 4;
        let sized = z85::decode_sized(text, size);
        assert_eq!(sized.ok().as_deref(), read.get(..size).filter(|_| fits));
    }
}

/// An independent decoder: searches each character among the digits.
pub(super) fn naively(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u64>> = text
        .chars()
        .map(|digit| DIGITS.find(digit).and_then(|value| u64::try_from(value).ok()))
        .collect();
    let mut bytes = Vec::new();
    for group in digits?.chunks(5) {
        let [a, b, c, d, e] = group else { return None };
        let number = (((a * 85 + b) * 85 + c) * 85 + d) * 85 + e;
        bytes.extend(u32::try_from(number).ok()?.to_be_bytes());
    }
    Some(bytes)
}
