//! Data skipping: which files can contain a matching row, by their statistics and partition values.
//!
//! Protocol: *Per-file Statistics*, *Partition Value Serialization*. A file is skipped only if no row of
//! it can match.

mod compare;
mod expected;
mod files;
mod nan;
mod ranges;

use arrow_array::BooleanArray;
use arrow_buffer::BooleanBuffer;

use crate::Result;
use crate::expr::{BoundPredicate, Operand};
use crate::statistics::{StatisticsColumns, StatisticsSchema};
use expected::{Expected, asked};

pub use files::Files;

/// For each file, whether it may contain a matching row: never FALSE for a file that contains one, and
/// never NULL. `None` if no file can be skipped.
///
/// `statistics` must be read under `wanted`. Columns that are not in it do not skip any file.
///
/// ```
/// use deltaic_protocol::expr::parse_predicate;
/// use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
/// use deltaic_protocol::skipping::{columns_of, may_match};
/// use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};
///
/// let id = StructField::new("id", PrimitiveType::Long.into(), true);
/// let schema = StructType { fields: vec![id] };
/// let predicate = parse_predicate("id = 7")?.bind(&schema)?;
/// let wanted = StatisticsSchema::of_columns(&schema, &|field| field.name.clone(), &columns_of(&predicate));
/// let mut builder = StatisticsBuilder::with_capacity(&wanted, 2);
/// builder.push(StatisticsText::Plain(br#"{"numRecords":2,"minValues":{"id":1},"maxValues":{"id":6}}"#));
/// builder.push(StatisticsText::Absent);
/// let kept = may_match(&predicate, &builder.finish()?, &wanted)?;
/// assert_eq!(kept, Some(vec![false, true].into()));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn may_match(
    predicate: &BoundPredicate,
    statistics: &StatisticsColumns,
    wanted: &StatisticsSchema,
) -> Result<Option<BooleanArray>> {
    let files = Files::new(statistics.num_records.len()).with_statistics(statistics, wanted)?;
    files_that_may_match(predicate, &files)
}

/// Like [`may_match`], with partition values: they apply to all rows of a file, so a predicate may
/// combine partition columns and others.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, BooleanArray, StringArray, StructArray};
/// use arrow_schema::{DataType, Field};
/// use deltaic_protocol::expr::parse_predicate;
/// use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
/// use deltaic_protocol::skipping::{Files, files_that_may_match};
///
/// let region = StructField::new("region", PrimitiveType::String.into(), true);
/// let id = StructField::new("id", PrimitiveType::Long.into(), true);
/// let predicate = parse_predicate("region = 'EU' OR (region = 'US' AND id > 5)")?
///     .bind(&StructType { fields: vec![region, id] })?;
/// let regions: ArrayRef = Arc::new(StringArray::from(vec!["EU", "US", "JP"]));
/// let values = StructArray::from(vec![(Arc::new(Field::new("region", DataType::Utf8, true)), regions)]);
/// let unreadable = BooleanArray::from(vec![false; 3]);
/// let files = Files::new(3).with_partition_values(&values, &unreadable)?;
/// let kept = files_that_may_match(&predicate, &files)?;
/// assert_eq!(kept, Some(vec![true, true, false].into()));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn files_that_may_match(predicate: &BoundPredicate, files: &Files<'_>) -> Result<Option<BooleanArray>> {
    let kept = may_be(predicate, Expected::True, files, &[])?;
    Ok(kept
        .filter(|kept| kept.count_set_bits() < kept.len())
        .map(|kept| BooleanArray::new(kept, None)))
}

/// The columns whose statistics the predicate can use: paths of logical names, outermost first.
#[must_use]
pub fn columns_of(predicate: &BoundPredicate) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(predicate, &mut found);
    found
}

fn collect(predicate: &BoundPredicate, found: &mut Vec<Vec<String>>) {
    predicate.for_each_path(&mut |path| {
        if !found.contains(path) {
            found.push(path.clone());
        }
    });
}

