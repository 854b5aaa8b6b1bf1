//! How deep the schema in a Parquet footer nests, told before the reader goes down into it: it goes by recursion, and a
//! few kilobytes are enough to leave its stack.

use parquet::errors::{ParquetError, Result};

use crate::thrift::{Compact, INTEGERS, LISTS, STRUCT};

/// How many levels a schema may have. A list takes two for each of its own, and the log's JSON nests no deeper than 128.
const MOST_LEVELS: usize = 512;
/// How deep what is passed over may nest.
const DEPTH: usize = 32;
/// The field of the footer that holds the schema, and that of an element that counts its children.
const SCHEMA: i16 = 2;
const NUM_CHILDREN: i16 = 5;
/// What stands behind the footer: its length, and a mark.
const BEHIND: usize = 8;

/// Proves of a file's last bytes that the schema in their footer can be gone into. What makes no sense is left to the
/// reader, which says so.
pub(crate) fn ensure_shallow(tail: &[u8]) -> Result<()> {
    match footer_of(tail).and_then(levels) {
        Some(levels) if levels > MOST_LEVELS => Err(ParquetError::General(format!(
            "its schema nests deeper than {MOST_LEVELS} levels"
        ))),
        _ => Ok(()),
    }
}

/// The footer, where these bytes hold all of it.
fn footer_of(tail: &[u8]) -> Option<&[u8]> {
    let end = tail.len().checked_sub(BEHIND)?;
    let length: [u8; 4] = tail.get(end..end.checked_add(4)?)?.try_into().ok()?;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    tail.get(end.checked_sub(length)?..end)
}

/// How many levels the schema has; it stops counting where there are too many.
fn levels(footer: &[u8]) -> Option<usize> {
    let mut footer = Compact { rest: footer };
    let mut last = 0;
    while let Some((field, kind)) = footer.field(last)? {
        last = field;
        if field != SCHEMA || !LISTS.contains(&kind) {
            footer.skip_field(kind, DEPTH)?;
            continue;
        }
        let (elements, kind) = footer.list()?;
        if kind != STRUCT {
            return None;
        }
        // How many children are still to come, of each group that is open.
        let mut open: Vec<i64> = Vec::new();
        let mut deepest = 0;
        for _ in 0..elements {
            let children = children(&mut footer)?;
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 {
                open.push(children);
                deepest = deepest.max(open.len());
            }
            if deepest > MOST_LEVELS {
                return Some(deepest);
            }
        }
        return Some(deepest);
    }
    None
}

/// How many children an element of the schema has.
fn children(footer: &mut Compact<'_>) -> Option<i64> {
    let mut last = 0;
    let mut children = 0;
    while let Some((field, kind)) = footer.field(last)? {
        last = field;
        if field == NUM_CHILDREN && INTEGERS.contains(&kind) {
            children = footer.zigzag()?;
        } else {
            footer.skip_field(kind, DEPTH)?;
        }
    }
    Some(children)
}
