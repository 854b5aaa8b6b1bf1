//! Lists, patterns and tests of conditions: which files they skip, and that no matching row is lost.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;

use super::super::{columns_of, may_match};
use crate::expr::{BoundPredicate, evaluate, parse_predicate};
use crate::schema::{PrimitiveType, StructField, StructType};
use crate::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};

fn schema() -> StructType {
    StructType {
        fields: vec![
            StructField::new("n", PrimitiveType::Long.into(), true),
            StructField::new("s", PrimitiveType::String.into(), true),
        ],
    }
}

fn bound(text: &str) -> BoundPredicate {
    parse_predicate(text).unwrap().bind(&schema()).unwrap()
}

fn kept(predicate: &BoundPredicate, stats: &str) -> bool {
    let wanted = StatisticsSchema::of_columns(&schema(), &|field| field.name.clone(), &columns_of(predicate));
    let mut builder = StatisticsBuilder::with_capacity(&wanted, 1);
    builder.push(StatisticsText::Plain(stats.as_bytes()));
    let kept = may_match(predicate, &builder.finish().unwrap(), &wanted).unwrap();
    kept.is_none_or(|kept| kept.value(0))
}

/// protocol: per-file-statistics.3
#[test]
fn conditions_without_matching_rows_are_left_out() {
    let file = r#"{"numRecords":2,"minValues":{"n":10,"s":"ma"},"maxValues":{"n":20,"s":"mz"},"nullCount":{"n":0,"s":1}}"#;
    let many = |from: i64| {
        let list: Vec<String> = (from..from + 200).map(|number| number.to_string()).collect();
        list.join(", ")
    };
    for (predicate, expected) in [
        ("n IN (1, 15, 30)".to_owned(), true),
        ("n IN (1, 30)".to_owned(), false),
        ("n IN (1, 30, NULL)".to_owned(), false),
        ("n NOT IN (1, 15)".to_owned(), true),
        ("n NOT IN (1, NULL)".to_owned(), false),
        (format!("n IN ({})", many(21)), false),
        (format!("n IN ({})", many(-189)), true),
        ("s IN ('a', 'z')".to_owned(), false),
        ("s IN ('a', 'mm')".to_owned(), true),
        ("s LIKE 'm_%x'".to_owned(), true),
        ("s LIKE 'n_%x'".to_owned(), false),
        ("s LIKE '_x%'".to_owned(), true),
        ("s NOT LIKE 'n_'".to_owned(), true),
        ("(n > 20) IS TRUE".to_owned(), false),
        ("(n > 20) IS NOT TRUE".to_owned(), true),
        ("(n >= 10) IS FALSE".to_owned(), false),
        ("(n > 20) IS UNKNOWN".to_owned(), true),
        ("s IS NOT NULL AND n IN (10, 11)".to_owned(), true),
        ("n > 9223372036854775808".to_owned(), false),
    ] {
        assert_eq!(kept(&bound(&predicate), file), expected, "{predicate}");
    }
    let nulls = r#"{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{"n":2,"s":2}}"#;
    for predicate in [
        "n IN (1, 2)",
        "n NOT IN (1, 2)",
        "s LIKE '_a'",
        "endswith(s, 'a')",
        "NOT contains(s, 'a')",
    ] {
        assert!(!kept(&bound(predicate), nulls), "{predicate}");
    }
}

const TEXTS: [&str; 7] = ["", "a", "ab", "b", "b_x", "é", "😀"];
const PREDICATES: [&str; 16] = [
    "n IN (1, 5)",
    "n IN (0, 9, NULL)",
    "n NOT IN (1, 5)",
    "s IN ('a', 'zz', 'é')",
    "s NOT IN ('a', 'b')",
    "s LIKE 'b_x'",
    "s LIKE '%_b'",
    "s LIKE 'a_%'",
    "endswith(s, 'b')",
    "contains(s, 'b')",
    "(n > 3) IS TRUE",
    "(n > 3) IS FALSE",
    "(n IN (1, 2)) IS UNKNOWN",
    "n > 1.5",
    "n <= 99999999999999999999",
    "(s = 'a') IS NOT TRUE",
];

proptest! {
    /// protocol: per-file-statistics.4, per-file-statistics.5
    #[test]
    fn a_file_with_a_matching_row_is_not_pruned(
        n in prop::collection::vec(prop::option::of(0..7i64), 1..4),
        texts in prop::collection::vec(prop::option::of(prop::sample::select(TEXTS.to_vec())), 3),
        (first, second) in (0..PREDICATES.len(), 0..PREDICATES.len()),
        (joined, negated) in (any::<bool>(), any::<bool>()),
    ) {
        let texts = texts[..n.len()].to_vec();
        let nulls = |count: usize| n.len() - count;
        let bound_of = |name: &str, number: Option<&i64>, text: Option<&&str>| {
            let number = number.map(|number| format!("\"n\":{number}"));
            let text = text.map(|text| format!("\"s\":\"{text}\""));
            let both: Vec<String> = number.into_iter().chain(text).collect();
            format!("\"{name}\":{{{}}}", both.join(","))
        };
        let (numbers, strings) = (n.iter().flatten(), texts.iter().flatten());
        let stats = format!(
            "{{\"numRecords\":{},{},{},\"nullCount\":{{\"n\":{},\"s\":{}}}}}",
            n.len(),
            bound_of("minValues", numbers.clone().min(), strings.clone().min()),
            bound_of("maxValues", numbers.clone().max(), strings.clone().max()),
            nulls(numbers.count()),
            nulls(strings.count()),
        );
        let word = if joined { "AND" } else { "OR" };
        let text = format!("({}) {word} ({})", PREDICATES[first], PREDICATES[second]);
        let text = if negated { format!("NOT ({text})") } else { text };
        let predicate = bound(&text);
        let columns: [ArrayRef; 2] = [Arc::new(Int64Array::from(n)), Arc::new(StringArray::from(texts))];
        let rows = RecordBatch::try_from_iter_with_nullable(
            ["n", "s"].into_iter().zip(columns).map(|(name, column)| (name, column, true)),
        );
        let matches = evaluate(&predicate, &rows.unwrap()).unwrap().true_count() > 0;
        prop_assert!(kept(&predicate, &stats) || !matches, "{} {}", text, stats);
    }
}
