//! Which rows of the table match rows of the source, and what the clauses do with them.

mod key_index;
mod matched_rows;
mod matching;
mod probe;
mod pruning;

pub(super) use key_index::key_columns;
pub(super) use matched_rows::{MatchedRows, Positions, bitmaps};
pub(super) use matching::{Matching, unchanged_rows};
