//! Column metadata: how the values of a column are generated, restricted and compared.
//!
//! Protocol: *Column Metadata*, *Generated Columns*, *Default Columns*, *Identity Columns*, *Column
//! Invariants*.

use std::collections::BTreeMap;

use serde_json::Value;

use super::StructField;
use crate::{Error, ErrorKind, Result};

/// How the values of an identity column are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The first value.
    pub start: i64,
    /// The increment between values; never 0.
    pub step: i64,
    /// The last generated value, which is the lowest one if the step is negative; `None` before the
    /// first.
    pub high_water_mark: Option<i64>,
    /// Whether users may insert explicit values.
    pub allow_explicit_insert: bool,
}

impl StructField {
    /// The SQL generation expression of the column.
    #[must_use]
    pub fn generation_expression(&self) -> Option<&str> {
        self.metadata.get("delta.generationExpression")?.as_str()
    }

    /// The SQL expression of the default value, which a writer uses if no value is specified.
    #[must_use]
    pub fn current_default(&self) -> Option<&str> {
        self.metadata.get("CURRENT_DEFAULT")?.as_str()
    }

    /// The identity specification of the column; `None` if it is not an identity column.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the column as `field` if a part is missing or not a number, or if the
    /// step is 0.
    ///
    /// ```
    /// use deltaic_protocol::schema::StructType;
    /// let schema = StructType::from_json(
    ///     r#"{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,
    ///         "metadata":{"delta.identity.start":10,"delta.identity.step":5,"delta.identity.allowExplicitInsert":false}}]}"#,
    /// )?;
    /// assert_eq!(schema.fields[0].identity()?.map(|identity| identity.step), Some(5));
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn identity(&self) -> Result<Option<Identity>> {
        if !self.metadata.keys().any(|key| key.starts_with("delta.identity.")) {
            return Ok(None);
        }
        let part = |name: &str| self.metadata.get(&format!("delta.identity.{name}"));
        let number = |name: &str| {
            part(name)
                .and_then(Value::as_i64)
                .ok_or_else(|| self.damaged(&format!("delta.identity.{name} is not a whole number")))
        };
        let identity = Identity {
            start: number("start")?,
            step: number("step")?,
            high_water_mark: match part("highWaterMark") {
                None | Some(Value::Null) => None,
                Some(_) => Some(number("highWaterMark")?),
            },
            allow_explicit_insert: part("allowExplicitInsert")
                .and_then(Value::as_bool)
                .ok_or_else(|| self.damaged("delta.identity.allowExplicitInsert is not true or false"))?,
        };
        if identity.step == 0 {
            return Err(self.damaged("delta.identity.step is 0"));
        }
        Ok(Some(identity))
    }

