//! The statistics of one file, parsed lazily.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::leaf_builders::Columns;
use super::leaf_builders::Kind;
use super::schema::{Part, StatisticsSchema, Wanted};
use crate::expr::Scalar;
use crate::schema::PrimitiveType;

/// The fields of one level: the columns of a struct, unparsed.
pub(super) type Level<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// The statistics of one file; columns are unparsed.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statistics<'a> {
    #[serde(borrow)]
    num_records: Option<&'a RawValue>,
    #[serde(borrow)]
    tight_bounds: Option<&'a RawValue>,
    #[serde(borrow)]
    min_values: Option<&'a RawValue>,
    #[serde(borrow)]
    max_values: Option<&'a RawValue>,
    // An example in the protocol uses the plural.
    #[serde(borrow, alias = "nullCounts")]
    null_count: Option<&'a RawValue>,
}

impl<'a> Statistics<'a> {
    /// Parses `add.stats`. Invalid text has no statistics.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        // serde would accept an array as the fields of a struct in order.
        if !text.trim_start().starts_with('{') {
            return Self::default();
        }
        serde_json::from_str(text).unwrap_or_default()
    }

    /// `numRecords`, if it is a valid count.
    #[must_use]
    pub fn num_records(&self) -> Option<i64> {
        self.num_records.and_then(count)
    }

    /// `tightBounds`; true by default.
    #[must_use]
    pub fn tight_bounds(&self) -> bool {
        self.tight_bounds
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or(true)
    }

    /// The columns of one kind of statistics, unparsed.
    pub(super) fn level(&self, kind: Kind) -> Option<Level<'a>> {
        level(match kind {
            Kind::Min => self.min_values?,
            Kind::Max => self.max_values?,
            Kind::NullCount => self.null_count?,
        })
    }
}

/// Parses the statistics of a file into the columns; returns whether the bounds are tight.
///
/// This is the general parser: it accepts any JSON, and is the reference implementation of the fast one.
pub(super) fn read(text: &str, schema: &StatisticsSchema, columns: &mut Columns, row: usize) -> bool {
    let stats = Statistics::parse(text);
    if let (Some(column), Some(count)) = (columns.get_mut(Columns::NUM_RECORDS), stats.num_records()) {
        column.put(row, Scalar::Long(count));
    }
    for kind in [Kind::Min, Kind::Max, Kind::NullCount] {
        if let Some(level) = stats.level(kind) {
            put_level(&level, &schema.fields, kind, columns, row);
        }
    }
    stats.tight_bounds()
}

fn put_level(values: &Level<'_>, fields: &[Wanted], kind: Kind, columns: &mut Columns, row: usize) {
    for field in fields {
        let Some(raw) = values.get(field.key.as_str()) else {
            continue;
        };
        match &field.part {
            Part::Fields(below) => {
                if let Some(values) = level(raw) {
                    put_level(&values, below, kind, columns, row);
                }
            }
            Part::Leaf(leaf) => {
                let Some(column) = columns.get_mut(Columns::place(kind, leaf.index)) else {
                    continue;
                };
                let value = match kind {
                    Kind::NullCount => count(raw).map(Scalar::Long),
                    Kind::Min | Kind::Max => bound(raw, column.data_type),
                };
                if let Some(value) = value {
                    column.put(row, value);
                }
            }
        }
    }
}

/// The fields of an object, unparsed; `None` if it is not an object.
pub(super) fn level(raw: &RawValue) -> Option<Level<'_>> {
    serde_json::from_str::<Fields<'_>>(raw.get())
        .ok()
        .map(|fields| fields.0)
}

