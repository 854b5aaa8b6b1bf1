//! Converts schemas to and from Arrow.
//!
//! The Arrow types are those of PySpark's `to_arrow_schema(schema, timezone="UTC")`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Fields, Schema, TimeUnit};

use super::arrow_type_name::arrow_type_name;
use super::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

impl StructType {
    /// The Arrow schema of the rows of a table with this schema.
    pub fn to_arrow(&self) -> Result<Schema> {
        Ok(Schema::new(fields_to_arrow(self)?))
    }
}

impl StructField {
    /// The Arrow field of this column. It has metadata only if it is a variant.
    pub fn to_arrow(&self) -> Result<Field> {
        self.data_type
            .to_arrow_field(&self.name, self.nullable)
            .map_err(|error| error.with("field", self.name.as_str()))
    }
}

/// The name of the Arrow extension type of variants.
pub const VARIANT_EXTENSION: &str = "arrow.parquet.variant";

impl DataType {
    /// The Arrow field of a column of this type. An extension type is recorded in the metadata of the
    /// field.
    ///
    /// ```
    /// use deltaic_protocol::schema::{DataType, PrimitiveType};
    ///
    /// let field = DataType::Primitive(PrimitiveType::Variant).to_arrow_field("v", true)?;
    /// assert_eq!(field.extension_type_name(), Some("arrow.parquet.variant"));
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn to_arrow_field(&self, name: &str, nullable: bool) -> Result<Field> {
        let field = Field::new(name, self.to_arrow()?, nullable);
        Ok(match self {
            Self::Primitive(PrimitiveType::Variant) => field.with_metadata(HashMap::from([
                (EXTENSION_TYPE_NAME_KEY.to_owned(), VARIANT_EXTENSION.to_owned()),
                (EXTENSION_TYPE_METADATA_KEY.to_owned(), String::new()),
            ])),
            _ => field,
        })
    }

    /// The Arrow type of a column of this type.
    pub fn to_arrow(&self) -> Result<ArrowType> {
        Ok(match self {
            Self::Primitive(primitive) => primitive.to_arrow()?,
            Self::Struct(fields) => ArrowType::Struct(fields_to_arrow(fields)?),
            Self::Array(array) => ArrowType::List(Arc::new(
                array
                    .element_type
                    .to_arrow_field("element", array.contains_null)?,
            )),
            Self::Map(map) => {
                let entries = Fields::from(vec![
                    map.key_type.to_arrow_field("key", false)?,
                    map.value_type.to_arrow_field("value", map.value_contains_null)?,
                ]);
                ArrowType::Map(
                    Arc::new(Field::new("entries", ArrowType::Struct(entries), false)),
                    false,
                )
            }
            Self::Unknown(_) => return Err(self.unknown()),
        })
    }

    /// The error for an unknown type.
    pub(crate) fn unknown(&self) -> Error {
        Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the type {:?} is not known", self.to_string()),
        )
        .with("feature", self.to_string())
        .hint("the table was written by a newer writer; a newer deltaic may read it")
    }
}

impl PrimitiveType {
    /// The Arrow type of a column of this type; for a variant, the storage type of its extension type.
    pub fn to_arrow(self) -> Result<ArrowType> {
        Ok(match self {
            Self::String => ArrowType::Utf8,
            Self::Long => ArrowType::Int64,
            Self::Integer => ArrowType::Int32,
            Self::Short => ArrowType::Int16,
            Self::Byte => ArrowType::Int8,
            Self::Float => ArrowType::Float32,
            Self::Double => ArrowType::Float64,
            Self::Boolean => ArrowType::Boolean,
            Self::Binary => ArrowType::Binary,
            Self::Date => ArrowType::Date32,
            Self::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::TimestampNtz => ArrowType::Timestamp(TimeUnit::Microsecond, None),
            Self::Decimal { precision, scale } => {
                ArrowType::Decimal128(precision, i8::try_from(scale).unwrap_or(38))
            }
            Self::Void => ArrowType::Null,
            Self::Variant => ArrowType::Struct(Fields::from(vec![
                Field::new("metadata", ArrowType::Binary, false),
                Field::new("value", ArrowType::Binary, true),
            ])),
        })
    }
}

fn fields_to_arrow(fields: &StructType) -> Result<Fields> {
    fields.fields.iter().map(StructField::to_arrow).collect()
}

/// The table schema that can hold data of an Arrow schema.
///
/// Large and view layouts, dictionaries and all time units are supported; unsigned integers become the next wider signed
/// type, those of 64 bits `decimal(20,0)`. Types that Delta does not have are a `SchemaMismatch` with the column.
pub fn schema_from_arrow(schema: &Schema) -> Result<StructType> {
    fields_from_arrow(schema.fields(), "")
}

fn fields_from_arrow(fields: &Fields, path: &str) -> Result<StructType> {
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = fields
        .iter()
        .find(|field| !seen.insert(field.name().to_lowercase()))
    {
        let below = if path.is_empty() {
            twice.name().clone()
        } else {
            format!("{path}.{}", twice.name())
        };
        return Err(mismatch(
            &below,
            format!("two columns are named {below:?} (case does not count)"),
        )
        .hint("rename one of them"));
    }
    Ok(StructType {
        fields: fields
            .iter()
            .map(|field| field_below(field, path))
            .collect::<Result<_>>()?,
    })
}

