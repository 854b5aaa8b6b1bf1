//! Tests of strings by others.

use arrow_array::BooleanArray;

use super::values::{Values, by_row};
use crate::expr::LikePattern;
use crate::expr::failure::{Failure, invalid};
use crate::expr::operators::TextTest;

/// Whether strings or binary values start or end with others, or contain them.
pub(in crate::expr) fn test(
    test: TextTest,
    text: &Values,
    part: &Values,
    rows: usize,
) -> Result<Values, Failure> {
    by_row::<_, BooleanArray>(&[text, part], rows, |row| {
        Ok(text
            .bytes(row)
            .zip(part.bytes(row))
            .map(|(text, part)| match test {
                TextTest::StartsWith => text.starts_with(part),
                TextTest::EndsWith => text.ends_with(part),
                TextTest::Contains => part.is_empty() || text.windows(part.len()).any(|found| found == part),
            }))
    })
}

/// LIKE with a pattern for each row.
pub(in crate::expr) fn like(
    text: &Values,
    pattern: &Values,
    escape: char,
    rows: usize,
) -> Result<Values, Failure> {
    by_row::<_, BooleanArray>(&[text, pattern], rows, |row| {
        let Some((text, pattern)) = text.text(row).zip(pattern.text(row)) else {
            return Ok(None);
        };
        match LikePattern::parse(pattern, escape) {
            Ok(pattern) => Ok(Some(pattern.matches(text))),
            Err(why) => invalid(why),
        }
    })
}