/// The fields of an object without duplicates, because a duplicate is ambiguous.
struct Fields<'a>(Level<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> serde::de::Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = HashMap::new();
                while let Some((name, value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    if fields.insert(name.0, value).is_some() {
                        return Err(serde::de::Error::custom("a field occurs twice"));
                    }
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// The name of a field, borrowed if it contains no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A bound, if it is a valid value of the type of the column.
pub(super) fn bound(value: &RawValue, data_type: PrimitiveType) -> Option<Scalar> {
    let raw = value.get();
    let is_text = raw.starts_with('"');
    let spelled_as_text = match data_type {
        // NaN and the infinities cannot be JSON numbers.
        PrimitiveType::Float | PrimitiveType::Double => is_text,
        other => is_spelled_as_text(other),
    };
    match (is_text, spelled_as_text) {
        (true, true) => Scalar::parse(&serde_json::from_str::<Cow<'_, str>>(raw).ok()?, data_type),
        (false, false) => Scalar::parse(raw, data_type),
        _ => None,
    }
}

/// Whether the values of a type are JSON strings.
pub(super) fn is_spelled_as_text(data_type: PrimitiveType) -> bool {
    matches!(
        data_type,
        PrimitiveType::String | PrimitiveType::Date | PrimitiveType::Timestamp | PrimitiveType::TimestampNtz
    )
}

/// A count, if it is valid.
fn count(raw: &RawValue) -> Option<i64> {
    count_of(raw.get())
}

/// A count, if the text is a valid one.
pub(super) fn count_of(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|count| *count >= 0)
}

/// `numRecords` of the statistics of a file; `None` if it is missing or the text is invalid.
///
/// ```
/// use deltaic_protocol::statistics::num_records;
/// assert_eq!(num_records(r#"{"numRecords":3}"#), Some(3));
/// assert_eq!(num_records(r#"{"numRecords":-1}"#), None);
/// ```
#[must_use]
pub fn num_records(stats: &str) -> Option<i64> {
    Statistics::parse(stats).num_records()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// protocol: per-file-statistics.3
    #[test]
    fn values_are_read_exactly_or_not_at_all() {
        let text = r#"{"numRecords":3,"tightBounds":false,"nullCount":{"a":0,"s":{"b":-1}},
            "minValues":{"a":9007199254740993,"s":{"b":"x\u0041"},"d":12345678901234567.89,"f":"NaN","t":"2021-03-04T05:06:07.123Z","e":1E-2,"bad":"7"},
            "maxValues":{"a":null}}"#;
        let stats = Statistics::parse(text);
        let decimal = PrimitiveType::Decimal {
            precision: 38,
            scale: 2,
        };
        assert_eq!((stats.num_records(), stats.tight_bounds()), (Some(3), false));
        let value = |kind, path: &str| {
            let mut raw = None;
            let mut here = stats.level(kind);
            for name in path.split('.') {
                raw = here.and_then(|fields| fields.get(name).copied());
                here = raw.and_then(level);
            }
            raw
        };
        assert_eq!(value(Kind::NullCount, "a").and_then(count), Some(0));
        assert_eq!(value(Kind::NullCount, "s.b").and_then(count), None);
        let min = |name: &str, data_type| value(Kind::Min, name).and_then(|value| bound(value, data_type));
        assert_eq!(
            min("a", PrimitiveType::Long),
            Some(Scalar::Long(9_007_199_254_740_993))
        );
        assert_eq!(min("a", PrimitiveType::Byte), None);
        assert_eq!(
            min("s.b", PrimitiveType::String),
            Some(Scalar::String("xA".to_owned()))
        );
        assert_eq!(
            min("d", decimal),
            Some(Scalar::Decimal {
                unscaled: 1_234_567_890_123_456_789,
                precision: 38,
                scale: 2
            })
        );
        assert_eq!(
            min("e", decimal),
            Some(Scalar::Decimal {
                unscaled: 1,
                precision: 38,
                scale: 2
            })
        );
        assert!(matches!(min("f", PrimitiveType::Double), Some(Scalar::Double(value)) if value.is_nan()));
        assert_eq!(
            min("t", PrimitiveType::Timestamp),
            Some(Scalar::Timestamp(1_614_834_367_123_000))
        );
        assert_eq!(min("bad", PrimitiveType::Long), None);
        assert_eq!(min("absent", PrimitiveType::Long), None);
        assert_eq!(
            value(Kind::Max, "a").and_then(|value| bound(value, PrimitiveType::Long)),
            None
        );
        assert_eq!(Statistics::parse("no json").num_records(), None);
    }
}
