//! The set of positions of deleted rows, and its binary format.
//!
//! Protocol: *Deletion Vector Format*. Bitmaps are written in the portable format, with the magic number
//! 1681511377. The older native format, 1681511376, is also read: the number of buckets, then the size
//! and bitmap of each bucket, whose index is its key. The inline example in the protocol is native with
//! big-endian numbers around the bitmaps, so both byte orders are read; the magic number identifies the
//! order.

use std::fmt;

use roaring::{RoaringBitmap, RoaringTreemap};

use super::bucket::{LEAST_BYTES, take_bitmap};
use super::bytes::Bytes;
use crate::{Error, ErrorKind, Result};

/// The magic number of the portable format.
const PORTABLE: u32 = 1_681_511_377;

/// The magic number of the native format.
const NATIVE: u32 = 1_681_511_376;

/// The native magic number in big-endian order.
const NATIVE_BIG_ENDIAN: u32 = NATIVE.swap_bytes();

/// The largest position whose bucket key has its most significant bit unset.
const MOST_POSITION: u64 = i64::MAX as u64;

/// The number of keys with their most significant bit unset.
const MOST_BUCKETS: usize = 1 << 31;

/// A set of row positions, counted from 0: the rows that a deletion vector deletes.
///
/// ```
/// use deltaic_protocol::deletion_vector::Bitmap;
/// let bitmap = Bitmap::from_positions([3, 4, 7])?;
/// let again = Bitmap::decode(&bitmap.encode()?)?;
/// assert_eq!(again, bitmap);
/// assert!(again.iter().eq([3, 4, 7]) && again.contains(7) && !again.contains(5));
/// assert_eq!((again.len(), again.max(), again.count_below(7)), (3, Some(7), 2));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Bitmap {
    /// No bucket is empty, and no key has its most significant bit set.
    buckets: RoaringTreemap,
    /// Whether any container is a run container.
    has_runs: bool,
}

impl Bitmap {
    fn new(buckets: RoaringTreemap) -> Self {
        let has_runs = |bitmap: &RoaringBitmap| bitmap.statistics().n_run_containers > 0;
        Self {
            has_runs: buckets.bitmaps().any(|(_, bitmap)| has_runs(bitmap)),
            buckets,
        }
    }

    /// Creates a set from positions in any order.
    ///
    /// # Errors
    ///
    /// Returns `ValueError` if a position is 2^63 or greater, which the format cannot represent.
    pub fn from_positions(positions: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut buckets = RoaringTreemap::new();
        for position in positions {
            if position > MOST_POSITION {
                let what = format!("a deletion vector has no place for the row position {position}");
                return Err(Error::new(ErrorKind::InvalidArgument, what));
            }
            buckets.insert(position);
        }
        buckets.optimize();
        Ok(Self::new(buckets))
    }

    /// Decodes all bytes of a deletion vector, starting with the magic number.
    ///
    /// Memory and time are proportional to the number of bytes, whatever sizes they declare.
    ///
    /// # Errors
    ///
    /// Returns `CorruptData` if the bytes violate the format.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes).map_err(|what| Error::new(ErrorKind::CorruptData, damaged(&what)))
    }

    /// [`Self::decode`] for callers that add the location to the error.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut bytes = Bytes(bytes);
        let buckets = match bytes.u32("the magic number")? {
            PORTABLE => portable(&mut bytes)?,
            NATIVE => native(&mut bytes, Bytes::u32)?,
            NATIVE_BIG_ENDIAN => native(&mut bytes, Bytes::u32_be)?,
            magic => return Err(format!("it starts with the unknown magic number {magic}")),
        };
        if bytes.len() > 0 {
            return Err(format!("{} bytes follow its last bucket", bytes.len()));
        }
        Ok(Self::new(RoaringTreemap::from_bitmaps(buckets)))
    }

    /// Encodes the set in the portable format, with the smallest container of each kind.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut buckets = self.buckets.clone();
        buckets.optimize();
        let mut bytes = Vec::with_capacity(4 + buckets.serialized_size());
        bytes.extend_from_slice(&PORTABLE.to_le_bytes());
        // Writing to a `Vec` cannot fail.
        buckets.serialize_into(&mut bytes).map_err(|error| {
            Error::new(
                ErrorKind::Internal,
                format!("a deletion vector is not written: {error}"),
            )
        })?;
        Ok(bytes)
    }

    /// The number of deleted rows.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.buckets.len()
    }

    /// Whether no row is deleted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The position of the first deleted row.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        self.buckets.min()
    }

    /// The position of the last deleted row.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        self.buckets.max()
    }

    /// Whether the row is deleted.
    #[must_use]
    pub fn contains(&self, position: u64) -> bool {
        self.buckets.contains(position)
    }

    /// The number of deleted rows before `position`.
    #[must_use]
    pub fn count_below(&self, position: u64) -> u64 {
        position.checked_sub(1).map_or(0, |last| self.buckets.rank(last))
    }

    /// The positions of the deleted rows, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.buckets.iter()
    }

    /// The positions of the deleted rows that are at least `position`, ascending.
    pub fn iter_from(&self, position: u64) -> impl Iterator<Item = u64> + '_ {
        let mut positions = self.buckets.iter();
        positions.advance_to(position);
        positions
    }

    /// The union: rows that are deleted by either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::new(&self.buckets | &other.buckets)
    }

    /// The difference: rows that are deleted by this set and not by `other`. With the older deletion
    /// vector as `other`, these are the rows that a commit deleted.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self::new(&self.buckets - &other.buckets)
    }

    /// The intersection: rows that are deleted by both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::new(&self.buckets & &other.buckets)
    }

    /// Whether `other` deletes every row that this set deletes.
    ///
    /// ```
    /// use deltaic_protocol::deletion_vector::Bitmap;
    /// let (few, many) = (Bitmap::from_positions([3])?, Bitmap::from_positions([3, 4])?);
    /// assert!(few.is_subset(&many) && few.is_subset(&few) && !many.is_subset(&few));
    /// assert_eq!(few.intersection(&many), few);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.buckets.is_subset(&other.buckets)
    }

    pub(super) fn buckets(&self) -> &RoaringTreemap {
        &self.buckets
    }

    pub(super) fn has_runs(&self) -> bool {
        self.has_runs
    }
}

