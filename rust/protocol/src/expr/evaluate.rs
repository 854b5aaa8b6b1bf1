//! TRUE, FALSE or NULL for each row of a batch, by Spark's rules.
//!
//! NaN equals NaN and is above every other number; -0.0 equals 0.0; text and bytes compare byte by byte.

use std::sync::Arc;

use arrow_arith::boolean::{and_kleene, is_null, not, or_kleene};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Datum, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use arrow_ord::cmp;
use arrow_schema::ArrowError;

use super::{BoundPredicate, Comparison, Operand, Scalar};
use crate::schema::PrimitiveType;
use crate::{Error, ErrorKind, Result};

/// Answers a predicate for each row; the batch holds the columns under the schema's names.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{BooleanArray, Int64Array, RecordBatch};
/// use deltaic_protocol::{expr::{evaluate, parse_predicate}, schema::schema_from_arrow};
/// let batch = RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)])) as _)])?;
/// let predicate = parse_predicate("a > 1")?.bind(&schema_from_arrow(&batch.schema())?)?;
/// assert_eq!(evaluate(&predicate, &batch)?, BooleanArray::from(vec![Some(false), None, Some(true)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(predicate: &BoundPredicate, batch: &RecordBatch) -> Result<BooleanArray> {
    Ok(match predicate {
        BoundPredicate::Constant(value) => BooleanArray::from(vec![*value; batch.num_rows()]),
        BoundPredicate::Column(path) => column(batch, path)?
            .as_boolean_opt()
            .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "a condition is not boolean"))?
            .clone(),
        BoundPredicate::IsNull(path) => is_null(column(batch, path)?.as_ref()).map_err(failed)?,
        BoundPredicate::StartsWith(path, prefix) => {
            let strings = column(batch, path)?;
            let strings = strings
                .as_string_opt::<i32>()
                .ok_or_else(|| Error::new(ErrorKind::InvalidPredicate, "startswith needs a string"))?;
            BooleanArray::from_unary(strings, |text| text.starts_with(prefix.as_str()))
        }
        BoundPredicate::And(parts) => fold(parts, batch, true, and_kleene)?,
        BoundPredicate::Or(parts) => fold(parts, batch, false, or_kleene)?,
        BoundPredicate::Not(inner) => not(&evaluate(inner, batch)?).map_err(failed)?,
        BoundPredicate::Compare {
            op,
            left,
            right,
            common,
        } => {
            let (left, right) = (side(left, batch, *common)?, side(right, batch, *common)?);
            let (left, right) = (left.as_ref(), right.as_ref());
            match op {
                Comparison::Equal => cmp::eq(left, right),
                Comparison::NotEqual => cmp::neq(left, right),
                Comparison::Less => cmp::lt(left, right),
                Comparison::LessOrEqual => cmp::lt_eq(left, right),
                Comparison::Greater => cmp::gt(left, right),
                Comparison::GreaterOrEqual => cmp::gt_eq(left, right),
                Comparison::NullSafeEqual => cmp::not_distinct(left, right),
            }
            .map_err(failed)?
        }
    })
}

/// Joins the answers of many parts; `of_none` is the answer of none.
fn fold(
    parts: &[BoundPredicate],
    batch: &RecordBatch,
    of_none: bool,
    join: fn(&BooleanArray, &BooleanArray) -> Result<BooleanArray, ArrowError>,
) -> Result<BooleanArray> {
    let mut parts = parts.iter();
    let Some(first) = parts.next() else {
        return Ok(BooleanArray::from(vec![of_none; batch.num_rows()]));
    };
    parts.try_fold(evaluate(first, batch)?, |joined, part| {
        join(&joined, &evaluate(part, batch)?).map_err(failed)
    })
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::InvalidPredicate,
        format!("the predicate cannot be evaluated: {error}"),
    )
}

