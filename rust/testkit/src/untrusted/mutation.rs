//! Random, reproducible mutations of bytes.

use std::ops::Range;

/// A deterministic random number generator (xorshift with a final multiplication).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// A generator with this seed.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        // Zero would remain zero.
        Self(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        // The upper bits are more random.
        usize::try_from((self.next() >> 11) % end).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        among.get(self.below(among.len()))
    }
}

/// Boundary values of integer types.
const EDGES: [i64; 16] = [
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    32_767,
    65_535,
    65_536,
    2_147_483_647,
    -2_147_483_648,
    4_294_967_295,
    1_000_000_000_000_000_000,
    i64::MAX,
    i64::MIN,
];

/// The input of mutations.
#[derive(Debug)]
pub struct Material<'a> {
    /// Seeds; at least one.
    pub seeds: &'a [Vec<u8>],
    /// Words to insert.
    pub words: &'a [Vec<u8>],
    /// Maximum length of the result.
    pub most_bytes: usize,
}

impl Material<'_> {
    /// One of the seeds with one to four mutations, mostly few: too many make the input meaningless.
    #[must_use]
    pub fn changed(&self, chance: &mut Chance) -> Vec<u8> {
        let mut bytes = chance.pick(self.seeds).cloned().unwrap_or_default();
        let most = 1 + chance.below(4);
        for _ in 0..=chance.below(most) {
            self.change(&mut bytes, chance);
        }
        bytes.truncate(self.most_bytes);
        bytes
    }

    fn change(&self, bytes: &mut Vec<u8>, chance: &mut Chance) {
        let at = chance.below(bytes.len() + 1);
        // Mostly small parts are removed or duplicated, so that the rest remains meaningful.
        let most = if chance.below(8) == 0 { bytes.len() } else { 16 };
        let end = (at + chance.below(most + 1)).min(bytes.len());
        match chance.below(20) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
            }
            2 | 3 => {
                if let (Some(byte), Ok(any)) = (bytes.get_mut(at), u8::try_from(chance.below(256))) {
                    *byte = any;
                }
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let again = bytes.get(at..end).map(<[u8]>::to_vec).unwrap_or_default();
                bytes.splice(at..at, again);
            }
            6 => bytes.truncate(at),
            7 => {
                // The head of this seed and the tail of another.
                if let Some(other) = chance.pick(self.seeds) {
                    let from = chance.below(other.len() + 1);
                    bytes.truncate(at);
                    bytes.extend_from_slice(other.get(from..).unwrap_or_default());
                }
            }
            8..=10 => self.put_number(bytes, at, chance),
            11..=13 => {
                // Replaces a name or a number by another.
                let word = chance.pick(self.words).cloned().unwrap_or_default();
                let other = chance.pick(self.seeds).map(|other| {
                    let run = run_at(other, chance.below(other.len() + 1));
                    other.get(run).map(<[u8]>::to_vec).unwrap_or_default()
                });
                let put = if chance.below(3) == 0 {
                    word
                } else {
                    other.unwrap_or_default()
                };
                bytes.splice(run_at(bytes, at), put);
            }
            14 | 15 => {
                // Duplicates or removes an element between commas.
                let part = part_at(bytes, at);
                let again = bytes.get(part.clone()).map(<[u8]>::to_vec).unwrap_or_default();
                if chance.below(2) == 0 {
                    bytes.splice(part, []);
                } else {
                    bytes.splice(part.start..part.start, again);
                }
            }
            _ => {
                if let Some(word) = chance.pick(self.words) {
                    let end = if chance.below(2) == 0 { at } else { end };
                    bytes.splice(at..end, word.iter().copied());
                }
            }
        }
    }

    /// A boundary value: in place of digits, or as binary.
    fn put_number(&self, bytes: &mut Vec<u8>, at: usize, chance: &mut Chance) {
        let Some(number) = chance.pick(&EDGES).copied() else {
            return;
        };
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let digits = |from: usize| bytes.iter().skip(from).position(is_digit).map(|step| from + step);
        if let Some(start) = digits(at).filter(|_| chance.below(2) == 0) {
            let length = bytes.iter().skip(start).take_while(|byte| is_digit(byte)).count();
            bytes.splice(start..start + length, number.to_string().into_bytes());
            return;
        }
        let width = 1 << chance.below(4);
        let end = (at + width).min(bytes.len());
        bytes.splice(at..end, number.to_le_bytes().into_iter().take(width));
    }
}

/// The name around a position: letters, digits and punctuation of names.
fn run_at(bytes: &[u8], at: usize) -> Range<usize> {
    let is_of_a_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let (before, behind) = bytes.split_at(at.min(bytes.len()));
    let start = before.len() - before.iter().rev().take_while(|byte| is_of_a_name(byte)).count();
    start..before.len() + behind.iter().take_while(|byte| is_of_a_name(byte)).count()
}

/// The element around a position, including the next comma or line end.
fn part_at(bytes: &[u8], at: usize) -> Range<usize> {
    let is_end = |byte: &u8| b",\n".contains(byte);
    let (before, behind) = bytes.split_at(at.min(bytes.len()));
    let start = before.iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = behind.iter().position(is_end).map_or(behind.len(), |end| end + 1);
    start..before.len() + end
}
