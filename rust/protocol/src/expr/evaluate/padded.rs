//! Comparisons of columns of the type `char(n)`: the shorter text is compared as if it was padded with spaces.

use std::cmp::Ordering;
use std::iter::repeat_n;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch, StringArray};

use super::columns::column_of;
use crate::expr::Comparison;
use crate::expr::bound::{Compared, PaddedComparison, trimmed};
use crate::expr::literal::order::holds;
use crate::schema::PrimitiveType;
use crate::{Error, Result};

/// TRUE, FALSE or NULL for each row.
pub(super) fn compare_padded(comparison: &PaddedComparison, batch: &RecordBatch) -> Result<BooleanArray> {
    let left = texts_of(batch, &comparison.path)?;
    Ok(match &comparison.with {
        Compared::Text(Comparison::NullSafeEqual, text) => (0..left.len())
            .map(|row| Some(left.is_valid(row) && order(left.value(row), text).is_eq()))
            .collect(),
        Compared::Text(op, text) => BooleanArray::from_unary(&left, |own| holds(*op, order(own, text))),
        Compared::AnyOf(texts) => BooleanArray::from_unary(&left, |own| texts.contains(trimmed(own))),
        Compared::Column(op, path) => {
            let right = texts_of(batch, path)?;
            (0..left.len())
                .map(|row| match (left.is_valid(row), right.is_valid(row)) {
                    (true, true) => Some(holds(*op, order(left.value(row), right.value(row)))),
                    (a, b) => (*op == Comparison::NullSafeEqual).then_some(!a && !b),
                })
                .collect()
        }
    })
}

fn texts_of(batch: &RecordBatch, path: &[String]) -> Result<StringArray> {
    let texts = column_of(batch, path, PrimitiveType::String)?;
    let texts = texts.as_string_opt::<i32>();
    texts
        .cloned()
        .ok_or_else(|| Error::internal("a column of char(n) is not text"))
}

/// The order of two texts, of which the shorter one is padded with spaces.
fn order(left: &str, right: &str) -> Ordering {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let length = left.len().max(right.len());
    let padded = |text: &'_ [u8]| repeat_n(b' ', length - text.len());
    let left = left.iter().copied().chain(padded(left));
    left.cmp(right.iter().copied().chain(padded(right)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::expr::{BoundPredicate, parse_predicate};
    use crate::schema::{PrimitiveType, StructField, StructType};

    const TEXTS: [&str; 9] = ["", " ", "a", "ab", "ab ", "ab\t", "a\u{0}", "abc", "ü"];

    #[test]
    fn the_order_is_that_of_padded_texts() {
        for left in TEXTS {
            for right in TEXTS {
                let length = left.len().max(right.len());
                let padded = |text: &str| text.to_owned() + &" ".repeat(length - text.len());
                assert_eq!(
                    order(left, right),
                    padded(left).cmp(&padded(right)),
                    "{left:?} {right:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_implied_holds_for_every_text() -> Result<()> {
        let mut field = StructField::new("c", PrimitiveType::String.into(), true);
        let declared = json!("char(4)");
        field
            .metadata
            .insert("__CHAR_VARCHAR_TYPE_STRING".to_owned(), declared);
        let schema = StructType { fields: vec![field] };
        let texts = Arc::new(StringArray::from(TEXTS.to_vec()));
        let batch = RecordBatch::try_from_iter([("c", texts as _)])
            .map_err(|error| Error::internal(error.to_string()))?;
        for predicate in ["c = 'ab'", "c <=> 'a '", "c IN ('ab', 'ü ', '')"] {
            let bound = parse_predicate(predicate)?.bind(&schema)?;
            let BoundPredicate::Computed(part) = &bound else {
                panic!("{bound} is not padded");
            };
            let implied = part.implied().expect("a condition for data skipping");
            let (holds, implied) = (
                crate::expr::evaluate(&bound, &batch)?,
                crate::expr::evaluate(implied, &batch)?,
            );
            assert!(holds.true_count() > 0, "{predicate}");
            for (row, text) in TEXTS.iter().enumerate() {
                assert!(!holds.value(row) || implied.value(row), "{predicate}: {text:?}");
            }
        }
        Ok(())
    }
}
