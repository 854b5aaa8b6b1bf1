//! A 32-bit Roaring bitmap of a deletion vector, validated byte by byte before it is decoded.
//!
//! Protocol: *Deletion Vector Format*, which refers to the RoaringBitmap specification: a cookie, the key
//! and cardinality of each container, the offset of each container, and the containers.
//!
//! Every header must agree with the containers, since readers differ in which header they use. An invalid
//! bitmap never reaches the decoder, and no memory is allocated for it.

use roaring::RoaringBitmap;

use super::bytes::Bytes;

/// The cookie of a bitmap without runs.
const WITHOUT_RUNS: u32 = 12346;

/// The lower half of the cookie of a bitmap with runs.
const WITH_RUNS: u32 = 12347;

/// Minimum number of containers for which a bitmap with runs has an offset header.
const OFFSETS_FROM: usize = 4;

/// Maximum number of containers of a bitmap and of values in a container.
const MOST: usize = 1 << 16;

/// Maximum number of values in an array container; more are a bitset.
const MOST_IN_ARRAY: u32 = 4096;

/// Size of a bitset container in bytes.
const BITSET: usize = MOST / 8;

/// Minimum size of a bitmap in bytes: the cookie and the number of containers.
pub(super) const LEAST_BYTES: usize = 8;

