//! A file with a matching row is never left out: small files, honest statistics and predicates at random.

use std::sync::Arc;

use arrow_array::{RecordBatch, StructArray};
use arrow_schema::Field;
use proptest::prelude::*;

use super::super::may_match;
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar, evaluate, format_timestamp};
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

fn statistics(a: &Values, b: &Values, with_nan: bool, deleted: usize) -> String {
    let tight = deleted == 0;
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
        let text = statistics(&a, &b, with_nan, deleted);
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
