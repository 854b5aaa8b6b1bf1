//! Partition pruning: the values of the log decide, before any file is opened.
//!
//! Protocol: *Partition Value Serialization*, *Data Files*.

use arrow_arith::boolean::or;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::prep_null_mask_filter;
use deltaic_protocol::expr::{BoundPredicate, evaluate};
use deltaic_protocol::schema::StructField;
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::snapshot::Files;

/// Which files stay. Only conjuncts that look at partition columns alone can rule a file out; none says nothing
/// about partitions, and then no file is ruled out.
pub fn partition_mask(
    predicate: &BoundPredicate,
    files: &Files,
    fields: &[&StructField],
) -> Result<Option<BooleanArray>> {
    let Some(values) = &files.partition_values else {
        return Ok(None);
    };
    let of_partitions: Vec<BoundPredicate> = predicate
        .conjuncts()
        .into_iter()
        .filter(|conjunct| {
            conjunct
                .columns()
                .iter()
                .all(|column| fields.iter().any(|field| field.name == *column))
        })
        .cloned()
        .collect();
    let Some(predicate) = BoundPredicate::all_of(of_partitions) else {
        return Ok(None);
    };
    let matches = evaluate(&predicate, &RecordBatch::from(values.clone()))?;
    // A NULL answer matches no row, so the file goes; text that could not be read stays.
    let matches = if matches.null_count() > 0 {
        prep_null_mask_filter(&matches)
    } else {
        matches
    };
    let unreadable = crate::snapshot::unreadable_values(files, fields);
    or(&matches, &unreadable).map(Some).map_err(|error| {
        Error::new(
            ErrorKind::CorruptLog,
            format!("partitions cannot be pruned: {error}"),
        )
    })
}
