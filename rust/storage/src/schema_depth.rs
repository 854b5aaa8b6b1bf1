//! Nesting depth of the schema in a Parquet footer, checked before the reader parses it: the parser is
//! recursive, and a few kilobytes are enough to overflow its stack.

use parquet::errors::{ParquetError, Result};

use crate::thrift::{Compact, INTEGERS, LISTS, STRUCT};

/// Maximum number of levels of a schema. A list takes two levels, and the log's JSON nests at most 128 deep.
const MOST_LEVELS: usize = 512;
/// Maximum nesting depth of skipped fields.
const DEPTH: usize = 32;
/// The footer's field of the schema, and the field of a schema element with the number of its children.
const SCHEMA: i16 = 2;
const NUM_CHILDREN: i16 = 5;
/// Size of the bytes after the footer: its length and the magic number.
const BEHIND: usize = 8;

/// Verifies from a file's last bytes that the schema in the footer is not nested too deeply. Invalid bytes
/// are left to the reader, which reports them.
pub(crate) fn ensure_shallow(tail: &[u8]) -> Result<()> {
    match footer_of(tail).and_then(levels) {
        Some(levels) if levels > MOST_LEVELS => Err(ParquetError::General(format!(
            "its schema nests deeper than {MOST_LEVELS} levels"
        ))),
        _ => Ok(()),
    }
}

/// Returns the footer if these bytes contain all of it.
fn footer_of(tail: &[u8]) -> Option<&[u8]> {
    let end = tail.len().checked_sub(BEHIND)?;
    let length: [u8; 4] = tail.get(end..end.checked_add(4)?)?.try_into().ok()?;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    tail.get(end.checked_sub(length)?..end)
}

/// Returns the number of levels of the schema; counting stops above the limit.
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
        // Number of remaining children of each open group.
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

/// Reads the number of children of a schema element.
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
