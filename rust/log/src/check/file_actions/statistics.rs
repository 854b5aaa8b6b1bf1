//! Finds statistics that no rows can have.
//!
//! Protocol: *Per-file Statistics*. A value of another type than its column is ignored: after type widening,
//! old files keep the old format.

use std::borrow::Cow;
use std::collections::HashMap;

use deltaic_protocol::expr::Scalar;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::strict_json::ensure_strict;
use serde_json::value::RawValue;

use crate::check::findings::diagnosis::{IMPOSSIBLE_STATISTICS, LOOSE_JSON, STATISTICS_NOT_JSON};
use crate::check::findings::finding::Finding;

/// Maximum number of findings reported for one file.
const FAULTS: usize = 3;

/// Maximum nesting depth of statistics.
const DEPTH: usize = 64;

type Level<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// Result of validating a file's statistics.
#[derive(Debug, Default)]
pub(in crate::check) struct StatisticsReport {
    /// `numRecords`, if it is a valid count.
    pub(in crate::check) num_records: Option<i64>,
    /// The findings.
    pub(in crate::check) faults: Vec<Finding>,
}

/// Validates the text of `add.stats` against the schema with physical names.
pub(in crate::check) fn validate(text: &str, schema: Option<&StructType>) -> StatisticsReport {
    let mut checked = StatisticsReport::default();
    let parsed: Level<'_> = match serde_json::from_str(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let what = if error.is_data() {
                "the statistics are not a JSON object".to_owned()
            } else {
                format!("the statistics are not JSON: {error}")
            };
            checked
                .faults
                .push(Finding::new(&STATISTICS_NOT_JSON, what).in_field("stats"));
            return checked;
        }
    };
    if let Err(error) = ensure_strict(text, None) {
        checked
            .faults
            .push(Finding::of(&LOOSE_JSON, &error).in_field("stats"));
    }
    for name in ["nullCount", "minValues", "maxValues"] {
        if let Some(raw) = present(&parsed, name).filter(|raw| !raw.get().starts_with('{')) {
            checked.report(name, format!("{name} is {}, not an object", shortened(raw.get())));
        }
    }
    if let Some(raw) = present(&parsed, "numRecords") {
        match count(raw) {
            Some(records) => checked.num_records = Some(records),
            None => checked.report("numRecords", format!("numRecords is {}", shortened(raw.get()))),
        }
    }
    let nulls = present(&parsed, "nullCount").or_else(|| present(&parsed, "nullCounts"));
    if let Some(nulls) = nulls.and_then(level) {
        checked.check_null_counts(&nulls, "", DEPTH);
    }
    if let (Some(schema), Some(min), Some(max)) = (
        schema,
        present(&parsed, "minValues").and_then(level),
        present(&parsed, "maxValues").and_then(level),
    ) {
        checked.check_bounds(&schema.fields, &min, &max, "");
    }
    checked
}

impl StatisticsReport {
    fn report(&mut self, field: &str, what: String) {
        if self.faults.len() < FAULTS {
            self.faults
                .push(Finding::new(&IMPOSSIBLE_STATISTICS, what).in_field(field));
        }
    }

    fn check_null_counts(&mut self, nulls: &Level<'_>, above: &str, depth: usize) {
        let mut names: Vec<&Cow<'_, str>> = nulls.keys().collect();
        names.sort_unstable();
        for name in names {
            let Some(raw) = nulls.get(name) else { continue };
            let path = below(above, name);
            if let Some(inner) = level(raw) {
                if depth > 0 {
                    self.check_null_counts(&inner, &path, depth - 1);
                }
                continue;
            }
            if raw.get() == "null" {
                continue;
            }
            let (Ok(number), records) = (raw.get().parse::<i64>(), self.num_records) else {
                self.report(&path, format!("nullCount is {}", shortened(raw.get())));
                continue;
            };
            if number < 0 {
                self.report(&path, format!("nullCount is {number}"));
            } else if let Some(records) = records.filter(|records| number > *records) {
                self.report(
                    &path,
                    format!("nullCount is {number}, but numRecords is {records}"),
                );
            }
        }
    }

    fn check_bounds(&mut self, fields: &[StructField], min: &Level<'_>, max: &Level<'_>, above: &str) {
        for field in fields {
            let name = field.name.as_str();
            let (Some(low), Some(high)) = (present(min, name), present(max, name)) else {
                continue;
            };
            let path = below(above, name);
            match &field.data_type {
                DataType::Struct(inner) => {
                    if let (Some(low), Some(high)) = (level(low), level(high)) {
                        self.check_bounds(&inner.fields, &low, &high, &path);
                    }
                }
                DataType::Primitive(data_type) => {
                    if let (Some(least), Some(most)) = (bound(low, *data_type), bound(high, *data_type))
                        && is_above(&least, &most)
                    {
                        let (low, high) = (shortened(low.get()), shortened(high.get()));
                        self.report(&path, format!("the minimum {low} is above the maximum {high}"));
                    }
                }
                _ => {}
            }
        }
    }
}

fn present<'a>(level: &Level<'a>, name: &str) -> Option<&'a RawValue> {
    level.get(name).copied().filter(|raw| raw.get() != "null")
}

