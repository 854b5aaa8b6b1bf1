//! Partition pruning: the values of the log decide, before any file is opened.
//!
//! Protocol: *Partition Value Serialization*, *Data Files*.

use arrow_arith::boolean::or;
use arrow_array::{Array, BooleanArray, RecordBatch, StructArray};
use arrow_select::filter::prep_null_mask_filter;
use deltaic_protocol::expr::{BoundPredicate, evaluate};
use deltaic_protocol::{Error, ErrorKind, Result};

/// Which files stay, of those whose typed partition values are given. Only conjuncts that look at partition columns
/// alone can rule a file out; where there are none, no file is ruled out. A file whose values could not be read
/// stays, so that a scan meets and refuses it.
pub fn partition_mask(
    predicate: &BoundPredicate,
    values: &StructArray,
    unreadable: &BooleanArray,
) -> Result<Option<BooleanArray>> {
    let is_partition = |column: &&str| values.column_by_name(column).is_some();
    let of_partitions: Vec<BoundPredicate> = predicate
        .conjuncts()
        .into_iter()
        .filter(|conjunct| conjunct.columns().iter().all(is_partition))
        .cloned()
        .collect();
    let Some(predicate) = BoundPredicate::all_of(of_partitions) else {
        return Ok(None);
    };
    let matches = evaluate(&predicate, &RecordBatch::from(values.clone()))?;
    // A NULL answer matches no row, so the file goes.
    let matches = if matches.null_count() > 0 {
        prep_null_mask_filter(&matches)
    } else {
        matches
    };
    or(&matches, unreadable).map(Some).map_err(|error| {
        Error::new(
            ErrorKind::CorruptLog,
            format!("partitions cannot be pruned: {error}"),
        )
    })
}
