//! Predicates evaluated for a small batch.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int64Array, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field};

use super::evaluate;
use super::failed::failed;
use crate::expr::parse_predicate;
use crate::schema::schema_from_arrow;
use crate::{Error, ErrorKind, Result};

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
        // Outside of the 64-bit range, Spark returns one result for all rows, including NULL.
        ("long > 99999999999999999999", [f, f, f]),
        ("long <> 99999999999999999999", [t, t, n]),
        ("text LIKE '_b%'", [t, f, n]),
        ("text LIKE 'ü'", [f, t, n]),
        ("endswith(text, 'c') OR contains(text, 'ü')", [t, t, n]),
        ("isnan(double) AND NOT isnan(float)", [f, f, f]),
        ("isnan(float)", [f, t, f]),
        ("(tiny > 1) IS TRUE", [f, t, f]),
        ("(tiny > 1) IS NOT FALSE", [f, t, t]),
        ("(tiny > 1) IS UNKNOWN", [f, f, t]),
        ("tiny > 1000 IS UNKNOWN", [f, f, t]),
        ("double IN (0, 1, CAST('NaN' AS DOUBLE))", [t, t, f]),
        ("text IN ('ü', 'abc')", [t, t, n]),
        ("money IN (9.50, 7, 0.001)", [t, f, n]),
        ("bytes IN (X'', X'01')", [f, t, n]),
        ("date IN (DATE '1970-01-01', '2000-01-01')", [t, f, n]),
        ("tiny IN (1000, 2000)", [f, f, n]),
        ("flag = TRUE", [t, f, n]),
        ("flag < TRUE", [f, t, n]),
        ("flag <= TRUE", [t, t, n]),
        ("1 + 1 = 2 AND DATE '1970-01-01' + 1 > date", [t, f, n]),
        ("money = 950 / 100", [t, f, n]),
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
fn incomparable_types_are_refused_with_a_hint() {
    for (text, kind, hint) in [
        ("tinny > 1", ErrorKind::InvalidPredicate, "did you mean tiny?"),
        ("nested.m > 1", ErrorKind::InvalidPredicate, "did you mean n?"),
        (
            "tiny.x > 1",
            ErrorKind::InvalidPredicate,
            "a dot selects a field of a struct",
        ),
        ("tiny", ErrorKind::InvalidPredicate, ""),
        ("date > 'soon'", ErrorKind::InvalidPredicate, "DATE"),
        ("text > 5", ErrorKind::UnsupportedExpression, "write the literal"),
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
