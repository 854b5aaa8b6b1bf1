//! Generates the values of identity columns.
//!
//! Protocol: *Identity Columns*.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use deltaic_protocol::schema::{Identity, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The identity columns of the rows that are written.
#[derive(Clone, Debug, Default)]
pub(in crate::write) struct IdentityColumns(Vec<IdentityColumn>);

#[derive(Clone, Debug)]
struct IdentityColumn {
    name: String,
    /// The position in the rows.
    index: usize,
    identity: Identity,
    /// Whether the rows contain values.
    is_given: bool,
    /// The mark before these rows.
    before: Option<i64>,
    share: Share,
    /// The next value to generate, once one was.
    next: Option<i128>,
}

/// Whether the text of an expression contains the name of an identity column.
pub(crate) fn is_named(text: &str, schema: &StructType) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let has = |name: &str| {
        text.to_lowercase()
            .split(|sign| !is_part(sign))
            .any(|word| word == name)
    };
    let is_identity = |field: &&StructField| !matches!(field.identity(), Ok(None));
    let mut names = schema
        .fields
        .iter()
        .filter(is_identity)
        .map(|field| field.name.to_lowercase());
    names.any(|name| {
        name.split(|sign| !is_part(sign))
            .filter(|word| !word.is_empty())
            .all(has)
    })
}

/// The values that one of several writers generates at the same time: each `count`-th one, from number `index` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of the writer, less than `count`.
    pub index: u32,
    /// The number of writers.
    pub count: u32,
}

impl Share {
    /// The only writer.
    pub(in crate::write) const ALL: Self = Self { index: 0, count: 1 };
}

impl IdentityColumns {
    /// The identity columns of a schema; `is_given` returns whether the data have a column.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` for a column of the data whose values are always generated.
    pub(in crate::write) fn try_new(schema: &StructType, is_given: impl Fn(&str) -> bool) -> Result<Self> {
        let mut columns = Vec::new();
        for (index, field) in schema.fields.iter().enumerate() {
            let Some(identity) = field.identity()? else {
                continue;
            };
            let is_given = is_given(&field.name);
            if is_given && !identity.allow_explicit_insert {
                let what = format!(
                    "the values of the identity column {} are always generated",
                    field.name
                );
                return Err(Error::new(ErrorKind::SchemaMismatch, what)
                    .with("field", field.name.as_str())
                    .hint("drop the column from the data"));
            }
            columns.push(IdentityColumn {
                name: field.name.clone(),
                index,
                before: identity.high_water_mark,
                identity,
                is_given,
                share: Share::ALL,
                next: None,
            });
        }
        Ok(Self(columns))
    }

    /// Generates only the values of a share. Must be called before rows are written.
    pub(in crate::write) fn limit_to(&mut self, share: Share) {
        for column in &mut self.0 {
            column.share = share;
        }
    }

    /// Replaces the placeholders of the values to generate, in the order of the rows.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` if there are no more values of the type.
    pub(in crate::write) fn apply(&mut self, rows: RecordBatch) -> Result<RecordBatch> {
        if self.0.is_empty() {
            return Ok(rows);
        }
        let mut columns = rows.columns().to_vec();
        for column in &mut self.0 {
            let Some(values) = columns.get_mut(column.index) else {
                return Err(Error::internal("an identity column is not in the rows"));
            };
            match column.is_given {
                true => column.observe(values),
                false => *values = column.generate(rows.num_rows())?,
            }
        }
        RecordBatch::try_new(rows.schema(), columns).map_err(|error| Error::internal(error.to_string()))
    }

    /// The columns whose high-water marks changed, with the new marks.
    pub(in crate::write) fn marks(&self) -> Vec<(String, i64)> {
        let changed = self
            .0
            .iter()
            .filter(|column| column.identity.high_water_mark != column.before);
        changed
            .filter_map(|column| Some((column.name.clone(), column.identity.high_water_mark?)))
            .collect()
    }
}

impl IdentityColumn {
    fn generate(&mut self, rows: usize) -> Result<ArrayRef> {
        let identity = &mut self.identity;
        let step = i128::from(identity.step);
        let first = || next_value(identity) + step * i128::from(self.share.index);
        let mut next = self.next.unwrap_or_else(first);
        let mut values = Vec::with_capacity(rows);
        for _ in 0..rows {
            let value = i64::try_from(next).map_err(|_| {
                Error::new(
                    ErrorKind::ConstraintViolation,
                    format!(
                        "the identity column {} has no more values: the next one is not a bigint",
                        self.name
                    ),
                )
                .with("field", self.name.as_str())
                .hint("write the rows to a table whose identity column starts elsewhere")
            })?;
            values.push(value);
            identity.high_water_mark = Some(value);
            next += step * i128::from(self.share.count);
        }
        self.next = (rows > 0).then_some(next).or(self.next);
        Ok(Arc::new(Int64Array::from(values)))
    }

    /// Moves the mark past values from a caller, so that they are not generated later.
    fn observe(&mut self, values: &ArrayRef) {
        let values = values.as_primitive::<Int64Type>();
        let rises = self.identity.step > 0;
        let furthest = match rises {
            true => values.iter().flatten().max(),
            false => values.iter().flatten().min(),
        };
        let Some(furthest) = furthest else {
            return;
        };
        let is_past = |mark: i64| if rises { furthest > mark } else { furthest < mark };
        let reaches_start = match rises {
            true => furthest >= self.identity.start,
            false => furthest <= self.identity.start,
        };
        if reaches_start && self.identity.high_water_mark.is_none_or(is_past) {
            self.identity.high_water_mark = Some(mark_of(&self.identity, furthest));
        }
    }
}

