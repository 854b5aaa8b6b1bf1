//! Laws of data skipping: a file with a matching row is never left out, and one that cannot match is.

use std::sync::Arc;

use arrow_array::{RecordBatch, StructArray};
use arrow_schema::Field;
use proptest::prelude::*;

use super::{columns_of, may_match};
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar, evaluate, format_timestamp, parse_predicate};
use crate::schema::{DataType, PrimitiveType, StructField, StructType};
use crate::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText, lower_bound, upper_bound};

type Values = Vec<Option<Scalar>>;

/// A table of `a` and of `s.b`.
fn schema(kind: PrimitiveType) -> StructType {
    let below = StructType {
        fields: vec![StructField::new("b", kind.into(), true)],
    };
    StructType {
        fields: vec![
            StructField::new("a", kind.into(), true),
            StructField::new("s", DataType::Struct(below), true),
        ],
    }
}

fn paths() -> [Vec<String>; 2] {
    [vec!["a".to_owned()], vec!["s".to_owned(), "b".to_owned()]]
}

fn batch(a: &Values, b: &Values, kind: PrimitiveType) -> RecordBatch {
    let (a, b) = (Scalar::to_column(a, kind), Scalar::to_column(b, kind));
    let inner = Field::new("b", b.data_type().clone(), true);
    let below = StructArray::from(vec![(Arc::new(inner), b)]);
    RecordBatch::try_from_iter_with_nullable([("a", a, true), ("s", Arc::new(below) as _, true)]).unwrap()
}

/// Kinds with values that are near each other, so that predicates often hit.
fn kinds() -> impl Strategy<Value = (PrimitiveType, Vec<Scalar>)> {
    let nan = f64::NAN;
    let decimal = |unscaled, precision| Scalar::Decimal {
        unscaled,
        precision,
        scale: 2,
    };
    let texts = ["", "a", "ab", "ü", "\u{7F}", "\u{10FFFF}"]
        .map(str::to_owned)
        .into_iter()
        .chain(
            ["", "a", "b", "\u{7F}", "é", "\u{FFFD}", "🚋", "\u{10FFFF}"]
                .into_iter()
                .flat_map(|end| ["x", "é", "🚋", "\u{10FFFF}"].map(|one| format!("{}{end}", one.repeat(32)))),
        );
    let micros = [
        0,
        1,
        999,
        1000,
        1999,
        -1,
        -999,
        -1000,
        86_400_000_000,
        i64::MAX / 2_000,
        1_600_000_000_123_999,
    ];
    proptest::sample::select(vec![
        (
            PrimitiveType::Byte,
            [-128, -1, 0, 1, 127].map(Scalar::Byte).to_vec(),
        ),
        (
            PrimitiveType::Integer,
            [i32::MIN, 0, 1, i32::MAX].map(Scalar::Integer).to_vec(),
        ),
        (
            PrimitiveType::Long,
            [i64::MIN, -1, 0, 7, 9_007_199_254_740_993, i64::MAX]
                .map(Scalar::Long)
                .to_vec(),
        ),
        (
            PrimitiveType::Float,
            [
                f32::NAN,
                f32::INFINITY,
                f32::NEG_INFINITY,
                -0.0,
                0.0,
                6.1,
                0.1,
                f32::MAX,
            ]
            .map(Scalar::Float)
            .to_vec(),
        ),
        (
            PrimitiveType::Double,
            [
                nan,
                f64::INFINITY,
                f64::NEG_INFINITY,
                -0.0,
                0.0,
                6.1,
                5e-324,
                1e300,
            ]
            .map(Scalar::Double)
            .to_vec(),
        ),
        (
            PrimitiveType::Decimal {
                precision: 10,
                scale: 2,
            },
            [-100, 0, 1, 950, 9_999_999_999]
                .map(|value| decimal(value, 10))
                .to_vec(),
        ),
        (
            PrimitiveType::Decimal {
                precision: 38,
                scale: 2,
            },
            [-(10i128.pow(38) - 1), 0, 10i128.pow(20) + 1, 10i128.pow(38) - 1]
                .map(|value| decimal(value, 38))
                .to_vec(),
        ),
        (PrimitiveType::String, texts.map(Scalar::String).collect()),
        (
            PrimitiveType::Date,
            [-719_162, -1, 0, 1, 20_000].map(Scalar::Date).to_vec(),
        ),
        (PrimitiveType::Timestamp, micros.map(Scalar::Timestamp).to_vec()),
        (
            PrimitiveType::TimestampNtz,
            micros.map(Scalar::TimestampNtz).to_vec(),
        ),
        (
            PrimitiveType::Boolean,
            [true, false].map(Scalar::Boolean).to_vec(),
        ),
        (
            PrimitiveType::Binary,
            [&b""[..], b"a", b"\xFF"]
                .map(|value| Scalar::Binary(value.to_vec()))
                .to_vec(),
        ),
    ])
}

