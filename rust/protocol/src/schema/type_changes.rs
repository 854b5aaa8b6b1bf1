//! Type changes: the previous types of a column, which its files may still have.
//!
//! Protocol: *Type Widening*, *Type Change Metadata*.

use serde_json::Value;

use super::json::parse_primitive;
use super::{DataType, PrimitiveType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

pub(crate) const KEY: &str = "delta.typeChanges";

/// One type change of a column or of its elements, keys or values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeChange {
    /// The type before.
    pub from: PrimitiveType,
    /// The type after.
    pub to: PrimitiveType,
    /// The changed part of the field: `element`, `key` and `value`, outermost first; empty for the field
    /// itself.
    pub part: Vec<String>,
}

impl StructField {
    /// The type changes of the field, oldest first.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` if they cannot be parsed; `UnsupportedFeature` if files from before a change
    /// cannot be read.
    ///
    /// ```
    /// use deltaic_protocol::schema::{PrimitiveType, StructType};
    /// let schema = StructType::from_json(
    ///     r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,
    ///         "metadata":{"delta.typeChanges":[{"fromType":"integer","toType":"long"}]}}]}"#,
    /// )?;
    /// assert_eq!(schema.fields[0].type_changes()?[0].from, PrimitiveType::Integer);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn type_changes(&self) -> Result<Vec<TypeChange>> {
        let damaged = |message: &str| {
            Error::new(ErrorKind::CorruptLog, format!("{KEY} {message}")).with("field", self.name.as_str())
        };
        let changes = match self.metadata.get(KEY) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(changes)) => changes,
            Some(_) => return Err(damaged("is not a list")),
        };
        changes
            .iter()
            .map(|change| {
                let text = |key: &str| change.get(key).and_then(Value::as_str);
                let named =
                    |key: &str| text(key).ok_or_else(|| damaged(&format!("holds a change without {key}")));
                let (from, to) = (named("fromType")?, named("toType")?);
                let part: Vec<String> = match change.get("fieldPath") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::String(path)) => path.split('.').map(str::to_owned).collect(),
                    Some(_) => return Err(damaged("contains a fieldPath that is not a string")),
                };
                if part
                    .iter()
                    .any(|name| !matches!(name.as_str(), "element" | "key" | "value"))
                {
                    return Err(damaged("contains a fieldPath that does not exist"));
                }
                let types = parse_primitive(from).zip(parse_primitive(to));
                match types.filter(|(from, to)| is_widening(*from, *to)) {
                    Some((from, to)) => Ok(TypeChange { from, to, part }),
                    None => Err(Error::new(
                        ErrorKind::UnsupportedFeature,
                        format!("a change of type from {from} to {to} is not known"),
                    )
                    .with("feature", "typeWidening")
                    .with("field", self.name.as_str())
                    .hint("read the table with a client that knows the change, or with a newer deltaic")),
                }
            })
            .collect()
    }
}

/// Whether every value of the first type is a value of the second, so that files of the first can be read
/// as the second.
#[must_use]
pub fn is_widening(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType::{Byte, Date, Decimal, Double, Float, Integer, Long, Short, TimestampNtz};
    match (from, to) {
        (Byte, Short | Integer | Long | Double)
        | (Short, Integer | Long | Double)
        | (Integer, Long | Double)
        | (Float, Double)
        | (Date, TimestampNtz) => true,
        (Byte | Short | Integer, Decimal { precision, scale }) => widens(10, 0, precision, scale),
        (Long, Decimal { precision, scale }) => widens(20, 0, precision, scale),
        (
            Decimal {
                precision: before,
                scale: places,
            },
            Decimal { precision, scale },
        ) => widens(before, places, precision, scale),
        _ => false,
    }
}

/// A decimal is wider if its precision grows by at least as much as its scale.
fn widens(before: u8, places: u8, precision: u8, scale: u8) -> bool {
    let digits = precision.checked_sub(before);
    let more_places = scale.checked_sub(places);
    digits
        .zip(more_places)
        .is_some_and(|(digits, places)| digits >= places)
}