/// For each file, whether a row of it may have this result; `None` if nothing is known. `numbers` are
/// columns that are known not to be NaN in the row.
fn may_be(
    predicate: &BoundPredicate,
    answer: Expected,
    files: &Files<'_>,
    numbers: &[&[String]],
) -> Result<Option<BooleanBuffer>> {
    if let Some(kept) = files.by_partition(predicate, answer)? {
        return Ok(Some(kept));
    }
    Ok(match (predicate, answer) {
        (BoundPredicate::Constant(value), _) => {
            let wanted = Some(answer == Expected::True);
            (*value != wanted).then(|| BooleanBuffer::new_unset(files.len()))
        }
        (BoundPredicate::Not(inner), _) => may_be(inner, answer.opposite(), files, numbers)?,
        (BoundPredicate::And(parts), Expected::True) | (BoundPredicate::Or(parts), Expected::False) => {
            all(parts, answer, files, numbers)?
        }
        (BoundPredicate::And(parts), Expected::False) | (BoundPredicate::Or(parts), Expected::True) => {
            any(parts, answer, files, numbers)?
        }
        (BoundPredicate::Column(path), _) => files.not_all_null(path),
        (BoundPredicate::IsNull(path), Expected::True) => files.not_without_null(path),
        (BoundPredicate::IsNull(path), Expected::False) => files.not_all_null(path),
        (BoundPredicate::StartsWith(path, prefix), _) => {
            let by_bounds = compare::starts_with(path, prefix, answer == Expected::True, files);
            both(files.not_all_null(path), by_bounds)
        }
        (BoundPredicate::Like(path, pattern), Expected::True) => {
            let by_bounds = compare::starts_with(path, &pattern.prefix(), true, files);
            both(files.not_all_null(path), by_bounds)
        }
        // A condition that has this answer; the other one it also has where it is NULL.
        (BoundPredicate::Is(inner, Some(truth)), Expected::True) => {
            let asked = if *truth { Expected::True } else { Expected::False };
            may_be(inner, asked, files, numbers)?
        }
        (BoundPredicate::Is(..) | BoundPredicate::IsNan(_), Expected::False)
        | (BoundPredicate::Is(_, None), _)
        | (BoundPredicate::Computed(_), Expected::False) => None,
        (BoundPredicate::Computed(part), Expected::True) => match part.implied() {
            Some(implied) => may_be(implied, answer, files, numbers)?,
            None => None,
        },
        (
            BoundPredicate::IsNan(path)
            | BoundPredicate::Like(path, _)
            | BoundPredicate::EndsWith(path, _)
            | BoundPredicate::Contains(path, _),
            _,
        ) => files.not_all_null(path),
        (BoundPredicate::In { path, values, .. }, Expected::True) => both(
            files.not_all_null(path),
            compare::one_of(path, values.values(), files)?,
        ),
        (BoundPredicate::In { path, has_null, .. }, Expected::False) => {
            if *has_null {
                Some(BooleanBuffer::new_unset(files.len()))
            } else {
                files.not_all_null(path)
            }
        }
        (
            BoundPredicate::Compare {
                op,
                left,
                right,
                common,
            },
            _,
        ) => {
            let Some(op) = asked(*op, answer, left, right) else {
                return Ok(None);
            };
            let mut kept = compare::compare(op, [left, right], *common, files, numbers)?;
            for side in [left, right] {
                if let Operand::Column(path) = side {
                    kept = both(kept, files.not_all_null(path));
                }
            }
            kept
        }
    })
}

/// A row must have the result for each part; if one part excludes NaN, it is excluded for the others too.
fn all(
    parts: &[BoundPredicate],
    answer: Expected,
    files: &Files<'_>,
    numbers: &[&[String]],
) -> Result<Option<BooleanBuffer>> {
    let mut numbers = numbers.to_vec();
    parts
        .iter()
        .for_each(|part| nan::ruled_out(part, answer, &mut numbers));
    let mut kept = None;
    for part in parts {
        kept = both(kept, may_be(part, answer, files, &numbers)?);
    }
    Ok(kept)
}

/// A row must have the result for one part; a part without information does not skip any file.
fn any(
    parts: &[BoundPredicate],
    answer: Expected,
    files: &Files<'_>,
    numbers: &[&[String]],
) -> Result<Option<BooleanBuffer>> {
    let mut kept = BooleanBuffer::new_unset(files.len());
    for part in parts {
        match may_be(part, answer, files, numbers)? {
            None => return Ok(None),
            Some(more) => kept = &kept | &more,
        }
    }
    Ok(Some(kept))
}

fn both(left: Option<BooleanBuffer>, right: Option<BooleanBuffer>) -> Option<BooleanBuffer> {
    match (left, right) {
        (Some(left), Some(right)) => Some(&left & &right),
        (one, None) | (None, one) => one,
    }
}

#[cfg(test)]
mod tests;
