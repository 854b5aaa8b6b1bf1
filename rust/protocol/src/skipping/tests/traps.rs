//! Misleading statistics: types are truncated in different ways, and writers differ.

use super::cases::{kept, kept_of, x};
use super::values::decimal;
use crate::schema::{ArrayType, DataType, PrimitiveType, StructField};

/// A maximum of 32 characters that was truncated without a tie-breaker character.
#[test]
fn a_text_that_may_be_cut_is_not_a_upper_bound() {
    let stats = |high: &str| format!(r#"{{"minValues":{{"x":"a"}},"maxValues":{{"x":"{high}"}}}}"#);
    let predicate = format!("x = '{}c'", "b".repeat(32));
    for (high, expected) in [
        ("b".repeat(32), true),
        ("b".repeat(31), false),
        ("🚋".repeat(16), true),
        ("b".repeat(32) + "\u{7F}", true),
        ("b".repeat(31) + "a\u{7F}", false),
        ("b".repeat(30) + "b\u{7F}", true),
        ("b".repeat(30) + "b\u{10FFFF}", true),
        ("b".repeat(32) + "\u{10FFFF}", true),
        ("b".repeat(31) + "a\u{10FFFF}", false),
        ("b".repeat(31) + "a\u{FFFD}", true),
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

/// It ends like a truncated maximum with a tie-breaker, but was truncated without one.
#[test]
fn a_last_character_that_the_text_has_itself_makes_no_bound() {
    for last in ["\u{7F}", "\u{10FFFF}"] {
        let cut = format!("{}{last}", "b".repeat(31));
        let stats = format!(r#"{{"minValues":{{"x":"a"}},"maxValues":{{"x":"{cut}"}}}}"#);
        assert!(kept(x(PrimitiveType::String), &stats, &format!("x = '{cut}c'")));
        let bound = format!("{}{last}", "b".repeat(32));
        let stats = format!(r#"{{"minValues":{{"x":"a"}},"maxValues":{{"x":"{bound}"}}}}"#);
        assert!(!kept(
            x(PrimitiveType::String),
            &stats,
            &format!("x = '{bound}c'")
        ));
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
    assert!(kept(field.clone(), stats, "x = 'c'"));
    assert!(kept(field.clone(), stats, "startswith(x, 'c')"));
    // Statistics of the collation are not used either, because its order is not implemented.
    let of_collation = r#"{"statsWithCollation":{"icu.en_US.75.1":{"min":{"x":"a"},"max":{"x":"b"}}}}"#;
    assert!(kept(field.clone(), of_collation, "x = 'c'"));
    // NULL is NULL in any collation.
    let nulls = r#"{"numRecords":2,"nullCount":{"x":2}}"#;
    assert!(!kept(field, nulls, "x = 'c'"));
}

/// A decimal that was converted to a double may have changed by half of its last digit.
#[test]
fn a_large_decimal_may_have_lost_digits() {
    let kind = PrimitiveType::Decimal {
        precision: 20,
        scale: 0,
    };
    let stats = r#"{"minValues":{"x":1},"maxValues":{"x":12345678901234567000}}"#;
    assert!(kept(x(kind), stats, "x = 12345678901234567890"));
    assert!(!kept(x(kind), stats, "x = 12345678901334567000"));
    // The nearest double has another last digit, although there are at most sixteen.
    let kind = decimal(16, 2);
    let stats = r#"{"minValues":{"x":1},"maxValues":{"x":76335842329427.12}}"#;
    assert!(kept(x(kind), stats, "x = 76335842329427.13"));
    assert!(!kept(x(kind), stats, "x = 76335842329428"));
    let stats = r#"{"minValues":{"x":-76335842329427.12},"maxValues":{"x":1}}"#;
    assert!(kept(x(kind), stats, "x = -76335842329427.13"));
    assert!(!kept(x(kind), stats, "x = -76335842329428"));
    let stats = r#"{"minValues":{"x":1},"maxValues":{"x":999999999999.99}}"#;
    assert!(!kept(x(kind), stats, "x = 1000000000000"));
    // The first value whose last digit is not trusted.
    let stats = r#"{"minValues":{"x":1},"maxValues":{"x":1000000000000.00}}"#;
    assert!(kept(x(kind), stats, "x = 1000000000000.01"));
    assert!(!kept(x(kind), stats, "x = 1000000000000.02"));
}

/// Some writers count the elements of arrays and maps, and some put the count of the keys of a map beside
/// the columns.
#[test]
fn a_null_count_that_may_be_of_items_reports_nothing() {
    let items = ArrayType {
        element_type: PrimitiveType::Long.into(),
        contains_null: true,
    };
    let items = StructField::new("items", DataType::Array(Box::new(items)), true);
    let stats = r#"{"numRecords":1,"nullCount":{"items":1,"x":1,"key":1,"value":0}}"#;
    let kept = |columns: &[&str], predicate| {
        let with = |name: &&str| match *name {
            "items" => items.clone(),
            "void" => StructField::new("x", PrimitiveType::Void.into(), true),
            name => StructField::new(name, PrimitiveType::Long.into(), true),
        };
        kept_of(columns.iter().map(with).collect(), stats, predicate)
    };
    assert!(kept(&["items"], "items IS NOT NULL"));
    assert!(!kept_of(
        vec![items.clone()],
        r#"{"nullCount":{"items":0}}"#,
        "items IS NULL"
    ));
    assert!(!kept(&["x", "items"], "x IS NOT NULL"));
    assert!(kept(&["void"], "x IS NOT NULL"));
    assert!(!kept(&["key"], "key IS NOT NULL"));
    assert!(kept(&["key", "items"], "key IS NOT NULL"));
    assert!(!kept(&["value"], "value IS NULL"));
    assert!(kept(&["value", "items"], "value IS NULL"));
}

/// Contradictory statistics are ignored.
#[test]
fn columns_with_bounds_are_not_all_null() {
    for (bounds, is_kept) in [
        ("", false),
        (r#""minValues":{"x":1},"#, true),
        (r#""maxValues":{"x":9},"#, true),
    ] {
        let stats = format!(r#"{{"numRecords":3,{bounds}"nullCount":{{"x":3}}}}"#);
        assert_eq!(kept(x(PrimitiveType::Long), &stats, "x > 5"), is_kept, "{stats}");
    }
}

/// Text contains hours and minutes of the offset of a zone; until 1972, there were also seconds.
#[test]
fn old_instants_may_be_a_minute_away() {
    let stats =
        |low: &str, high: &str| format!(r#"{{"minValues":{{"x":"{low}"}},"maxValues":{{"x":"{high}"}}}}"#);
    for (high, predicate, is_kept) in [
        (
            "1883-01-01T00:00:00.000-07:52",
            "x > TIMESTAMP '1883-01-01 07:52:58Z'",
            true,
        ),
        (
            "1883-01-01T00:00:00.000-07:52",
            "x > TIMESTAMP '1883-01-01 07:53:01Z'",
            false,
        ),
        (
            "1972-12-31T23:59:59.999Z",
            "x > TIMESTAMP '1973-01-01 00:00:50Z'",
            true,
        ),
        (
            "1973-01-01T00:00:00.000Z",
            "x > TIMESTAMP '1973-01-01 00:00:50Z'",
            false,
        ),
        (
            "1973-01-01T00:00:00.001Z",
            "x > TIMESTAMP '1973-01-01 00:00:50Z'",
            false,
        ),
    ] {
        let stats = stats("1800-01-01T00:00:00.000Z", high);
        assert_eq!(
            kept(x(PrimitiveType::Timestamp), &stats, predicate),
            is_kept,
            "{high}"
        );
    }
    let local = stats("1800-01-01T00:00:00.000", "1883-01-01T00:00:00.000");
    let after = "x > TIMESTAMP_NTZ '1883-01-01 00:00:01'";
    assert!(!kept(x(PrimitiveType::TimestampNtz), &local, after));
    let low = stats("1850-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z");
    assert!(kept(
        x(PrimitiveType::Timestamp),
        &low,
        "x < TIMESTAMP '1849-12-31 23:59:10Z'"
    ));
    assert!(!kept(
        x(PrimitiveType::Timestamp),
        &low,
        "x < TIMESTAMP '1849-12-31 23:58:50Z'"
    ));
}

/// NaN is greater than all numbers and may be in any file, but not in a row that must also be less than a
/// number.
#[test]
fn without_nan_upper_bounds_are_exact() {
    let stats =
        r#"{"numRecords":3,"minValues":{"x":1.5,"y":1},"maxValues":{"x":2.5,"y":9},"nullCount":{"x":0}}"#;
    let y = StructField::new("y", PrimitiveType::Double.into(), true);
    for (predicate, is_kept) in [
        ("x > 3", true),
        ("x > 3 AND x < 9", false),
        ("x > 3 AND x <= 9", false),
        ("x > 3 AND 9 > x", false),
        ("x > 3 AND 9 >= x", false),
        ("x > 3 AND x <> 9", true),
        ("x > 3 AND x <= CAST('NaN' AS DOUBLE)", true),
        ("x > 3 AND x < CAST('NaN' AS DOUBLE)", false),
        ("x > 3 AND x = y", true),
        ("x > 3 AND x < y", false),
        ("x > 3 AND x <= y", true),
        ("y > 10 AND y > x", true),
        ("x > 3 AND y > x", false),
        ("x > 3 AND y >= x", true),
        ("y >= 10 AND (x > 1 AND y < 20)", false),
        ("NOT (x <= 3 OR x >= 9)", false),
        ("NOT (x <= 3 OR NOT (x < 9))", false),
        ("x > 3 OR x < 1", true),
        ("(x > 3 OR y > 12) AND x < 9 AND NOT (y >= 20)", false),
        ("x > 3 AND (x < 9) IS TRUE", false),
        ("x > 3 AND (x >= 9) IS FALSE", false),
        ("x > 3 AND (x < 9) IS NOT TRUE", true),
        ("x > 3 AND (x < 9) IS NOT FALSE", true),
        ("x > 3 AND (x < 9) IS UNKNOWN", true),
        ("x > 3 AND NOT isnan(x)", false),
        ("x > 3 AND isnan(x)", true),
        ("x > 3 AND x IN (1.75, 2)", false),
        ("x > 3 AND x IN (1.75, CAST('NaN' AS DOUBLE))", true),
        ("x > 3 AND x NOT IN (1.75, 2)", true),
        ("x = 3", false),
        ("3 = x", false),
        ("x BETWEEN 3 AND 4", false),
        ("x IN (3, 4)", false),
        ("x <=> 3", false),
        ("x <=> 3 AND x > 2.75", false),
        ("x = CAST('NaN' AS DOUBLE) AND x > 3", true),
    ] {
        assert_eq!(
            kept_of(vec![x(PrimitiveType::Double), y.clone()], stats, predicate),
            is_kept,
            "{predicate}"
        );
    }
}