/// Compares the positions, whatever containers they are in.
impl PartialEq for Bitmap {
    fn eq(&self, other: &Self) -> bool {
        self.buckets == other.buckets
    }
}

impl Eq for Bitmap {}

impl fmt::Debug for Bitmap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Bitmap({} rows in {:?}..={:?})",
            self.len(),
            self.min(),
            self.max()
        )
    }
}

/// An error message for an invalid deletion vector.
pub(super) fn damaged(what: &str) -> String {
    format!("a deletion vector is damaged: {what}")
}

/// The buckets of the portable format: each with its key, ascending.
fn portable(bytes: &mut Bytes<'_>) -> Result<Vec<(u32, RoaringBitmap)>, String> {
    let count = bytes.u64("the number of buckets")?;
    let mut buckets = with_room(bytes, count)?;
    let mut free = 0;
    for _ in 0..count {
        let key = bytes.u32("the key of a bucket")?;
        if key > i32::MAX as u32 {
            return Err(format!(
                "the key of a bucket, {key}, has its most significant bit set"
            ));
        }
        if key < free {
            return Err("the keys of buckets do not ascend".to_owned());
        }
        free = key + 1;
        push(&mut buckets, key, take_bitmap(bytes)?);
    }
    Ok(buckets)
}

/// The buckets of the native format: each after its size, with its index as the key.
fn native<'a>(
    bytes: &mut Bytes<'a>,
    number: impl Fn(&mut Bytes<'a>, &str) -> Result<u32, String>,
) -> Result<Vec<(u32, RoaringBitmap)>, String> {
    let count = number(bytes, "the number of buckets")?;
    let mut buckets = with_room(bytes, u64::from(count))?;
    for key in 0..count {
        let size = number(bytes, "the size of a bucket")?;
        let mut inside = Bytes(bytes.take(
            usize::try_from(size).unwrap_or(usize::MAX),
            "the bytes of a bucket",
        )?);
        push(&mut buckets, key, take_bitmap(&mut inside)?);
        if inside.len() > 0 {
            return Err(format!(
                "a bucket claims {size} bytes, but {} of them are not part of it",
                inside.len()
            ));
        }
    }
    Ok(buckets)
}

/// Allocates space for buckets if the remaining bytes can contain so many. Each has a number before its
/// bitmap.
fn with_room(bytes: &Bytes<'_>, count: u64) -> Result<Vec<(u32, RoaringBitmap)>, String> {
    let most = (bytes.len() / (4 + LEAST_BYTES)).min(MOST_BUCKETS);
    match usize::try_from(count) {
        Ok(count) if count <= most => Ok(Vec::with_capacity(count)),
        _ => Err(format!(
            "it claims {count} buckets, but has bytes for at most {most}"
        )),
    }
}

/// Skips empty buckets.
fn push(buckets: &mut Vec<(u32, RoaringBitmap)>, key: u32, bitmap: RoaringBitmap) {
    if !bitmap.is_empty() {
        buckets.push((key, bitmap));
    }
}