/// Orders values as Spark does; NaN is above everything.
fn order(a: &Scalar, b: &Scalar) -> std::cmp::Ordering {
    let float = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (false, false) => a.partial_cmp(&b).unwrap(),
        (a, b) => a.cmp(&b),
    };
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => float(f64::from(*a), f64::from(*b)),
        (Scalar::Double(a), Scalar::Double(b)) => float(*a, *b),
        (Scalar::String(a), Scalar::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Scalar::Decimal { unscaled: a, .. }, Scalar::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Scalar::Byte(a), Scalar::Byte(b)) => a.cmp(b),
        (Scalar::Integer(a), Scalar::Integer(b)) | (Scalar::Date(a), Scalar::Date(b)) => a.cmp(b),
        (Scalar::Long(a), Scalar::Long(b))
        | (Scalar::Timestamp(a), Scalar::Timestamp(b))
        | (Scalar::TimestampNtz(a), Scalar::TimestampNtz(b)) => a.cmp(b),
        other => panic!("no bounds: {other:?}"),
    }
}

/// A bound as a careful writer spells it in JSON.
fn spelled(value: &Scalar, is_max: bool) -> Option<String> {
    let milliseconds = |micros: i64| format_timestamp(micros.div_euclid(1000) * 1000, 'T');
    Some(match value {
        Scalar::String(text) if is_max => serde_json::to_string(&upper_bound(text)?).ok()?,
        Scalar::String(text) => serde_json::to_string(lower_bound(text)).ok()?,
        Scalar::Timestamp(micros) => format!("\"{}Z\"", milliseconds(*micros)?),
        Scalar::TimestampNtz(micros) => format!("\"{}\"", milliseconds(*micros)?),
        Scalar::Float(value) if !value.is_finite() => format!("\"{value}\"").replace("inf", "Infinity"),
        Scalar::Double(value) if !value.is_finite() => format!("\"{value}\"").replace("inf", "Infinity"),
        Scalar::Date(_) => format!("\"{}\"", value.to_partition_text()?),
        other => other.to_partition_text()?,
    })
}

/// The bounds of a column; `with_nan` as Spark makes them, without as they come out of Parquet's footers.
fn bounds(values: &Values, with_nan: bool) -> [Option<String>; 2] {
    let counts = |value: &&Scalar| match value {
        Scalar::Boolean(_) | Scalar::Binary(_) => false,
        Scalar::Float(value) => with_nan || !value.is_nan(),
        Scalar::Double(value) => with_nan || !value.is_nan(),
        _ => true,
    };
    let known = || values.iter().flatten().filter(counts);
    [
        known()
            .min_by(|a, b| order(a, b))
            .and_then(|value| spelled(value, false)),
        known()
            .max_by(|a, b| order(a, b))
            .and_then(|value| spelled(value, true)),
    ]
}

fn statistics(a: &Values, b: &Values, with_nan: bool, tight: bool) -> String {
    let part = |a: Option<String>, b: Option<String>| {
        let a = a.map(|a| format!("\"a\":{a}"));
        let b = b.map(|b| format!("\"s\":{{\"b\":{b}}}"));
        a.into_iter().chain(b).collect::<Vec<_>>().join(",")
    };
    let nulls = |values: &Values| Some(values.iter().filter(|value| value.is_none()).count().to_string());
    let ([low_a, high_a], [low_b, high_b]) = (bounds(a, with_nan), bounds(b, with_nan));
    format!(
        r#"{{"numRecords":{},"tightBounds":{tight},"minValues":{{{}}},"maxValues":{{{}}},"nullCount":{{{}}}}}"#,
        a.len(),
        part(low_a, low_b),
        part(high_a, high_b),
        part(nulls(a), nulls(b)),
    )
}