fn field_below(field: &Field, path: &str) -> Result<StructField> {
    let below = if path.is_empty() {
        field.name().clone()
    } else {
        format!("{path}.{}", field.name())
    };
    if field.name().is_empty() {
        return Err(mismatch(&below, "a column has an empty name"));
    }
    Ok(StructField::new(
        field.name(),
        type_of_field(field, &below)?,
        field.is_nullable(),
    ))
}

fn mismatch(path: &str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message).with("field", path)
}

fn type_of_field(field: &Field, path: &str) -> Result<DataType> {
    // As its storage struct, a variant would lose its type.
    if field.extension_type_name() == Some(VARIANT_EXTENSION) {
        return Ok(DataType::Primitive(PrimitiveType::Variant));
    }
    type_from_arrow(field.data_type(), path)
}

/// The type of the table that has the numbers of an Arrow type; `None` if it has no numbers, or Delta has no type for them.
pub fn number_from_arrow(arrow: &ArrowType) -> Option<PrimitiveType> {
    Some(match arrow {
        ArrowType::Int8 => PrimitiveType::Byte,
        ArrowType::Int16 | ArrowType::UInt8 => PrimitiveType::Short,
        ArrowType::Int32 | ArrowType::UInt16 => PrimitiveType::Integer,
        ArrowType::Int64 | ArrowType::UInt32 => PrimitiveType::Long,
        ArrowType::UInt64 => PrimitiveType::Decimal {
            precision: 20,
            scale: 0,
        },
        ArrowType::Float16 | ArrowType::Float32 => PrimitiveType::Float,
        ArrowType::Float64 => PrimitiveType::Double,
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale)
        | ArrowType::Decimal256(precision, scale) => {
            let (precision, scale) = (*precision, u8::try_from(*scale).ok()?);
            let is_known = scale <= precision && (1..=38).contains(&precision);
            is_known.then_some(PrimitiveType::Decimal { precision, scale })?
        }
        _ => return None,
    })
}

fn type_from_arrow(arrow: &ArrowType, path: &str) -> Result<DataType> {
    if let Some(number) = number_from_arrow(arrow) {
        return Ok(DataType::Primitive(number));
    }
    let primitive = match arrow {
        ArrowType::Boolean => PrimitiveType::Boolean,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => PrimitiveType::String,
        ArrowType::Binary
        | ArrowType::LargeBinary
        | ArrowType::BinaryView
        | ArrowType::FixedSizeBinary(_) => PrimitiveType::Binary,
        ArrowType::Date32 | ArrowType::Date64 => PrimitiveType::Date,
        ArrowType::Timestamp(_, None) => PrimitiveType::TimestampNtz,
        ArrowType::Timestamp(_, Some(_)) => PrimitiveType::Timestamp,
        ArrowType::Dictionary(_, value) => return type_from_arrow(value, path),
        ArrowType::RunEndEncoded(_, value) => return type_from_arrow(value.data_type(), path),
        ArrowType::Struct(fields) if fields.is_empty() => {
            return Err(mismatch(
                path,
                format!("{path} is a struct without fields, which Parquet does not have"),
            )
            .hint("give the struct a field, or leave it out"));
        }
        ArrowType::Struct(fields) => return fields_from_arrow(fields, path).map(DataType::Struct),
        ArrowType::List(element)
        | ArrowType::LargeList(element)
        | ArrowType::ListView(element)
        | ArrowType::LargeListView(element)
        | ArrowType::FixedSizeList(element, _) => return array_from_arrow(element, path),
        ArrowType::Map(entries, _) => return map_from_arrow(entries, path),
        other => {
            let hint = match other {
                ArrowType::Null => "give the column a type, for example string",
                _ if other.is_decimal() => {
                    "cast it to a precision of at most 38 and a scale from 0 to the precision"
                }
                _ => "cast the column to a type that Delta supports",
            };
            return Err(mismatch(path, format!("Delta has no type {}", arrow_type_name(other))).hint(hint));
        }
    };
    Ok(DataType::Primitive(primitive))
}

fn array_from_arrow(element: &FieldRef, path: &str) -> Result<DataType> {
    Ok(DataType::Array(Box::new(ArrayType {
        element_type: type_of_field(element, &format!("{path}.element"))?,
        contains_null: element.is_nullable(),
    })))
}

fn map_from_arrow(entries: &FieldRef, path: &str) -> Result<DataType> {
    match entries.data_type() {
        ArrowType::Struct(fields) if fields.len() == 2 => Ok(DataType::Map(Box::new(MapType {
            key_type: type_from_arrow(fields[0].data_type(), &format!("{path}.key"))?,
            value_type: type_of_field(&fields[1], &format!("{path}.value"))?,
            value_contains_null: fields[1].is_nullable(),
        }))),
        _ => Err(mismatch(
            path,
            "a map's entries are not a struct of a key and a value",
        )),
    }
}
