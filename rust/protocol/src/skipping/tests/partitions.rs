//! Partition values combined with statistics: a data column is compared exactly with a partition column.

use std::sync::Arc;

use arrow_array::{Array, BooleanArray, StructArray};
use arrow_schema::Field;

use super::super::{Files, columns_of, files_that_may_match};
use super::values::decimal;
use crate::expr::{Scalar, parse_predicate};
use crate::schema::{PrimitiveType, StructField, StructType};
use crate::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};

/// Which files are read, given the same bounds of `x` and these values of `p`; `?` is unreadable.
fn kept(kind: PrimitiveType, bounds: (&str, &str), texts: &[&str], predicate: &str) -> Vec<bool> {
    let field = |name: &str| StructField::new(name, kind.into(), true);
    let schema = StructType {
        fields: vec![field("x"), field("p")],
    };
    let predicate = parse_predicate(predicate).unwrap().bind(&schema).unwrap();
    let with_data = StructType {
        fields: vec![field("x")],
    };
    let wanted =
        StatisticsSchema::of_columns(&with_data, &|field| field.name.clone(), &columns_of(&predicate));
    let mut builder = StatisticsBuilder::with_capacity(&wanted, texts.len());
    let (low, high) = bounds;
    let stats = format!(
        r#"{{"numRecords":2,"minValues":{{"x":{low}}},"maxValues":{{"x":{high}}},"nullCount":{{"x":0}}}}"#
    );
    texts
        .iter()
        .for_each(|_| builder.push(StatisticsText::Plain(stats.as_bytes())));
    let statistics = builder.finish().unwrap();
    let values: Vec<_> = texts
        .iter()
        .map(|text| Scalar::parse(text, kind).filter(|_| *text != "NULL"))
        .collect();
    let column = Scalar::to_column(&values, kind);
    let values = StructArray::from(vec![(
        Arc::new(Field::new("p", column.data_type().clone(), true)),
        column,
    )]);
    let unreadable: BooleanArray = texts.iter().map(|text| Some(*text == "?")).collect();
    let files = Files::new(texts.len())
        .with_statistics(&statistics, &wanted)
        .unwrap()
        .with_partition_values(&values, &unreadable)
        .unwrap();
    let kept = files_that_may_match(&predicate, &files).unwrap();
    (0..texts.len())
        .map(|row| kept.as_ref().is_none_or(|kept| kept.value(row)))
        .collect()
}

#[test]
fn columns_are_compared_with_partition_values() {
    let (t, f) = (true, false);
    let day = ("\"2024-01-10\"", "\"2024-01-20\"");
    let time = ("\"2024-01-10T00:00:00.000Z\"", "\"2024-01-20T00:00:00.000Z\"");
    let long = "x".repeat(40);
    let text = format!("{long}b");
    for (kind, bounds, values, predicate, expected) in [
        (
            PrimitiveType::Long,
            ("10", "20"),
            ["9", "10", "20", "21"],
            "x = p",
            [f, t, t, f],
        ),
        (
            PrimitiveType::Long,
            ("10", "20"),
            ["9", "10", "20", "21"],
            "p < x",
            [t, t, f, f],
        ),
        (
            PrimitiveType::Long,
            ("10", "20"),
            ["9", "10", "20", "21"],
            "p > x",
            [f, f, t, t],
        ),
        (
            PrimitiveType::Long,
            ("10", "20"),
            ["NULL", "?", "20", "21"],
            "p = x",
            [f, t, t, f],
        ),
        (
            PrimitiveType::Long,
            ("10", "20"),
            ["NULL", "?", "5", "21"],
            "p <> x",
            [f, t, t, t],
        ),
        (
            PrimitiveType::Long,
            ("10", "10"),
            ["9", "10", "?", "NULL"],
            "p <> x",
            [t, f, t, f],
        ),
        (
            PrimitiveType::Long,
            ("10", "10"),
            ["9", "10", "?", "NULL"],
            "NOT (p = x)",
            [t, f, t, f],
        ),
        (
            PrimitiveType::Double,
            ("1.5", "2.5"),
            ["1.0", "2.5", "NaN", "3.0"],
            "p < x",
            [t, t, t, t],
        ),
        (
            PrimitiveType::Double,
            ("1.5", "2.5"),
            ["1.0", "2.5", "NaN", "3.0"],
            "p <= x AND x < 9.0",
            [t, t, t, f],
        ),
        (
            PrimitiveType::Double,
            ("1.5", "2.5"),
            ["1.0", "2.5", "NaN", "1.5"],
            "p > x",
            [f, t, t, f],
        ),
        (
            decimal(9, 2),
            ("1.5", "2.5"),
            ["1.49", "1.5", "2.5", "2.51"],
            "p = x",
            [f, t, t, f],
        ),
        (
            PrimitiveType::String,
            ("\"b\"", "\"d\""),
            ["a", "b", "d", "da"],
            "p = x",
            [f, t, t, f],
        ),
        (
            PrimitiveType::String,
            ("\"a\"", "\"b\""),
            [&long, &text, "a", "?"],
            "p <= x",
            [f, f, t, t],
        ),
        (
            PrimitiveType::Date,
            day,
            ["2024-01-09", "2024-01-10", "2024-01-20", "2024-01-21"],
            "p = x",
            [f, t, t, f],
        ),
        (
            PrimitiveType::Timestamp,
            time,
            [
                "2024-01-09T23:59:59.998Z",
                "2024-01-09T23:59:59.999Z",
                "2024-01-20T00:00:00.001Z",
                "2024-01-20T00:00:00.002Z",
            ],
            "p = x",
            [f, t, t, f],
        ),
        (
            PrimitiveType::Boolean,
            ("1", "1"),
            ["true", "false", "NULL", "?"],
            "p OR x",
            [t, t, t, t],
        ),
        (
            PrimitiveType::Boolean,
            ("1", "1"),
            ["true", "false", "NULL", "?"],
            "p AND x",
            [t, f, f, t],
        ),
        (
            PrimitiveType::Boolean,
            ("1", "1"),
            ["true", "false", "NULL", "?"],
            "p = x",
            [t, t, f, t],
        ),
    ] {
        assert_eq!(
            kept(kind, bounds, &values, predicate),
            expected,
            "{kind}: {predicate} of {values:?}"
        );
    }
}

/// A partition value is not truncated, so it is compared exactly.
#[test]
fn partition_values_are_not_widened() {
    let (old, large) = ("1850-01-01T00:00:00.000Z", "76335842329427.12");
    let of_time = ("\"1900-01-01T00:00:00.000Z\"", "\"1900-01-01T00:00:00.000Z\"");
    assert_eq!(kept(PrimitiveType::Timestamp, of_time, &[old], "p > x"), [false]);
    // A minute for the bound, nothing for the value.
    let near = [
        "1900-01-01T00:01:00.000Z",
        "1900-01-01T00:01:00.001Z",
        "1899-12-31T23:58:59.999Z",
    ];
    assert_eq!(
        kept(PrimitiveType::Timestamp, of_time, &near, "p = x"),
        [true, false, false]
    );
    let of_decimals = ("1", "76335842329426");
    assert_eq!(kept(decimal(16, 2), of_decimals, &[large], "p = x"), [false]);
    assert_eq!(
        kept(decimal(16, 2), ("1", large), &["76335842329427.14"], "p = x"),
        [true]
    );
}