/// Up to 65,536 values that share their upper 16 bits.
#[derive(Clone, Copy)]
enum Container<'a> {
    /// The values themselves.
    Array(&'a [[u8; 2]]),
    /// A bit for each possible value.
    Bitset(&'a [[u8; 8]]),
    /// The first value of each run, and how many values follow it.
    Runs(&'a [[u8; 4]]),
}

/// Takes a bitmap from the start of the bytes, or returns why it is invalid.
pub(super) fn take_bitmap(bytes: &mut Bytes<'_>) -> Result<RoaringBitmap, String> {
    let start = bytes.0;
    let mut touch = false;
    let rest = walk(start, |_, container| touch |= container.has_runs_that_touch())?;
    bytes.0 = rest;
    if touch {
        return from_containers(start);
    }
    let (checked, _) = start
        .split_at_checked(start.len() - rest.len())
        .unwrap_or_default();
    RoaringBitmap::deserialize_from(checked).map_err(|error| format!("it cannot be decoded: {error}"))
}

/// Adjacent runs could have been one, and the decoder rejects them although the format allows them.
fn from_containers(bytes: &[u8]) -> Result<RoaringBitmap, String> {
    let mut bitmap = RoaringBitmap::new();
    walk(bytes, |key, container| {
        let base = u32::from(key) << 16;
        container.for_each_run(|first, last| {
            bitmap.insert_range(base + u32::from(first)..=base + u32::from(last));
        });
    })?;
    bitmap.optimize();
    Ok(bitmap)
}

/// Validates a bitmap, visits each container with its key, and returns the bytes after it.
fn walk<'a>(start: &'a [u8], mut visit: impl FnMut(u16, Container<'a>)) -> Result<&'a [u8], String> {
    let mut bytes = Bytes(start);
    let cookie = bytes.u32("the cookie of a bitmap")?;
    let has_runs = cookie & 0xffff == WITH_RUNS;
    let count = if has_runs {
        (cookie >> 16).saturating_add(1)
    } else if cookie == WITHOUT_RUNS {
        bytes.u32("the number of containers")?
    } else {
        return Err(format!(
            "a bitmap starts with the cookie {cookie}, which is not a Roaring cookie"
        ));
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > MOST {
        return Err(format!(
            "a bitmap claims {count} containers; at most {MOST} are possible"
        ));
    }
    let run_flags = bytes.take(if has_runs { count.div_ceil(8) } else { 0 }, "the flags of runs")?;
    let heads = bytes.take(count * 4, "the keys of containers")?;
    let has_offsets = !has_runs || count >= OFFSETS_FROM;
    let offsets = bytes.take(
        if has_offsets { count * 4 } else { 0 },
        "the offsets of containers",
    )?;
    let mut offsets = offsets.as_chunks::<4>().0.iter();
    let mut last = None;
    for (index, [a, b, c, d]) in heads.as_chunks::<4>().0.iter().enumerate() {
        let (key, cardinality) = (
            u16::from_le_bytes([*a, *b]),
            u32::from(u16::from_le_bytes([*c, *d])) + 1,
        );
        if last.replace(key).is_some_and(|last| last >= key) {
            return Err("the keys of containers do not ascend".to_owned());
        }
        if let Some(offset) = offsets.next() {
            let (stated, is) = (u32::from_le_bytes(*offset), start.len() - bytes.len());
            if usize::try_from(stated) != Ok(is) {
                return Err(format!(
                    "a container claims to start at byte {stated}, but starts at {is}"
                ));
            }
        }
        let is_run = run_flags
            .get(index / 8)
            .is_some_and(|flags| flags >> (index % 8) & 1 == 1);
        let container = if is_run {
            let runs = usize::from(bytes.u16("the number of runs")?);
            Container::Runs(bytes.take(runs * 4, "the runs of a container")?.as_chunks().0)
        } else if cardinality <= MOST_IN_ARRAY {
            let size = usize::try_from(cardinality)
                .unwrap_or(usize::MAX)
                .saturating_mul(2);
            Container::Array(bytes.take(size, "the values of a container")?.as_chunks().0)
        } else {
            Container::Bitset(bytes.take(BITSET, "the bits of a container")?.as_chunks().0)
        };
        let found = container.validate()?;
        if found != cardinality {
            return Err(format!(
                "a container claims {cardinality} values, but has {found}"
            ));
        }
        visit(key, container);
    }
    Ok(bytes.0)
}

impl Container<'_> {
    /// Validates a container and returns its cardinality.
    fn validate(&self) -> Result<u32, String> {
        match self {
            Self::Array(values) => {
                if !values.is_sorted_by(|left, right| u16::from_le_bytes(*left) < u16::from_le_bytes(*right))
                {
                    return Err("the values of a container do not ascend".to_owned());
                }
                Ok(u32::try_from(values.len()).unwrap_or(u32::MAX))
            }
            Self::Bitset(words) => Ok(words
                .iter()
                .map(|word| u64::from_le_bytes(*word).count_ones())
                .sum()),
            Self::Runs(runs) => {
                let (mut count, mut free) = (0, 0);
                for run in *runs {
                    let (first, more) = run_of(*run);
                    let (first, more) = (u32::from(first), u32::from(more));
                    if first < free {
                        return Err("the runs of a container overlap or do not ascend".to_owned());
                    }
                    free = first + more + 1;
                    if free > 1 << 16 {
                        return Err("a run reaches beyond its container".to_owned());
                    }
                    count += more + 1;
                }
                Ok(count)
            }
        }
    }

    fn has_runs_that_touch(&self) -> bool {
        let Self::Runs(runs) = self else { return false };
        runs.iter().zip(runs.iter().skip(1)).any(|(left, right)| {
            let ((first, more), (next, _)) = (run_of(*left), run_of(*right));
            u32::from(first) + u32::from(more) + 1 == u32::from(next)
        })
    }

    /// Visits the values of a validated container as runs of the first and the last value.
    fn for_each_run(&self, mut show: impl FnMut(u16, u16)) {
        match self {
            Self::Array(values) => {
                for value in *values {
                    let value = u16::from_le_bytes(*value);
                    show(value, value);
                }
            }
            Self::Bitset(words) => {
                for (base, word) in (0..=u16::MAX).step_by(64).zip(*words) {
                    let mut word = u64::from_le_bytes(*word);
                    while word != 0 {
                        let value = base + u16::try_from(word.trailing_zeros()).unwrap_or_default();
                        show(value, value);
                        word &= word - 1;
                    }
                }
            }
            Self::Runs(runs) => {
                for run in *runs {
                    let (first, more) = run_of(*run);
                    show(first, first.saturating_add(more));
                }
            }
        }
    }
}

/// The first value of a run, and how many values follow it.
fn run_of([a, b, c, d]: [u8; 4]) -> (u16, u16) {
    (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]))
}