impl StructType {
    /// Verifies that every recorded type change is supported, at any depth.
    pub fn ensure_known_type_changes(&self) -> Result<()> {
        let mut result = Ok(());
        let mut check = |fields: &StructType| {
            for field in &fields.fields {
                if result.is_ok() {
                    result = field.type_changes().map(|_| ());
                }
            }
        };
        check(self);
        self.for_each_part(&mut |_, data_type| {
            if let DataType::Struct(fields) = data_type {
                check(fields);
            }
        });
        result
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(changes: Value) -> StructField {
        let mut field = StructField::new("a", DataType::Primitive(PrimitiveType::Long), true);
        field.metadata.insert(KEY.to_owned(), changes);
        field
    }

    fn named(name: &str) -> Option<PrimitiveType> {
        parse_primitive(name)
    }

    /// Among all pairs of types, exactly those that the protocol allows.
    #[test]
    fn exactly_the_changes_of_the_text_are_widenings() {
        let names = [
            "byte",
            "short",
            "integer",
            "long",
            "float",
            "double",
            "date",
            "timestamp",
            "timestamp_ntz",
            "string",
            "binary",
            "boolean",
            "decimal(9,0)",
            "decimal(10,0)",
            "decimal(12,2)",
            "decimal(20,0)",
            "decimal(22,2)",
            "decimal(22,4)",
            "decimal(38,20)",
            "void",
            "variant",
        ];
        let allowed = [
            ("byte", "short"),
            ("byte", "integer"),
            ("byte", "long"),
            ("byte", "double"),
            ("short", "integer"),
            ("short", "long"),
            ("short", "double"),
            ("integer", "long"),
            ("integer", "double"),
            ("float", "double"),
            ("date", "timestamp_ntz"),
        ];
        let decimals = |from: &str| -> &[&str] {
            match from {
                "byte" | "short" | "integer" | "decimal(10,0)" => &[
                    "decimal(10,0)",
                    "decimal(12,2)",
                    "decimal(20,0)",
                    "decimal(22,2)",
                    "decimal(22,4)",
                    "decimal(38,20)",
                ],
                "long" | "decimal(20,0)" => &["decimal(20,0)", "decimal(22,2)"],
                "decimal(9,0)" => &[
                    "decimal(9,0)",
                    "decimal(10,0)",
                    "decimal(12,2)",
                    "decimal(20,0)",
                    "decimal(22,2)",
                    "decimal(22,4)",
                    "decimal(38,20)",
                ],
                "decimal(12,2)" => &[
                    "decimal(12,2)",
                    "decimal(22,2)",
                    "decimal(22,4)",
                    "decimal(38,20)",
                ],
                "decimal(22,2)" => &["decimal(22,2)"],
                "decimal(22,4)" => &["decimal(22,4)", "decimal(38,20)"],
                "decimal(38,20)" => &["decimal(38,20)"],
                _ => &[],
            }
        };
        for from in names {
            for to in names {
                let expected = allowed.contains(&(from, to)) || decimals(from).contains(&to);
                let found = named(from).zip(named(to)).map(|(from, to)| is_widening(from, to));
                assert_eq!(found, Some(expected), "{from} to {to}");
            }
        }
    }

    /// protocol: beyond:type-widening.3
    #[test]
    fn changes_are_read_with_the_part_that_they_are_of() -> Result<()> {
        let changes = field(json!([
            {"toType": "integer", "fromType": "byte", "fieldPath": "key"},
            {"toType": "double", "fromType": "float", "fieldPath": "value.element", "tableVersion": 2},
            {"toType": "long", "fromType": "integer"},
        ]))
        .type_changes()?;
        let parts: Vec<String> = changes.iter().map(|change| change.part.join(".")).collect();
        assert_eq!(parts, ["key", "value.element", ""]);
        assert_eq!(
            changes.last().map(|change| (change.from, change.to)),
            Some((PrimitiveType::Integer, PrimitiveType::Long))
        );
        assert!(
            StructField::new("a", DataType::Primitive(PrimitiveType::Long), true)
                .type_changes()?
                .is_empty()
        );
        Ok(())
    }

    #[test]
    fn a_change_that_is_not_known_is_refused_wherever_it_remains() -> Result<()> {
        for (changes, kind) in [
            (
                json!([{"fromType": "string", "toType": "long"}]),
                ErrorKind::UnsupportedFeature,
            ),
            (
                json!([{"fromType": "long", "toType": "integer"}]),
                ErrorKind::UnsupportedFeature,
            ),
            (
                json!([{"fromType": "quaternion", "toType": "long"}]),
                ErrorKind::UnsupportedFeature,
            ),
            (json!([{"fromType": "integer"}]), ErrorKind::CorruptLog),
            (json!([7]), ErrorKind::CorruptLog),
            (json!({}), ErrorKind::CorruptLog),
            (
                json!([{"fromType": "integer", "toType": "long", "fieldPath": 3}]),
                ErrorKind::CorruptLog,
            ),
            (
                json!([{"fromType": "integer", "toType": "long", "fieldPath": "element.x"}]),
                ErrorKind::CorruptLog,
            ),
        ] {
            let wrong = field(changes.clone());
            let found = wrong.type_changes().err().map(|error| error.kind());
            assert_eq!(found, Some(kind), "{changes}");
            let inner = StructType { fields: vec![wrong] };
            let outer = StructType {
                fields: vec![StructField::new("s", DataType::Struct(inner.clone()), true)],
            };
            assert!(inner.ensure_known_type_changes().is_err(), "{changes}");
            assert!(outer.ensure_known_type_changes().is_err(), "{changes}");
        }
        field(json!([{"fromType": "integer", "toType": "long"}])).type_changes()?;
        Ok(())
    }
}
