//! Eight bytes of a text in one word, the first one lowest: searches for bytes and converts digits.

pub(super) const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The powers of ten for the digits of two words.
pub(super) const POWERS_OF_TEN: [u64; 16] = {
    let mut powers = [1; 16];
    let mut at = 1;
    while at < 16 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// The word of fewer than eight bytes, padded with zeros; `None` for no bytes.
#[inline(never)]
pub(super) fn last_word(rest: &[u8]) -> Option<u64> {
    let word = rest
        .iter()
        .rev()
        .fold(0, |word, byte| (word << 8) | u64::from(*byte));
    (!rest.is_empty()).then_some(word)
}

/// Marks the bytes that equal `byte`: the lowest mark is correct, higher ones may not be.
#[inline]
pub(super) fn equal_to(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// Marks the bytes below `limit`, at most 128: the lowest mark is correct, higher ones may not be.
#[inline]
pub(super) fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGHS
}

/// Marks the bytes above nine, after `0` was subtracted from characters: the lowest mark is correct.
#[inline]
pub(super) fn above_nine(word: u64) -> u64 {
    (word.wrapping_add(ONES * 0x76) | word) & HIGHS
}

/// The position of the first mark; eight if there is none.
#[inline]
pub(super) fn first_byte(marks: u64) -> usize {
    // At most eight.
    (marks.trailing_zeros() / 8) as usize
}

/// The number that eight digit values form, the first one in the lowest byte.
#[inline]
pub(super) fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let even = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(100 + (1_000_000 << 32));
    let odd = ((pairs >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(1 + (10_000 << 32));
    even.wrapping_add(odd) >> 32
}