/// The value after the mark: the nearest `start + k * step`. It may not be a bigint.
fn next_value(identity: &Identity) -> i128 {
    let Some(mark) = identity.high_water_mark else {
        return i128::from(identity.start);
    };
    let (start, step, mark) = (
        i128::from(identity.start),
        i128::from(identity.step),
        i128::from(mark),
    );
    let steps = match (mark - start) * step.signum() < 0 {
        true => 0, // a mark before the start
        false => (mark - start) / step + 1,
    };
    start + steps * step
}

/// The mark of a value that is at or past the start: the nearest `start + k * step` that is not before it, as Spark
/// continues from the mark itself. The value, if that is not a bigint.
fn mark_of(identity: &Identity, value: i64) -> i64 {
    let (start, step) = (i128::from(identity.start), i128::from(identity.step));
    let distance = i128::from(value) - start;
    let steps = (distance + step - step.signum()) / step;
    i64::try_from(start + steps * step).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(start: i64, step: i64, mark: Option<i64>) -> IdentityColumn {
        IdentityColumn {
            name: "id".to_owned(),
            index: 0,
            identity: Identity {
                start,
                step,
                high_water_mark: mark,
                allow_explicit_insert: true,
            },
            is_given: false,
            before: mark,
            share: Share::ALL,
            next: None,
        }
    }

    #[test]
    fn shares_are_disjoint_and_dense() -> Result<()> {
        for (start, step, mark) in [(1, 1, None), (10, -5, Some(0)), (1, 10, Some(5))] {
            let all = column(start, step, mark).generate(12)?;
            let mut values = Vec::new();
            for index in 0..3 {
                let mut column = column(start, step, mark);
                column.share = Share { index, count: 3 };
                for rows in [1, 0, 3] {
                    values.extend(
                        column
                            .generate(rows)?
                            .as_primitive::<Int64Type>()
                            .values()
                            .iter()
                            .copied(),
                    );
                }
                assert_eq!(column.identity.high_water_mark, values.last().copied());
            }
            values.sort_unstable_by_key(|value| value * step.signum());
            assert_eq!(
                values,
                all.as_primitive::<Int64Type>().values().to_vec(),
                "{start} {step} {mark:?}"
            );
        }
        Ok(())
    }

    /// protocol: identity-columns.14, identity-columns.15, identity-columns.16
    #[test]
    fn values_continue_after_the_mark() -> Result<()> {
        for (start, step, mark, expected) in [
            (1, 1, None, [1, 2, 3]),
            (10, -5, None, [10, 5, 0]),
            (10, -5, Some(-5), [-10, -15, -20]),
            // Marks that are no value of the sequence.
            (1, 10, Some(5), [11, 21, 31]),
            (1, 10, Some(11), [21, 31, 41]),
            (0, -3, Some(-4), [-6, -9, -12]),
            (100, 1, Some(7), [100, 101, 102]),
            (-100, -1, Some(7), [-100, -101, -102]),
            (i64::MIN, i64::MAX, Some(-1), [i64::MAX - 1, 0, 0]),
        ] {
            let mut column = column(start, step, mark);
            let wanted = expected
                .iter()
                .take_while(|value| step != i64::MAX || **value != 0)
                .count();
            let values = column.generate(wanted)?;
            assert_eq!(
                values.as_primitive::<Int64Type>().values(),
                &expected[..wanted],
                "{start} {step} {mark:?}"
            );
            assert_eq!(column.identity.high_water_mark, Some(expected[wanted - 1]));
        }
        Ok(())
    }

    /// protocol: identity-columns.17
    #[test]
    fn an_overflow_is_an_error() -> Result<()> {
        for (start, step) in [(i64::MAX - 1, 1), (i64::MIN + 1, -1)] {
            assert_eq!(column(start, step, None).generate(2)?.len(), 2);
            let error = column(start, step, None).generate(3).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::ConstraintViolation)
            );
        }
        Ok(())
    }

    /// protocol: identity-columns.7
    #[test]
    fn given_values_are_not_generated_later() {
        for (start, step, mark, given, expected) in [
            (1, 1, None, vec![Some(7), None, Some(3)], Some(7)),
            (1, 10, None, vec![Some(7)], Some(11)),
            (1, 10, Some(21), vec![Some(7)], Some(21)),
            (0, -2, Some(-4), vec![Some(-7), Some(9)], Some(-8)),
            (5, 1, None, vec![Some(1)], None),
            (1, 1, None, vec![None], None),
            (1, 2, None, vec![Some(i64::MAX - 1)], Some(i64::MAX)),
            (0, 2, None, vec![Some(i64::MAX)], Some(i64::MAX)),
        ] {
            let mut column = column(start, step, mark);
            column.observe(&(Arc::new(Int64Array::from(given)) as ArrayRef));
            assert_eq!(
                column.identity.high_water_mark, expected,
                "{start} {step} {mark:?}"
            );
        }
    }
}
