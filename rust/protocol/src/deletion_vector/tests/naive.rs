//! A reference implementation of the decoder: number by number, from the text of the specification, into
//! a sorted list.
//!
//! The tests with untrusted bytes in `rust/testkit` use it too.

use std::ops::RangeInclusive;

/// The positions of a deletion vector in ascending order, as single values or runs; `None` if the bytes
/// are invalid.
pub(super) fn ranges(bytes: &[u8]) -> Option<Vec<RangeInclusive<u64>>> {
    let mut at = 4;
    let mut found = Vec::new();
    match bytes.get(..4)? {
        // 1681511377, the 64-bit portable format.
        [0xd1, 0xd3, 0x39, 0x64] => {
            let buckets = little(bytes, &mut at, 8)?;
            let mut before = None;
            for _ in 0..buckets {
                let key = little(bytes, &mut at, 4)?;
                if key >= 1 << 31 || before >= Some(key) {
                    return None;
                }
                before = Some(key);
                bitmap(bytes, &mut at, key << 32, &mut found)?;
            }
        }
        // 1681511376, in either byte order.
        [0xd0, 0xd3, 0x39, 0x64] => native(bytes, &mut at, little, &mut found)?,
        [0x64, 0x39, 0xd3, 0xd0] => native(bytes, &mut at, big, &mut found)?,
        _ => return None,
    }
    (at == bytes.len()).then_some(found)
}

fn native(
    bytes: &[u8],
    at: &mut usize,
    number: fn(&[u8], &mut usize, usize) -> Option<u64>,
    found: &mut Vec<RangeInclusive<u64>>,
) -> Option<()> {
    let buckets = number(bytes, at, 4)?;
    for key in 0..buckets {
        let size = number(bytes, at, 4)?;
        let start = *at;
        bitmap(bytes, at, key << 32, found)?;
        if (*at - start) as u64 != size {
            return None;
        }
    }
    Some(())
}

fn little(bytes: &[u8], at: &mut usize, count: usize) -> Option<u64> {
    let mut number = 0;
    for place in 0..count {
        number += u64::from(*bytes.get(*at)?) << (8 * place);
        *at += 1;
    }
    Some(number)
}

fn big(bytes: &[u8], at: &mut usize, count: usize) -> Option<u64> {
    let mut number = 0;
    for _ in 0..count {
        number = number << 8 | u64::from(*bytes.get(*at)?);
        *at += 1;
    }
    Some(number)
}

fn bitmap(bytes: &[u8], at: &mut usize, base: u64, found: &mut Vec<RangeInclusive<u64>>) -> Option<()> {
    let start = *at;
    let cookie = little(bytes, at, 4)?;
    let mut is_run = Vec::new();
    let count;
    if cookie == 12346 {
        count = little(bytes, at, 4)?;
        if count > 65536 {
            return None;
        }
        is_run = vec![false; count as usize];
    } else if cookie % 65536 == 12347 {
        count = cookie / 65536 + 1;
        for _ in 0..count.div_ceil(8) {
            let flags = little(bytes, at, 1)?;
            is_run.extend((0..8).map(|bit| flags & (1 << bit) != 0));
        }
    } else {
        return None;
    }
    let mut heads = Vec::new();
    for _ in 0..count {
        heads.push((little(bytes, at, 2)?, little(bytes, at, 2)? + 1));
    }
    let mut starts = Vec::new();
    if cookie == 12346 || count >= 4 {
        for _ in 0..count {
            starts.push(little(bytes, at, 4)?);
        }
    }
    let mut before = None;
    for (index, (key, cardinality)) in heads.into_iter().enumerate() {
        if before >= Some(key) {
            return None;
        }
        before = Some(key);
        if starts
            .get(index)
            .is_some_and(|stated| *stated != (*at - start) as u64)
        {
            return None;
        }
        let mut values: Vec<RangeInclusive<u64>> = Vec::new();
        if is_run[index] {
            for _ in 0..little(bytes, at, 2)? {
                let (first, more) = (little(bytes, at, 2)?, little(bytes, at, 2)?);
                values.push(first..=first + more);
            }
        } else if cardinality <= 4096 {
            for _ in 0..cardinality {
                let value = little(bytes, at, 2)?;
                values.push(value..=value);
            }
        } else {
            for byte in 0..8192 {
                let bits = little(bytes, at, 1)?;
                values.extend(
                    (0..8)
                        .filter(|bit| bits & (1 << bit) != 0)
                        .map(|bit| byte * 8 + bit..=byte * 8 + bit),
                );
            }
        }
        let ascend = values.windows(2).all(|pair| pair[0].end() < pair[1].start());
        let count: u64 = values.iter().map(|run| run.end() - run.start() + 1).sum();
        if !ascend || count != cardinality || values.last().is_some_and(|last| *last.end() > 65535) {
            return None;
        }
        let base = base + key * 65536;
        found.extend(
            values
                .into_iter()
                .map(|run| base + run.start()..=base + run.end()),
        );
    }
    Some(())
}
