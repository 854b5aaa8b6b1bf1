//! The output form of variants in a scan.

use deltaic_protocol::error::nearest;
use deltaic_protocol::schema::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// The output form of variants in a scan, at the top level and nested.
///
/// ```
/// use deltaic_table::scan::VariantAs;
///
/// assert_eq!(VariantAs::parse("json")?, VariantAs::Json);
/// assert!(VariantAs::parse("jsn").is_err_and(|error| error.hint_text() == Some("did you mean json?")));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VariantAs {
    /// Arrow's extension type `arrow.parquet.variant`.
    #[default]
    Arrow,
    /// JSON text.
    Json,
}

const NAMES: [(&str, VariantAs); 2] = [("arrow", VariantAs::Arrow), ("json", VariantAs::Json)];

impl VariantAs {
    /// Parses the name of a form, `arrow` or `json`. An unknown name is an `InvalidArgument` with the closest match.
    pub fn parse(name: &str) -> Result<Self> {
        let names = NAMES.iter().map(|(name, _)| *name);
        match NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, form)) => Ok(*form),
            None => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("variants come as \"arrow\" or as \"json\", not as {name:?}"),
            )
            .hint(nearest(name, names).map_or_else(
                || "write variant=\"arrow\" or variant=\"json\"".to_owned(),
                |near| format!("did you mean {near}?"),
            ))),
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the schema of the output.
    pub(crate) fn of_schema(self, schema: &StructType) -> StructType {
        let fields = schema.fields.iter().map(|field| StructField {
            data_type: self.of_type(&field.data_type),
            ..field.clone()
        });
        StructType {
            fields: fields.collect(),
        }
    }

    /// Returns the type of the output.
    pub(crate) fn of_type(self, data_type: &DataType) -> DataType {
        match (self, data_type) {
            (Self::Arrow, other) => other.clone(),
            (Self::Json, DataType::Primitive(PrimitiveType::Variant)) => PrimitiveType::String.into(),
            (Self::Json, DataType::Struct(fields)) => DataType::Struct(self.of_schema(fields)),
            (Self::Json, DataType::Array(array)) => DataType::Array(Box::new(ArrayType {
                element_type: self.of_type(&array.element_type),
                contains_null: array.contains_null,
            })),
            (Self::Json, DataType::Map(map)) => DataType::Map(Box::new(MapType {
                key_type: self.of_type(&map.key_type),
                value_type: self.of_type(&map.value_type),
                value_contains_null: map.value_contains_null,
            })),
            (Self::Json, DataType::Primitive(_) | DataType::Unknown(_)) => data_type.clone(),
        }
    }
}
