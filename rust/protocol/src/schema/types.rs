//! The types a column can have.

use std::fmt;

use serde_json::{Map, Value};

/// A type without parts. Protocol: *Primitive Types*; `void` and `variant` came later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimitiveType {
    /// UTF-8 text.
    String,
    /// Eight bytes, signed.
    Long,
    /// Four bytes, signed.
    Integer,
    /// Two bytes, signed.
    Short,
    /// One byte, signed.
    Byte,
    /// Single precision.
    Float,
    /// Double precision.
    Double,
    /// True or false.
    Boolean,
    /// Bytes.
    Binary,
    /// A calendar date.
    Date,
    /// An instant, microseconds since the epoch.
    Timestamp,
    /// A wall-clock time, microseconds.
    TimestampNtz,
    /// A decimal number.
    Decimal {
        /// Digits in all, at most 38.
        precision: u8,
        /// Digits right of the point.
        scale: u8,
    },
    /// Always NULL.
    Void,
    /// Semi-structured.
    Variant,
}

/// The type of a column or of a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum DataType {
    /// Without parts.
    Primitive(PrimitiveType),
    /// Named fields.
    Struct(StructType),
    /// A list.
    Array(Box<ArrayType>),
    /// Keys and values.
    Map(Box<MapType>),
    /// One that is not known, as the schema spells it. The table's log is followed; its rows are not read.
    Unknown(Box<Value>),
}

/// Protocol: *Array Type*.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayType {
    /// The type of an item.
    pub element_type: DataType,
    /// Whether an item may be NULL.
    pub contains_null: bool,
}

/// Protocol: *Map Type*.
#[derive(Clone, Debug, PartialEq)]
pub struct MapType {
    /// The type of a key; keys are never NULL.
    pub key_type: DataType,
    /// The type of a value.
    pub value_type: DataType,
    /// Whether a value may be NULL.
    pub value_contains_null: bool,
}

/// Protocol: *Struct Field*.
#[derive(Clone, Debug, PartialEq)]
pub struct StructField {
    /// The name, as the user sees it.
    pub name: String,
    /// The type.
    pub data_type: DataType,
    /// Whether a value may be NULL.
    pub nullable: bool,
    /// What the protocol and writers keep about the column.
    pub metadata: Map<String, Value>,
}

impl StructField {
    /// A field without metadata.
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
    /// The field of exactly this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&StructField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field of this name as Spark looks it up: exactly, else ignoring case.
    #[must_use]
    pub fn field_ignoring_case(&self, name: &str) -> Option<&StructField> {
        self.field(name).or_else(|| {
            self.fields
                .iter()
                .find(|field| field.name.to_lowercase() == name.to_lowercase())
        })
    }

    /// The dotted path and the type of the first part whose type is not known.
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
    /// The primitive type, where it is one.
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

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Long => "long",
            Self::Integer => "integer",
            Self::Short => "short",
            Self::Byte => "byte",
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

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(primitive) => primitive.fmt(f),
            Self::Struct(fields) => {
                f.write_str("struct<")?;
                for (index, field) in fields.fields.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{}: {}", field.name, field.data_type)?;
                }
                f.write_str(">")
            }
            Self::Array(array) => write!(f, "array<{}>", array.element_type),
            Self::Map(map) => write!(f, "map<{}, {}>", map.key_type, map.value_type),
            Self::Unknown(spelled) => match (spelled.as_str(), spelled.get("type").and_then(Value::as_str)) {
                (Some(name), _) | (None, Some(name)) => f.write_str(name),
                (None, None) => f.write_str("unknown"),
            },
        }
    }
}
