//! Which files can hold a row that a predicate matches, by their statistics.
//!
//! Protocol: *Per-file Statistics*. A file is left out only where its statistics prove that no row of it matches.

use arrow_array::BooleanArray;

use crate::Result;
use crate::expr::{BoundPredicate, Operand};
use crate::statistics::{StatisticsColumns, StatisticsSchema};

/// For each file whether it may hold a row that the predicate matches: never FALSE for a file that holds one.
/// None when the statistics rule nothing out.
pub fn may_match(
    _predicate: &BoundPredicate,
    _statistics: &StatisticsColumns,
    _wanted: &StatisticsSchema,
) -> Result<Option<BooleanArray>> {
    Ok(None)
}

/// The columns whose statistics the predicate can use: paths of logical names, from the outermost in.
#[must_use]
pub fn columns_of(predicate: &BoundPredicate) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(predicate, &mut found);
    found
}

fn collect(predicate: &BoundPredicate, found: &mut Vec<Vec<String>>) {
    let mut add = |path: &Vec<String>| {
        if !found.contains(path) {
            found.push(path.clone());
        }
    };
    match predicate {
        BoundPredicate::Constant(_) => {}
        BoundPredicate::Column(path) | BoundPredicate::IsNull(path) | BoundPredicate::StartsWith(path, _) => {
            add(path);
        }
        BoundPredicate::Compare { left, right, .. } => {
            for side in [left, right] {
                if let Operand::Column(path) = side {
                    add(path);
                }
            }
        }
        BoundPredicate::And(parts) | BoundPredicate::Or(parts) => {
            parts.iter().for_each(|part| collect(part, found));
        }
        BoundPredicate::Not(inner) => collect(inner, found),
    }
}