fn level(raw: &RawValue) -> Option<Level<'_>> {
    raw.get()
        .starts_with('{')
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten()
}

fn count(raw: &RawValue) -> Option<i64> {
    raw.get().parse::<i64>().ok().filter(|count| *count >= 0)
}

fn bound(raw: &RawValue, data_type: PrimitiveType) -> Option<Scalar> {
    match data_type {
        // The bounds of these types cannot be compared by their text.
        PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant => None,
        _ if raw.get().starts_with('"') => {
            let text: Cow<'_, str> = serde_json::from_str(raw.get()).ok()?;
            Scalar::parse(&text, data_type)
        }
        _ => Scalar::parse(raw.get(), data_type),
    }
}

/// Whether a value is greater than another of its type; false for values without an order.
fn is_above(left: &Scalar, right: &Scalar) -> bool {
    match (left, right) {
        (Scalar::Byte(left), Scalar::Byte(right)) => left > right,
        (Scalar::Short(left), Scalar::Short(right)) => left > right,
        (Scalar::Integer(left), Scalar::Integer(right)) | (Scalar::Date(left), Scalar::Date(right)) => {
            left > right
        }
        (Scalar::Long(left), Scalar::Long(right))
        | (Scalar::Timestamp(left), Scalar::Timestamp(right))
        | (Scalar::TimestampNtz(left), Scalar::TimestampNtz(right)) => left > right,
        (Scalar::Float(left), Scalar::Float(right)) => left > right,
        (Scalar::Double(left), Scalar::Double(right)) => left > right,
        (Scalar::Decimal { unscaled: left, .. }, Scalar::Decimal { unscaled: right, .. }) => left > right,
        (Scalar::String(left), Scalar::String(right)) => left > right,
        _ => false,
    }
}

fn below(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}.{name}")
    }
}

/// Shortens a value for a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(String, String)> {
        let fields = [
            ("n", PrimitiveType::Long),
            ("t", PrimitiveType::Timestamp),
            ("s", PrimitiveType::String),
            ("d", PrimitiveType::Double),
        ];
        let field = |(name, data_type): (&str, PrimitiveType)| StructField::new(name, data_type.into(), true);
        let mut schema = StructType {
            fields: fields.into_iter().map(field).collect(),
        };
        let inner = DataType::Struct(schema.clone());
        schema.fields.push(StructField::new("in", inner, true));
        validate(text, Some(&schema))
            .faults
            .into_iter()
            .map(|fault| (fault.field.unwrap_or_default(), fault.message))
            .collect()
    }

    #[test]
    fn impossible_values_are_reported_with_their_column() {
        let one = |text: &str, field: &str, message: &str| {
            assert_eq!(faults(text), [(field.to_owned(), message.to_owned())], "{text}");
        };
        one(r#"{"numRecords":-1}"#, "numRecords", "numRecords is -1");
        one(r#"{"numRecords":1.5}"#, "numRecords", "numRecords is 1.5");
        one(
            r#"{"numRecords":2,"nullCount":{"n":3}}"#,
            "n",
            "nullCount is 3, but numRecords is 2",
        );
        one(r#"{"nullCount":{"in":{"s":-3}}}"#, "in.s", "nullCount is -3");
        one(
            r#"{"minValues":{"n":2},"maxValues":{"n":1}}"#,
            "n",
            "the minimum 2 is above the maximum 1",
        );
        one(
            r#"{"minValues":{"in":{"s":"b"}},"maxValues":{"in":{"s":"a"}}}"#,
            "in.s",
            "the minimum \"b\" is above the maximum \"a\"",
        );
        one(r#"{"numRecords":"x"}"#, "numRecords", "numRecords is \"x\"");
        one(r#"{"minValues":3}"#, "minValues", "minValues is 3, not an object");
        one(r#"{"nullCount":{"in":{"n":"x"}}}"#, "in.n", "nullCount is \"x\"");
        one(
            r#"{"minValues":{"n":1,"n":2}}"#,
            "stats",
            "\"n\" occurs twice in one object (byte 21)",
        );
        one("[1]", "stats", "the statistics are not a JSON object");
        assert_eq!(faults("{").len(), 1);
    }

    #[test]
    fn possible_values_are_unchanged() {
        for text in [
            "{}",
            r#"{"numRecords":0,"nullCount":{"n":0,"s":null,"gone":0},"minValues":{"n":null},"maxValues":{"n":1}}"#,
            r#"{"minValues":{"t":"2021-03-04T07:00:00+02:00"},"maxValues":{"t":"2021-03-04T06:00:00.123Z"}}"#,
            r#"{"minValues":{"d":"NaN"},"maxValues":{"d":1.0}}"#,
            r#"{"minValues":{"d":"-Infinity"},"maxValues":{"d":-0.0}}"#,
            r#"{"minValues":{"n":"1960-01-31"},"maxValues":{"n":1}}"#,
            r#"{"minValues":{"s":"a"},"maxValues":{"s":"a"}}"#,
        ] {
            assert_eq!(faults(text), [], "{text}");
        }
    }
}