fn side(operand: &Operand, batch: &RecordBatch, common: PrimitiveType) -> Result<Box<dyn Datum>> {
    Ok(match operand {
        Operand::Column(path) => {
            let array = column(batch, path)?;
            let wanted = common.to_arrow()?;
            let array = if *array.data_type() == wanted {
                array
            } else {
                let options = arrow_cast::CastOptions {
                    safe: false,
                    ..Default::default()
                };
                arrow_cast::cast_with_options(&array, &wanted, &options).map_err(failed)?
            };
            Box::new(order_like_spark(array))
        }
        Operand::Scalar(scalar) => {
            let array = order_like_spark(Scalar::to_array(Some(scalar), common));
            Box::new(arrow_array::Scalar::new(array))
        }
    })
}

/// Arrow orders floats by their bits: one NaN and one zero make that order Spark's.
fn order_like_spark(array: ArrayRef) -> ArrayRef {
    if let Some(floats) = array.as_primitive_opt::<Float32Type>() {
        return Arc::new(
            floats.unary::<_, Float32Type>(|value| if value.is_nan() { f32::NAN } else { value + 0.0 }),
        );
    }
    if let Some(doubles) = array.as_primitive_opt::<Float64Type>() {
        return Arc::new(
            doubles.unary::<_, Float64Type>(|value| if value.is_nan() { f64::NAN } else { value + 0.0 }),
        );
    }
    array
}

