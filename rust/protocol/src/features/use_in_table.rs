//! Whether the metadata and the schema of a table use a feature.

use crate::actions::Metadata;
use crate::schema::{PrimitiveType, StructField, StructType};

pub(super) fn always(_: &Metadata, _: &StructType) -> bool {
    true
}

pub(super) fn never(_: &Metadata, _: &StructType) -> bool {
    false
}

pub(super) fn has_type(schema: &StructType, wanted: PrimitiveType) -> bool {
    let mut found = false;
    schema.for_each_part(&mut |_, part| found = found || part.as_primitive() == Some(wanted));
    found
}

pub(super) fn has_key(schema: &StructType, key: &str) -> bool {
    any_field(schema, &|field| field.metadata.contains_key(key))
}

pub(super) fn has_v2_checkpoints(metadata: &Metadata, _: &StructType) -> bool {
    metadata
        .property("delta.checkpointPolicy")
        .is_some_and(|policy| policy.trim().eq_ignore_ascii_case("v2"))
}

pub(super) fn is_true(metadata: &Metadata, key: &str) -> bool {
    metadata
        .property(key)
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
}

pub(super) fn maps_columns(metadata: &Metadata, _: &StructType) -> bool {
    metadata
        .property("delta.columnMapping.mode")
        .is_some_and(|mode| !mode.eq_ignore_ascii_case("none"))
}

pub(super) fn has_constraints(metadata: &Metadata, _: &StructType) -> bool {
    metadata
        .configuration
        .keys()
        .any(|key| key.starts_with("delta.constraints."))
}

pub(super) fn has_invariants(_: &Metadata, schema: &StructType) -> bool {
    has_key(schema, "delta.invariants")
}

pub(super) fn has_generated_columns(_: &Metadata, schema: &StructType) -> bool {
    has_key(schema, "delta.generationExpression")
}

pub(super) fn has_identity_columns(_: &Metadata, schema: &StructType) -> bool {
    any_field(schema, &|field| {
        field
            .metadata
            .keys()
            .any(|key| key.starts_with("delta.identity."))
    })
}

pub(super) fn has_default_columns(_: &Metadata, schema: &StructType) -> bool {
    has_key(schema, "CURRENT_DEFAULT")
}

pub(super) fn any_field(schema: &StructType, test: &dyn Fn(&StructField) -> bool) -> bool {
    let mut found = schema.fields.iter().any(test);
    schema.for_each_part(&mut |_, data_type| {
        if let crate::schema::DataType::Struct(fields) = data_type {
            found = found || fields.fields.iter().any(test);
        }
    });
    found
}
