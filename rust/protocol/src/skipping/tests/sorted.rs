//! For files that are sorted by a column, exactly the files with a matching row are read.

use super::super::{Files, columns_of, files_that_may_match, may_match};
use super::values::{decimal, literal};
use crate::expr::{Scalar, evaluate, format_date, format_timestamp, parse_predicate};
use crate::schema::{DataType, PrimitiveType, StructField, StructType};
use crate::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};

use arrow_array::{Array, BooleanArray, RecordBatch, StructArray};
use arrow_schema::Field;
use std::sync::Arc;

const FILES: i32 = 6;
const ROWS: i32 = 4;

/// The value of a type at an index of its order; values are far enough apart for any truncation.
fn value(data_type: PrimitiveType, at: i32) -> Scalar {
    match data_type {
        PrimitiveType::Byte => Scalar::Byte(i8::try_from(at).unwrap()),
        PrimitiveType::Short => Scalar::Short(i16::try_from(at * 10).unwrap()),
        PrimitiveType::Integer => Scalar::Integer(at - 10),
        PrimitiveType::Long => Scalar::Long(i64::from(at) << 40),
        PrimitiveType::Float => Scalar::Float(at as f32 / 2.0),
        PrimitiveType::Double => Scalar::Double(f64::from(at) / 3.0),
        PrimitiveType::Decimal { precision, scale } => Scalar::Decimal {
            unscaled: i128::from(at - 7) * 10i128.pow((u32::from(precision) - 3).min(11)),
            precision,
            scale,
        },
        PrimitiveType::String => Scalar::String(format!("{}{at:02}", "é".repeat(20))),
        PrimitiveType::Binary => Scalar::Binary(vec![u8::try_from(at).unwrap()]),
        PrimitiveType::Boolean => Scalar::Boolean(at >= FILES * ROWS / 2),
        PrimitiveType::Date => Scalar::Date(at * 100),
        PrimitiveType::Timestamp => Scalar::Timestamp(1_600_000_000_000_000 + i64::from(at) * 5_000),
        PrimitiveType::TimestampNtz => Scalar::TimestampNtz(i64::from(at) * 5_000 - 10_000),
        other => panic!("{other} has no order"),
    }
}

fn spelled(value: &Scalar) -> String {
    match value {
        Scalar::String(text) => serde_json::to_string(text).unwrap(),
        Scalar::Date(days) => format!("\"{}\"", format_date(*days).unwrap()),
        Scalar::Timestamp(micros) => format!("\"{}Z\"", format_timestamp(*micros, 'T').unwrap()),
        Scalar::TimestampNtz(micros) => format!("\"{}\"", format_timestamp(*micros, 'T').unwrap()),
        other => other.to_partition_text().unwrap(),
    }
}

/// Predicates on a column `x` with values at the indexes from 0 to 23; the last is only for numbers and
/// timestamps.
fn predicates(data_type: PrimitiveType) -> Vec<String> {
    let at = |place| literal(&value(data_type, place));
    let mut predicates = vec![
        format!("x BETWEEN {} AND {}", at(5), at(9)),
        format!("x NOT BETWEEN {} AND {}", at(3), at(22)),
        format!("x IN ({}, {}, NULL)", at(0), at(23)),
        format!("x <=> {}", at(17)),
        format!("NOT (x <= {})", at(11)),
        format!("x >= {} AND (x < {} OR x > {})", at(2), at(4), at(20)),
        "x IS NULL".to_owned(),
        "x IS NOT NULL".to_owned(),
        "x < NULL".to_owned(),
        "FALSE".to_owned(),
    ];
    for place in 0..FILES * ROWS {
        for op in ["=", "<", "<=", ">", ">="] {
            predicates.push(format!("x {op} {}", at(place)));
            predicates.push(format!("{} {op} x", at(place)));
        }
    }
    predicates
}

fn schema(data_type: PrimitiveType) -> StructType {
    StructType {
        fields: vec![StructField::new("x", data_type.into(), true)],
    }
}

/// The files with a match, found by evaluating each row.
fn with_a_match(text: &str, data_type: PrimitiveType, files: &[Vec<Option<Scalar>>]) -> Vec<bool> {
    let predicate = parse_predicate(text).unwrap().bind(&schema(data_type)).unwrap();
    let has_match = |values: &Vec<Option<Scalar>>| {
        let batch =
            RecordBatch::try_from_iter_with_nullable([("x", Scalar::to_column(values, data_type), true)]);
        evaluate(&predicate, &batch.unwrap()).unwrap().true_count() > 0
    };
    files.iter().map(has_match).collect()
}

fn files(data_type: PrimitiveType) -> Vec<Vec<Option<Scalar>>> {
    let file = |file| {
        (file * ROWS..(file + 1) * ROWS)
            .map(|at| Some(value(data_type, at)))
            .collect()
    };
    (0..FILES).map(file).chain([vec![None, None]]).collect()
}

fn all_or(kept: Option<BooleanArray>, files: usize) -> Vec<bool> {
    (0..files)
        .map(|row| kept.as_ref().is_none_or(|kept| kept.value(row)))
        .collect()
}

