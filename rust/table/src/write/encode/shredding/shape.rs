//! The typed columns of a shredded variant.

use arrow_schema::{DataType as ArrowType, Field, TimeUnit};
use parquet_variant::Variant;

/// What a variant, or a part of it, is shredded into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Values of exactly this type.
    Leaf(ArrowType),
    /// Objects, with these fields.
    Object(Vec<(String, Shape)>),
}

impl Shape {
    /// The type of the typed column.
    pub(super) fn typed_value(&self) -> ArrowType {
        match self {
            Self::Leaf(data_type) => data_type.clone(),
            Self::Object(fields) => ArrowType::Struct(
                fields
                    .iter()
                    .map(|(name, shape)| Field::new(name, shape.group(), false))
                    .collect(),
            ),
        }
    }

    /// The type of a field: its untyped and its typed value.
    pub(super) fn group(&self) -> ArrowType {
        ArrowType::Struct(self.values().into())
    }

    /// The type of the whole variant.
    pub(super) fn group_with_metadata(&self) -> ArrowType {
        let mut fields = vec![Field::new("metadata", ArrowType::Binary, false)];
        fields.extend(self.values());
        ArrowType::Struct(fields.into())
    }

    fn values(&self) -> Vec<Field> {
        vec![
            Field::new("value", ArrowType::Binary, true),
            Field::new("typed_value", self.typed_value(), true),
        ]
    }
}

/// The type of the column that stores a value unchanged; `None` if no column does.
pub(super) fn leaf_type(value: &Variant<'_, '_>) -> Option<ArrowType> {
    use ArrowType as A;
    Some(match value {
        Variant::BooleanTrue | Variant::BooleanFalse => A::Boolean,
        Variant::Int8(_) => A::Int8,
        Variant::Int16(_) => A::Int16,
        Variant::Int32(_) => A::Int32,
        Variant::Int64(_) => A::Int64,
        Variant::Float(_) => A::Float32,
        Variant::Double(_) => A::Float64,
        Variant::Date(_) => A::Date32,
        Variant::TimestampMicros(_) => A::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Variant::TimestampNtzMicros(_) => A::Timestamp(TimeUnit::Microsecond, None),
        Variant::String(_) | Variant::ShortString(_) => A::Utf8,
        Variant::Binary(_) => A::Binary,
        _ => return None,
    })
}
