//! Which files are skipped for each type and each kind of statistics.

use arrow_array::{BooleanArray, StructArray};

use super::super::{Files, columns_of, may_match};
use crate::expr::parse_predicate;
use crate::schema::{PrimitiveType, StructField, StructType};
use crate::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};

/// Whether the only file, with these statistics of `x`, is read.
pub(super) fn kept(field: StructField, stats: &str, predicate: &str) -> bool {
    kept_of(vec![field], stats, predicate)
}

pub(super) fn kept_of(fields: Vec<StructField>, stats: &str, predicate: &str) -> bool {
    // Predicates on strings with a collation are rejected when they are bound; here they are evaluated.
    let plain = |field: &StructField| StructField::new(field.name.clone(), field.data_type.clone(), true);
    let plain = StructType {
        fields: fields.iter().map(plain).collect(),
    };
    let predicate = parse_predicate(predicate).unwrap().bind(&plain).unwrap();
    let schema = StructType { fields };
    let wanted = StatisticsSchema::of_columns(&schema, &|field| field.name.clone(), &columns_of(&predicate));
    let mut builder = StatisticsBuilder::with_capacity(&wanted, 1);
    builder.push(StatisticsText::Plain(stats.as_bytes()));
    let kept = may_match(&predicate, &builder.finish().unwrap(), &wanted).unwrap();
    kept.is_none_or(|kept| kept.value(0))
}

pub(super) fn x(kind: PrimitiveType) -> StructField {
    StructField::new("x", kind.into(), true)
}

/// protocol: per-file-statistics.3
#[test]
fn values_outside_the_bounds_are_left_out() {
    let money = PrimitiveType::Decimal {
        precision: 10,
        scale: 2,
    };
    let long = r#"{"numRecords":3,"minValues":{"x":10},"maxValues":{"x":20},"nullCount":{"x":1}}"#;
    let text = r#"{"minValues":{"x":"apple"},"maxValues":{"x":"banana"}}"#;
    let fruit = r#"{"minValues":{"x":"apple"},"maxValues":{"x":"apricot"}}"#;
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
        (PrimitiveType::String, text, "startswith(x, 'banana')", true),
        (PrimitiveType::String, text, "startswith(x, 'bananas')", false),
        (PrimitiveType::String, text, "startswith(x, 'apple')", true),
        (PrimitiveType::String, text, "startswith(x, '')", true),
        (PrimitiveType::String, text, "NOT startswith(x, '')", false),
        (PrimitiveType::String, text, "NOT startswith(x, 'app')", true),
        (PrimitiveType::String, text, "NOT startswith(x, 'ban')", true),
        (PrimitiveType::String, fruit, "NOT startswith(x, 'ap')", false),
        (PrimitiveType::String, fruit, "NOT startswith(x, 'app')", true),
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

/// Statistics of a different number of files are not used.
#[test]
fn all_that_is_reported_is_of_the_same_files() {
    let wanted = StatisticsSchema::num_records_only();
    let mut builder = StatisticsBuilder::with_capacity(&wanted, 2);
    builder.push(StatisticsText::Absent);
    builder.push(StatisticsText::Absent);
    let statistics = builder.finish().unwrap();
    let values = StructArray::new_empty_fields(2, None);
    let unreadable = BooleanArray::from(vec![false; 2]);
    for (count, fits) in [(0, false), (1, false), (2, true), (3, false)] {
        let files = Files::new(count);
        assert_eq!((files.len(), files.is_empty()), (count, count == 0));
        assert_eq!(files.with_statistics(&statistics, &wanted).is_ok(), fits);
        assert_eq!(files.with_partition_values(&values, &unreadable).is_ok(), fits);
    }
    let longer = BooleanArray::from(vec![false; 3]);
    assert!(Files::new(2).with_partition_values(&values, &longer).is_err());
}

/// A result for each file, or none if no file is skipped.
#[test]
fn the_answer_has_a_place_for_each_file() {
    let schema = StructType {
        fields: vec![x(PrimitiveType::Long)],
    };
    let wanted = StatisticsSchema::all(&schema, &|field| field.name.clone());
    let mut builder = StatisticsBuilder::with_capacity(&wanted, 3);
    for (low, high) in [(1, 3), (4, 6), (7, 9)] {
        let stats = format!(r#"{{"minValues":{{"x":{low}}},"maxValues":{{"x":{high}}}}}"#);
        builder.push(StatisticsText::Plain(stats.as_bytes()));
    }
    let statistics = builder.finish().unwrap();
    let kept = |predicate: &str| {
        let predicate = parse_predicate(predicate).unwrap().bind(&schema).unwrap();
        may_match(&predicate, &statistics, &wanted).unwrap()
    };
    assert_eq!(kept("x > 0"), None);
    assert_eq!(kept("x <= 4"), Some(vec![true, true, false].into()));
    assert_eq!(kept("x IN (2, 8)"), Some(vec![true, false, true].into()));
    assert_eq!(kept("x > 9"), Some(vec![false; 3].into()));
}

/// protocol: per-file-statistics.4, per-file-statistics.5
#[test]
fn a_null_count_reports_all_or_nothing() {
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
        (PrimitiveType::Double, "\"NaN\"", "1.0", "x = 7"),
        (PrimitiveType::String, "\"b\"", "\"a\"", "x = 'c'"),
        (PrimitiveType::Double, "-0.0", "0.0", "x = 0.0"),
        (PrimitiveType::Double, "0.0", "0.0", "x = -0.0"),
    ] {
        let stats = format!(r#"{{"numRecords":3,"minValues":{{"x":{low}}},"maxValues":{{"x":{high}}}}}"#);
        assert!(kept(x(kind), &stats, predicate), "{predicate} at {stats}");
    }
}