/// The files with rows that their bounds do not exclude: NaN, and timestamps up to a millisecond away.
fn possible(files: &[Vec<Option<Scalar>>]) -> Vec<Vec<Option<Scalar>>> {
    let more = |values: &[Option<Scalar>]| match (values.first(), values.last()) {
        (Some(Some(Scalar::Float(_))), _) => vec![Some(Scalar::Float(f32::NAN))],
        (Some(Some(Scalar::Double(_))), _) => vec![Some(Scalar::Double(f64::NAN))],
        (Some(Some(Scalar::Timestamp(low))), Some(Some(Scalar::Timestamp(high)))) => {
            vec![
                Some(Scalar::Timestamp(low - 1_000)),
                Some(Scalar::Timestamp(high + 1_000)),
            ]
        }
        (Some(Some(Scalar::TimestampNtz(low))), Some(Some(Scalar::TimestampNtz(high)))) => {
            vec![
                Some(Scalar::TimestampNtz(low - 1_000)),
                Some(Scalar::TimestampNtz(high + 1_000)),
            ]
        }
        _ => Vec::new(),
    };
    files
        .iter()
        .map(|values| [values.clone(), more(values)].concat())
        .collect()
}

/// The column itself, and the same column nested in two structs.
#[test]
fn statistics_retain_exactly_the_files_with_a_match() {
    for data_type in [
        PrimitiveType::Byte,
        PrimitiveType::Short,
        PrimitiveType::Integer,
        PrimitiveType::Long,
        PrimitiveType::Float,
        PrimitiveType::Double,
        decimal(9, 2),
        decimal(38, 10),
        PrimitiveType::String,
        PrimitiveType::Date,
        PrimitiveType::Timestamp,
        PrimitiveType::TimestampNtz,
    ] {
        let files = files(data_type);
        let possible = possible(&files);
        for text in predicates(data_type) {
            let expected = with_a_match(&text, data_type, &possible);
            for levels in 0..3 {
                let kept = kept_by_statistics(&text, data_type, &files, levels);
                assert_eq!(kept, expected, "{data_type}, {levels} structs above: {text}");
            }
        }
    }
}

fn kept_by_statistics(
    text: &str,
    data_type: PrimitiveType,
    files: &[Vec<Option<Scalar>>],
    levels: usize,
) -> Vec<bool> {
    let mut schema = schema(data_type);
    let mut name = "x".to_owned();
    for level in 0..levels {
        let above = format!("s{level}");
        name = format!("{above}.{name}");
        schema = StructType {
            fields: vec![StructField::new(&above, DataType::Struct(schema), true)],
        };
    }
    let text = text.replace('x', &name);
    let predicate = parse_predicate(&text).unwrap().bind(&schema).unwrap();
    let wanted = StatisticsSchema::of_columns(&schema, &|field| field.name.clone(), &columns_of(&predicate));
    let mut builder = StatisticsBuilder::with_capacity(&wanted, files.len());
    for values in files {
        let below = |value: String| {
            (0..levels).fold(format!("{{\"x\":{value}}}"), |below, level| {
                format!("{{\"s{level}\":{below}}}")
            })
        };
        let nulls = below(values.iter().filter(|value| value.is_none()).count().to_string());
        let part = |name: &str, value: &Option<Scalar>| match value {
            Some(value) => format!("\"{name}\":{},", below(spelled(value))),
            None => String::new(),
        };
        let (min, max) = (
            part("minValues", &values[0]),
            part("maxValues", values.last().unwrap()),
        );
        let stats = format!(
            "{{\"numRecords\":{},{min}{max}\"nullCount\":{nulls}}}",
            values.len()
        );
        builder.push(StatisticsText::Plain(stats.as_bytes()));
    }
    let kept = may_match(&predicate, &builder.finish().unwrap(), &wanted).unwrap();
    all_or(kept, files.len())
}

/// protocol: partition-value-serialization.1
#[test]
fn partition_values_retain_exactly_the_files_with_a_match() {
    for data_type in [
        PrimitiveType::Byte,
        PrimitiveType::Short,
        PrimitiveType::Integer,
        PrimitiveType::Long,
        PrimitiveType::Float,
        PrimitiveType::Double,
        decimal(9, 2),
        decimal(38, 10),
        PrimitiveType::String,
        PrimitiveType::Binary,
        PrimitiveType::Boolean,
        PrimitiveType::Date,
        PrimitiveType::Timestamp,
        PrimitiveType::TimestampNtz,
    ] {
        let rows: Vec<Option<Scalar>> = files(data_type).into_iter().flatten().collect();
        let files: Vec<_> = rows.iter().map(|value| vec![value.clone()]).collect();
        let column = Scalar::to_column(&rows, data_type);
        let field = Arc::new(Field::new("x", column.data_type().clone(), true));
        let values = StructArray::from(vec![(field, column)]);
        for text in predicates(data_type) {
            let expected = with_a_match(&text, data_type, &files);
            let predicate = parse_predicate(&text).unwrap().bind(&schema(data_type)).unwrap();
            let kept = |unreadable: &BooleanArray| {
                let known = Files::new(rows.len())
                    .with_partition_values(&values, unreadable)
                    .unwrap();
                all_or(files_that_may_match(&predicate, &known).unwrap(), rows.len())
            };
            assert_eq!(
                kept(&vec![false; rows.len()].into()),
                expected,
                "{data_type}: {text}"
            );
            // Nothing is known about unreadable values.
            let odd: Vec<bool> = (0..rows.len()).map(|row| row % 2 == 1).collect();
            let with_odd: Vec<bool> = expected
                .iter()
                .zip(&odd)
                .map(|(expected, odd)| *expected || *odd)
                .collect();
            let is_constant = text == "FALSE" || text == "x < NULL";
            assert_eq!(
                kept(&odd.into()),
                if is_constant { expected } else { with_odd },
                "{data_type}: {text}"
            );
        }
    }
}