/// A column or a field in one; a field of a NULL struct is NULL.
fn column(batch: &RecordBatch, path: &[String]) -> Result<ArrayRef> {
    let missing = || {
        Error::new(
            ErrorKind::InvalidPredicate,
            format!("the column {} is not in the batch", path.join(".")),
        )
    };
    let (first, rest) = path.split_first().ok_or_else(missing)?;
    let mut array = Arc::clone(batch.column_by_name(first).ok_or_else(missing)?);
    for part in rest {
        let parent = array.as_struct_opt().ok_or_else(missing)?;
        let child = Arc::clone(parent.column_by_name(part).ok_or_else(missing)?);
        array = match parent.nulls() {
            None => child,
            Some(parent_nulls) => {
                let nulls = NullBuffer::union(Some(parent_nulls), child.nulls());
                let data = child
                    .to_data()
                    .into_builder()
                    .nulls(nulls)
                    .build()
                    .map_err(failed)?;
                make_array(data)
            }
        };
    }
    Ok(array)
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BinaryArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int64Array,
        StringArray, StructArray, TimestampMicrosecondArray,
    };
    use arrow_schema::{DataType, Field};

    use super::*;
    use crate::expr::parse_predicate;
    use crate::schema::schema_from_arrow;

    type Rows = Vec<Option<bool>>;

    fn batch() -> Result<RecordBatch> {
        let nested = StructArray::try_new(
            vec![Field::new("n", DataType::Int64, true)].into(),
            vec![Arc::new(Int64Array::from(vec![Some(1), Some(2), None]))],
            Some(NullBuffer::from(vec![true, false, true])),
        )
        .map_err(failed)?;
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("tiny", Arc::new(Int8Array::from(vec![Some(1), Some(127), None]))),
            (
                "Long",
                Arc::new(Int64Array::from(vec![
                    Some(9_007_199_254_740_993),
                    Some(-1),
                    None,
                ])),
            ),
            (
                "float",
                Arc::new(Float32Array::from(vec![Some(0.1), Some(-f32::NAN), None])),
            ),
            (
                "double",
                Arc::new(Float64Array::from(vec![
                    Some(-0.0),
                    Some(f64::NAN),
                    Some(f64::INFINITY),
                ])),
            ),
            (
                "text",
                Arc::new(StringArray::from(vec![Some("abc"), Some("ü"), None])),
            ),
            (
                "bytes",
                Arc::new(BinaryArray::from(vec![
                    Some(b"\x00\xff".as_slice()),
                    Some(b""),
                    None,
                ])),
            ),
            (
                "date",
                Arc::new(Date32Array::from(vec![Some(0), Some(20_000), None])),
            ),
            (
                "time",
                Arc::new(TimestampMicrosecondArray::from(vec![Some(0), Some(1), None]).with_timezone("UTC")),
            ),
            (
                "money",
                Arc::new(
                    Decimal128Array::from(vec![Some(950), Some(-1), None])
                        .with_data_type(DataType::Decimal128(10, 2)),
                ),
            ),
            (
                "flag",
                Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
            ),
            ("nested", Arc::new(nested)),
            ("a.b", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
            .map_err(failed)
    }

    fn answer(text: &str) -> Result<Rows> {
        let batch = batch()?;
        let predicate = parse_predicate(text)?.bind(&schema_from_arrow(&batch.schema())?)?;
        Ok(evaluate(&predicate, &batch)?.iter().collect())
    }

    #[test]
    fn comparisons_follow_spark() -> Result<()> {
        let (t, f, n) = (Some(true), Some(false), None);
        for (text, expected) in [
            ("tiny > 100", [f, t, n]),
            ("tiny < 1000", [t, t, n]),
            ("tiny >= 1.5", [f, t, n]),
            ("1 <= tiny", [t, t, n]),
            ("long = 9007199254740993", [t, f, n]),
            ("long = 9007199254740992", [f, f, n]),
            ("long > 99999999999999999999", [f, f, n]),
            ("float < 0.2", [t, f, n]),
            ("float = 0.1F", [t, f, n]),
            ("float = CAST('NaN' AS FLOAT)", [f, t, n]),
            ("double = 0", [t, f, f]),
            ("double > 1E308", [f, t, t]),
            ("double >= CAST('NaN' AS DOUBLE)", [f, t, f]),
            ("double < CAST('Infinity' AS DOUBLE)", [t, f, f]),
            ("text < 'b'", [t, f, n]),
            ("text = 'ü'", [f, t, n]),
            ("startswith(text, 'ab')", [t, f, n]),
            ("bytes > X'00'", [t, f, n]),
            ("date = DATE '1970-01-01'", [t, f, n]),
            ("date > '2000-01-01'", [f, t, n]),
            ("date < TIMESTAMP '1970-01-01T00:00:01Z'", [t, f, n]),
            ("time > TIMESTAMP '1970-01-01 00:00:00'", [f, t, n]),
            ("time <= '1970-01-01T01:00:00+01:00'", [t, f, n]),
            ("money = 9.5", [t, f, n]),
            ("money = 9.500", [t, f, n]),
            ("money > -0.005", [t, f, n]),
            ("money < tiny", [f, t, n]),
            ("flag", [t, f, n]),
            ("NOT flag", [f, t, n]),
            ("flag IS NULL", [f, f, t]),
            ("flag <=> NULL", [f, f, t]),
            ("flag = NULL", [n, n, n]),
            ("flag OR tiny > 0", [t, t, n]),
            ("flag AND tiny > 1000", [f, f, n]),
            ("flag IS NULL OR flag", [t, f, t]),
            ("tiny IN (1, 2, NULL)", [t, n, n]),
            ("tiny NOT IN (1, 2)", [f, t, n]),
            ("tiny BETWEEN 1 AND 5", [t, f, n]),
            ("text <=> 'abc'", [t, f, f]),
            ("nested.n >= 1", [t, n, n]),
            ("nested IS NULL", [f, t, f]),
            ("`a.b` <> 2", [t, f, t]),
        ] {
            assert_eq!(answer(text)?, expected, "{text}");
        }
        Ok(())
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_a_hint() {
        for (text, kind, hint) in [
            ("tinny > 1", ErrorKind::InvalidPredicate, "did you mean tiny?"),
            ("nested.m > 1", ErrorKind::InvalidPredicate, "did you mean n?"),
            (
                "tiny.x > 1",
                ErrorKind::InvalidPredicate,
                "a dot looks into a struct",
            ),
            ("tiny", ErrorKind::InvalidPredicate, ""),
            ("date > 'soon'", ErrorKind::InvalidPredicate, "DATE"),
            ("text > 5", ErrorKind::InvalidPredicate, "write the literal"),
            ("flag > DATE '2020-01-01'", ErrorKind::InvalidPredicate, ""),
            (
                "nested > 1",
                ErrorKind::UnsupportedExpression,
                "compare its fields",
            ),
        ] {
            let error = answer(text).err();
            assert_eq!(error.as_ref().map(Error::kind), Some(kind), "{text}: {error:?}");
            let found = error.as_ref().and_then(Error::hint_text).unwrap_or_default();
            assert!(found.contains(hint), "{text}: {error:?}");
        }
    }
}