    /// The SQL expression of the column invariant, which must be true for every row.
    ///
    /// The metadata value is a JSON string, `{"expression":{"expression":"x > 3"}}`; an object instead of
    /// a string and the shorter `{"expression":"x > 3"}` are also accepted.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the column as `field` if the metadata value contains no expression.
    pub fn invariant(&self) -> Result<Option<String>> {
        let damaged = || self.damaged("delta.invariants contains no expression");
        let object = match self.metadata.get("delta.invariants") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => serde_json::from_str(text).map_err(|_| damaged())?,
            Some(other) => other.clone(),
        };
        let outer = object.get("expression");
        outer
            .and_then(|inner| inner.get("expression").unwrap_or(inner).as_str())
            .map(|expression| Some(expression.to_owned()))
            .ok_or_else(damaged)
    }

    /// The collations of the strings in the column by path, as recorded in `__COLLATIONS`, such as
    /// `icu.UNICODE`.
    #[must_use]
    pub fn collations(&self) -> BTreeMap<&str, &str> {
        let paths = self.metadata.get("__COLLATIONS").and_then(Value::as_object);
        paths
            .into_iter()
            .flatten()
            .filter_map(|(path, collation)| Some((path.as_str(), collation.as_str()?)))
            .collect()
    }

    /// The type that an engine declared for the column, if it limits the length of strings: `varchar(20)`
    /// or `array<char(5)>`.
    #[must_use]
    pub fn declared_type(&self) -> Option<&str> {
        self.metadata.get("__CHAR_VARCHAR_TYPE_STRING")?.as_str()
    }

    fn damaged(&self, message: &str) -> Error {
        Error::new(ErrorKind::CorruptLog, message)
            .with("field", self.name.as_str())
            .hint("the table is readable; the column's requirements for writers are unknown")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::PrimitiveType;

    fn field(metadata: &Value) -> StructField {
        StructField {
            metadata: metadata.as_object().cloned().unwrap_or_default(),
            ..StructField::new("x", PrimitiveType::Long.into(), true)
        }
    }

    /// protocol: generated-columns.2, default-columns.3
    #[test]
    fn expressions_are_reported_where_they_are_set() {
        let made = field(&json!({"delta.generationExpression": "id * 2", "CURRENT_DEFAULT": "'a'"}));
        assert_eq!(made.generation_expression(), Some("id * 2"));
        assert_eq!(made.current_default(), Some("'a'"));
        assert_eq!(field(&json!({})).generation_expression(), None);
        assert_eq!(field(&json!({"CURRENT_DEFAULT": 7})).current_default(), None);
    }

    /// protocol: identity-columns.5
    #[test]
    fn an_identity_column_reports_how_its_values_are_handed_out() -> Result<()> {
        let whole = json!({
            "delta.identity.start": 1, "delta.identity.step": -2,
            "delta.identity.highWaterMark": -9, "delta.identity.allowExplicitInsert": true,
        });
        assert_eq!(
            field(&whole).identity()?,
            Some(Identity {
                start: 1,
                step: -2,
                high_water_mark: Some(-9),
                allow_explicit_insert: true
            })
        );
        assert_eq!(field(&json!({})).identity()?, None);
        for (key, value) in [
            ("delta.identity.step", json!(0)),
            ("delta.identity.step", json!("1")),
            ("delta.identity.start", json!(1.5)),
            ("delta.identity.highWaterMark", json!("9")),
            ("delta.identity.allowExplicitInsert", Value::Null),
        ] {
            let mut broken = field(&whole);
            broken.metadata.insert(key.to_owned(), value);
            assert!(
                broken
                    .identity()
                    .is_err_and(|error| error.kind() == ErrorKind::CorruptLog),
                "{key}"
            );
        }
        Ok(())
    }

    /// protocol: column-invariants.2, column-invariants.3
    #[test]
    fn an_invariant_is_read_in_every_shape() -> Result<()> {
        for shape in [
            json!("{\"expression\": { \"expression\": \"x > 3\"} }"),
            json!({"expression": {"expression": "x > 3"}}),
            json!("{\"expression\": \"x > 3\"}"),
        ] {
            let found = field(&json!({"delta.invariants": shape})).invariant()?;
            assert_eq!(found.as_deref(), Some("x > 3"), "{shape}");
        }
        assert_eq!(field(&json!({})).invariant()?, None);
        for shape in [
            json!("x > 3"),
            json!("{}"),
            json!(7),
            json!({"expression": {"expression": 3}}),
        ] {
            assert!(
                field(&json!({"delta.invariants": shape})).invariant().is_err(),
                "{shape}"
            );
        }
        Ok(())
    }

    #[test]
    fn strings_report_their_collation_and_their_bound() {
        let text = field(&json!({
            "__COLLATIONS": {"x": "spark.UTF8_LCASE", "x.element": "icu.UNICODE", "odd": 7},
            "__CHAR_VARCHAR_TYPE_STRING": "varchar(20)",
        }));
        let collations: Vec<(&str, &str)> = text.collations().into_iter().collect();
        assert_eq!(
            collations,
            [("x", "spark.UTF8_LCASE"), ("x.element", "icu.UNICODE")]
        );
        assert_eq!(text.declared_type(), Some("varchar(20)"));
        assert!(field(&json!({})).collations().is_empty());
    }
}