fn predicates(kind: PrimitiveType, pool: Vec<Scalar>) -> impl Strategy<Value = BoundPredicate> {
    let ops = proptest::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
        Comparison::NullSafeEqual,
    ]);
    let path = || proptest::sample::select(paths().to_vec());
    let value = proptest::sample::select(pool);
    let with_value =
        (ops.clone(), path(), value.clone()).prop_map(move |(op, path, value)| BoundPredicate::Compare {
            op,
            left: Operand::Column(path),
            right: Operand::Scalar(value),
            common: kind,
        });
    let of_columns = (ops, path(), path()).prop_map(move |(op, left, right)| BoundPredicate::Compare {
        op,
        left: Operand::Column(left),
        right: Operand::Column(right),
        common: kind,
    });
    let special = (path(), value).prop_map(move |(path, value)| match value {
        Scalar::Boolean(_) => BoundPredicate::Column(path),
        Scalar::String(text) => {
            let cut = text.char_indices().nth(20).map_or(text.len(), |(cut, _)| cut);
            BoundPredicate::StartsWith(path, text.get(..cut).unwrap_or_default().to_owned())
        }
        _ => BoundPredicate::IsNull(path),
    });
    let constant =
        proptest::sample::select(vec![Some(true), Some(false), None]).prop_map(BoundPredicate::Constant);
    let leaf = prop_oneof![
        6 => with_value,
        1 => of_columns,
        2 => special,
        1 => path().prop_map(BoundPredicate::IsNull),
        1 => constant,
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(BoundPredicate::And),
            prop::collection::vec(inner.clone(), 0..3).prop_map(BoundPredicate::Or),
            inner.prop_map(|inner| BoundPredicate::Not(Box::new(inner))),
        ]
    })
}

