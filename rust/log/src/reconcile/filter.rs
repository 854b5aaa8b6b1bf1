//! Filter that skips most lookups: a bitmap over the lowest bits of a hash.

/// A bitmap over the lowest bits of a hash: it rejects most unknown keys with one lookup in a few kilobytes.
#[derive(Debug)]
pub(super) struct Filter(Box<[u64; Filter::WORDS]>);

impl Default for Filter {
    fn default() -> Self {
        Self(Box::new([0; Self::WORDS]))
    }
}

impl Filter {
    const WORDS: usize = 1 << 10;

    fn place(hash: u32) -> (usize, u64) {
        let bit = usize::try_from(hash).unwrap_or(0) % (Self::WORDS * 64);
        (bit / 64, 1 << (bit % 64))
    }

    /// Adds a hash.
    pub(super) fn insert(&mut self, hash: u32) {
        let (word, bit) = Self::place(hash);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    /// Returns false only for a hash that was not added.
    pub(super) fn may_hold(&self, hash: u32) -> bool {
        let (word, bit) = Self::place(hash);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Returns a hash for the table, which derives the position from the low bits and the tag from the high ones.
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Every added hash is found, and any other is rejected unless its 16 lowest bits are those of an added
    /// one.
    #[test]
    fn strangers_are_left_alone() {
        let mut filter = Filter::default();
        let known: Vec<u32> = (0..1000)
            .map(|number: u32| number.wrapping_mul(2_654_435_761))
            .collect();
        for hash in &known {
            filter.insert(*hash);
        }
        let low: HashSet<u32> = known.iter().map(|hash| hash & 0xFFFF).collect();
        for hash in (0..=0xFFFF).chain(known) {
            assert_eq!(filter.may_hold(hash), low.contains(&(hash & 0xFFFF)), "{hash}");
        }
    }

    /// Consecutive hashes differ in their tags, and so do hashes with the same low bits, so that lookups
    /// compare few entries.
    #[test]
    fn hashes_are_spread_over_all_bits() {
        let tags = |hashes: &[u32]| {
            hashes
                .iter()
                .map(|hash| spread(*hash) >> 57)
                .collect::<HashSet<_>>()
        };
        let neighbours: Vec<u32> = (0..1000).collect();
        let same_end: Vec<u32> = (0..1000).map(|number| number << 20).collect();
        assert!(tags(&neighbours).len() > 100, "{:?}", tags(&neighbours));
        assert!(tags(&same_end).len() > 20, "{:?}", tags(&same_end));
        let distinct: HashSet<u64> = neighbours.iter().map(|hash| spread(*hash)).collect();
        assert_eq!(distinct.len(), neighbours.len());
    }
}
