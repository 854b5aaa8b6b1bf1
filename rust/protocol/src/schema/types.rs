//! The types a column can have.

use std::fmt;

use serde_json::{Map, Value};

/// A type without nested types. Protocol: *Primitive Types*; `void` and `variant` were added later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimitiveType {
    /// UTF-8 string.
    String,
    /// 8-byte signed integer.
    Long,
    /// 4-byte signed integer.
    Integer,
    /// 2-byte signed integer.
    Short,
    /// 1-byte signed integer.
    Byte,
    /// Single-precision floating point.
    Float,
    /// Double-precision floating point.
    Double,
    /// Boolean.
    Boolean,
    /// Byte sequence.
    Binary,
    /// Calendar date.
    Date,
    /// Instant in microseconds since the epoch.
    Timestamp,
    /// Timestamp without time zone, in microseconds.
    TimestampNtz,
    /// Decimal number.
    Decimal {
        /// Number of digits, at most 38.
        precision: u8,
        /// Number of digits to the right of the decimal point.
        scale: u8,
    },
    /// Always NULL.
    Void,
    /// Semi-structured value.
    Variant,
}

/// The type of a column or of a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum DataType {
    /// A primitive type.
    Primitive(PrimitiveType),
    /// Named fields.
    Struct(StructType),
    /// A list.
    Array(Box<ArrayType>),
    /// Keys and values.
    Map(Box<MapType>),
    /// An unknown type, as spelled in the schema. The log of the table can be read; its rows cannot.
    Unknown(Box<Value>),
}

/// Protocol: *Array Type*.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayType {
    /// The type of the elements.
    pub element_type: DataType,
    /// Whether elements may be NULL.
    pub contains_null: bool,
}

/// Protocol: *Map Type*.
#[derive(Clone, Debug, PartialEq)]
pub struct MapType {
    /// The type of the keys, which are never NULL.
    pub key_type: DataType,
    /// The type of the values.
    pub value_type: DataType,
    /// Whether values may be NULL.
    pub value_contains_null: bool,
}

/// Protocol: *Struct Field*.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// The logical name, as users see it.
    pub name: String,
    /// The type.
    pub data_type: DataType,
    /// Whether a value may be NULL.
    pub nullable: bool,
    /// The column metadata of the protocol and of writers.
    pub metadata: Map<String, Value>,
}

impl StructField {
    /// Creates a field without metadata.
    #[must_use]
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> Self {
        Self {
            name: name.into(),
            data_type,
            nullable,
            metadata: Map::new(),
        }
    }
}

/// Protocol: *Struct Type*. Also the schema of a whole table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct StructType {
    /// The fields, in order.
    pub fields: Vec<StructField>,
}

impl StructType {
    /// The field with exactly this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&StructField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field with this name, as Spark resolves it: an exact match first, then ignoring case.
    #[must_use]
    pub fn field_ignoring_case(&self, name: &str) -> Option<&StructField> {
        self.field(name).or_else(|| {
            self.fields
                .iter()
                .find(|field| field.name.to_lowercase() == name.to_lowercase())
        })
    }

    /// The dotted path and the type of the first part with an unknown type.
    #[must_use]
    pub fn first_unknown(&self) -> Option<(String, &DataType)> {
        let mut found = None;
        self.for_each_part(&mut |path, data_type| {
            if found.is_none() && matches!(data_type, DataType::Unknown(_)) {
                found = Some((path.to_owned(), data_type));
            }
        });
        found
    }

    /// The names of the fields, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Calls `visit` with the dotted path and the type of every part of the schema, top down.
    pub fn for_each_part<'a>(&'a self, visit: &mut dyn FnMut(&str, &'a DataType)) {
        for field in &self.fields {
            field.data_type.for_each_part(&field.name, visit);
        }
    }
}

impl DataType {
    /// The primitive type, if this is one.
    #[must_use]
    pub fn as_primitive(&self) -> Option<PrimitiveType> {
        match self {
            Self::Primitive(primitive) => Some(*primitive),
            _ => None,
        }
    }

    fn for_each_part<'a>(&'a self, path: &str, visit: &mut dyn FnMut(&str, &'a DataType)) {
        visit(path, self);
        match self {
            Self::Primitive(_) | Self::Unknown(_) => {}
            Self::Struct(fields) => {
                for field in &fields.fields {
                    field
                        .data_type
                        .for_each_part(&format!("{path}.{}", field.name), visit);
                }
            }
            Self::Array(array) => array
                .element_type
                .for_each_part(&format!("{path}.element"), visit),
            Self::Map(map) => {
                map.key_type.for_each_part(&format!("{path}.key"), visit);
                map.value_type.for_each_part(&format!("{path}.value"), visit);
            }
        }
    }
}

impl From<PrimitiveType> for DataType {
    fn from(primitive: PrimitiveType) -> Self {
        Self::Primitive(primitive)
    }
}

impl PrimitiveType {
    /// The name in a `schemaString`, such as `long`. Errors use `Display`, which has Spark's names, such as `bigint`.
    #[must_use]
    pub fn delta_name(self) -> String {
        match self {
            Self::Long => "long".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Short => "short".to_owned(),
            Self::Byte => "byte".to_owned(),
            other => other.to_string(),
        }
    }
}

/// Spark's name.
impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Long => "bigint",
            Self::Integer => "int",
            Self::Short => "smallint",
            Self::Byte => "tinyint",
            Self::Float => "float",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::Binary => "binary",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::TimestampNtz => "timestamp_ntz",
            Self::Decimal { precision, scale } => return write!(f, "decimal({precision},{scale})"),
            Self::Void => "void",
            Self::Variant => "variant",
        })
    }
}

/// Spark's name.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(primitive) => primitive.fmt(f),
            Self::Struct(fields) => {
                f.write_str("struct<")?;
                for (index, field) in fields.fields.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{}:{}", field.name, field.data_type)?;
                }
                f.write_str(">")
            }
            Self::Array(array) => write!(f, "array<{}>", array.element_type),
            Self::Map(map) => write!(f, "map<{},{}>", map.key_type, map.value_type),
            Self::Unknown(spelled) => match (spelled.as_str(), spelled.get("type").and_then(Value::as_str)) {
                (Some(name), _) | (None, Some(name)) => f.write_str(name),
                (None, None) => f.write_str("unknown"),
            },
        }
    }
}