fn a_file() -> impl Strategy<Value = (PrimitiveType, Values, Values, Vec<BoundPredicate>)> {
    kinds().prop_flat_map(|(kind, pool)| {
        let value = proptest::option::weighted(0.8, proptest::sample::select(pool.clone()));
        let values = move || prop::collection::vec(value.clone(), 3);
        (
            Just(kind),
            values(),
            values(),
            prop::collection::vec(predicates(kind, pool), 8),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// protocol: per-file-statistics.4, per-file-statistics.5
    #[test]
    fn a_file_with_a_matching_row_is_never_left_out(
        (kind, a, b, predicates) in a_file(),
        (rows, deleted, with_nan) in (1..4usize, 0..3usize, any::<bool>()),
    ) {
        let (a, b): (Values, Values) = (a[..rows].to_vec(), b[..rows].to_vec());
        let schema = schema(kind);
        let wanted = StatisticsSchema::all(&schema, &|field| field.name.clone());
        let text = statistics(&a, &b, with_nan, deleted == 0);
        let mut builder = StatisticsBuilder::with_capacity(&wanted, 1);
        builder.push(StatisticsText::Plain(text.as_bytes()));
        let columns = builder.finish().unwrap();
        // Rows that a deletion vector took away are still in the statistics.
        let left = deleted.min(rows);
        let rows = batch(&a[left..].to_vec(), &b[left..].to_vec(), kind);
        for predicate in predicates {
            let matches = evaluate(&predicate, &rows).unwrap().true_count() > 0;
            let kept = may_match(&predicate, &columns, &wanted).unwrap();
            let kept = kept.is_none_or(|kept| kept.value(0));
            prop_assert!(kept || !matches, "{predicate:?}\n{text}\n{a:?} {b:?}");
        }
    }
}

/// Whether the one file with these statistics of `x` is kept.
fn kept(field: StructField, stats: &str, predicate: &str) -> bool {
    let schema = StructType { fields: vec![field] };
    let predicate = parse_predicate(predicate).unwrap().bind(&schema).unwrap();
    let wanted = StatisticsSchema::of_columns(&schema, &|field| field.name.clone(), &columns_of(&predicate));
    let mut builder = StatisticsBuilder::with_capacity(&wanted, 1);
    builder.push(StatisticsText::Plain(stats.as_bytes()));
    let kept = may_match(&predicate, &builder.finish().unwrap(), &wanted).unwrap();
    kept.is_none_or(|kept| kept.value(0))
}

fn x(kind: PrimitiveType) -> StructField {
    StructField::new("x", kind.into(), true)
}

/// protocol: per-file-statistics.3
#[test]
fn what_is_outside_the_bounds_is_left_out() {
    let money = PrimitiveType::Decimal {
        precision: 10,
        scale: 2,
    };
    let long = r#"{"numRecords":3,"minValues":{"x":10},"maxValues":{"x":20},"nullCount":{"x":1}}"#;
    let text = r#"{"minValues":{"x":"apple"},"maxValues":{"x":"banana"}}"#;
    let day = r#"{"minValues":{"x":"2024-01-01"},"maxValues":{"x":"2024-01-31"}}"#;
    let time =
        r#"{"minValues":{"x":"2024-01-01T00:00:00.000Z"},"maxValues":{"x":"2024-01-01T00:00:00.999Z"}}"#;
    let double = r#"{"minValues":{"x":-1.5},"maxValues":{"x":2.5}}"#;
    let equal = r#"{"minValues":{"x":5},"maxValues":{"x":5}}"#;
    for (kind, stats, predicate, expected) in [
        (PrimitiveType::Long, long, "x = 7", false),
        (PrimitiveType::Long, long, "x = 10", true),
        (PrimitiveType::Long, long, "x > 20", false),
        (PrimitiveType::Long, long, "x > 19.5", true),
        (PrimitiveType::Long, long, "x > 20.5", false),
        (PrimitiveType::Long, long, "x < 9.5E0", false),
        (PrimitiveType::Long, long, "x IN (1, 30)", false),
        (PrimitiveType::Long, long, "x BETWEEN 21 AND 30", false),
        (PrimitiveType::Long, long, "NOT (x >= 10)", false),
        (PrimitiveType::Long, long, "x <=> 9", false),
        (PrimitiveType::Long, long, "NOT (x <=> 9)", true),
        (PrimitiveType::Long, long, "x = NULL", false),
        (PrimitiveType::Long, equal, "x <> 5", false),
        (PrimitiveType::Double, equal, "x <> 5", true),
        (PrimitiveType::String, text, "x = 'cherry'", false),
        (PrimitiveType::String, text, "startswith(x, 'c')", false),
        (PrimitiveType::String, text, "startswith(x, 'av')", true),
        (PrimitiveType::String, text, "startswith(x, 'ap')", true),
        (PrimitiveType::String, text, "startswith(x, 'an')", false),
        (PrimitiveType::Date, day, "x = DATE '2024-02-01'", false),
        (
            PrimitiveType::Date,
            day,
            "x > TIMESTAMP '2024-01-31 00:00:01'",
            false,
        ),
        (
            PrimitiveType::Timestamp,
            time,
            "x = TIMESTAMP '2024-01-01 00:00:00.999999'",
            true,
        ),
        (
            PrimitiveType::Timestamp,
            time,
            "x > TIMESTAMP '2024-01-01 00:00:01'",
            false,
        ),
        (PrimitiveType::Double, double, "x > 2.5", true),
        (PrimitiveType::Double, double, "x >= 100", true),
        (PrimitiveType::Double, double, "x = 7", false),
        (PrimitiveType::Double, double, "x = CAST('NaN' AS DOUBLE)", true),
        (PrimitiveType::Double, double, "x < -1.5", false),
        (money, double, "x > 2.5", false),
        (
            PrimitiveType::Boolean,
            r#"{"numRecords":3,"nullCount":{"x":3}}"#,
            "NOT x",
            false,
        ),
        (
            PrimitiveType::Binary,
            r#"{"numRecords":3,"nullCount":{"x":3}}"#,
            "x = X'00'",
            false,
        ),
    ] {
        assert_eq!(
            kept(x(kind), stats, predicate),
            expected,
            "{kind}: {predicate} at {stats}"
        );
    }
}

/// protocol: per-file-statistics.4, per-file-statistics.5
#[test]
fn a_null_count_tells_all_or_nothing() {
    for (nulls, is_null, is_not_null) in [
        ("0", false, true),
        ("3", true, false),
        ("1", true, true),
        ("4", true, true),
    ] {
        for tight in [true, false] {
            let stats = format!(r#"{{"numRecords":3,"tightBounds":{tight},"nullCount":{{"x":{nulls}}}}}"#);
            let kept = |predicate| kept(x(PrimitiveType::Long), &stats, predicate);
            assert_eq!(kept("x IS NULL"), is_null, "{stats}");
            assert_eq!(kept("x IS NOT NULL"), is_not_null, "{stats}");
            assert_eq!(kept("x > 5"), is_not_null, "{stats}");
        }
    }
    let no_rows = r#"{"nullCount":{"x":3}}"#;
    assert!(kept(x(PrimitiveType::Long), no_rows, "x IS NOT NULL"));
}

#[test]
fn bounds_that_cannot_be_leave_nothing_out() {
    for (kind, low, high, predicate) in [
        (PrimitiveType::Long, "20", "10", "x = 1000000"),
        (PrimitiveType::Long, "20", "10", "x < -5"),
        (PrimitiveType::Double, "\"NaN\"", "\"NaN\"", "x < 0.0"),
        (PrimitiveType::String, "\"b\"", "\"a\"", "x = 'c'"),
        (PrimitiveType::Double, "-0.0", "0.0", "x = 0.0"),
        (PrimitiveType::Double, "0.0", "0.0", "x = -0.0"),
    ] {
        let stats = format!(r#"{{"numRecords":3,"minValues":{{"x":{low}}},"maxValues":{{"x":{high}}}}}"#);
        assert!(kept(x(kind), &stats, predicate), "{predicate} at {stats}");
    }
}

/// A maximum of 32 characters that was cut without a last character above all others.
#[test]
fn a_text_that_may_be_cut_is_no_upper_bound() {
    let stats = |high: &str| format!(r#"{{"minValues":{{"x":"a"}},"maxValues":{{"x":"{high}"}}}}"#);
    let predicate = format!("x = '{}c'", "b".repeat(32));
    for (high, expected) in [
        ("b".repeat(32), true),
        ("b".repeat(31), false),
        ("🚋".repeat(16), true),
        ("b".repeat(32) + "\u{7F}", true),
        ("b".repeat(31) + "a\u{7F}", false),
    ] {
        let predicate = if high.starts_with('🚋') {
            "x = '\u{10FFFF}'"
        } else {
            &predicate
        };
        assert_eq!(
            kept(x(PrimitiveType::String), &stats(&high), predicate),
            expected,
            "{high}"
        );
    }
}

/// protocol: beyond:collations.1
#[test]
fn text_of_a_collation_is_not_compared_with_bounds() {
    let stats = r#"{"minValues":{"x":"a"},"maxValues":{"x":"b"}}"#;
    let mut field = x(PrimitiveType::String);
    assert!(!kept(field.clone(), stats, "x = 'c'"));
    let collation = serde_json::json!({"x": "icu.en_US.75.1"});
    field.metadata.insert("__COLLATIONS".to_owned(), collation);
    assert!(kept(field, stats, "x = 'c'"));
}

/// A decimal that went through a double may have moved by half of its last place.
#[test]
fn a_large_decimal_may_have_lost_digits() {
    let kind = PrimitiveType::Decimal {
        precision: 20,
        scale: 0,
    };
    let stats = r#"{"minValues":{"x":1},"maxValues":{"x":12345678901234567000}}"#;
    assert!(kept(x(kind), stats, "x = 12345678901234567890"));
    assert!(!kept(x(kind), stats, "x = 12345678901234580000"));
}
