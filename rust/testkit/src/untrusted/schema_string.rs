//! Arbitrary strings as a `schemaString`: a parsed schema serializes to a string that parses to the same schema.

use deltaic_protocol::ErrorKind;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::statistics::StatisticsSchema;

use super::memory::{Bound, bounded};

/// A JSON tree is many times larger than its text: each field of 60 bytes has its own map.
const BOUND: Bound = Bound {
    per_byte: 512,
    spare: 16 * 1024,
};

pub(super) fn check_invariants(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let schema = match bounded(BOUND, bytes.len(), || StructType::from_json(text)) {
        Ok(schema) => schema,
        Err(error) => return assert_eq!(error.kind(), ErrorKind::CorruptLog),
    };
    let written = schema.to_json();
    let again = StructType::from_json(&written);
    assert_eq!(again.ok().as_ref(), Some(&schema), "{written}");
    // Conversion to Arrow returns Arrow types or the unknown type.
    match bounded(BOUND, bytes.len(), || schema.to_arrow()) {
        Ok(arrow) => {
            assert!(schema.first_unknown().is_none());
            let names: Vec<&str> = schema.names().collect();
            let in_arrow: Vec<&str> = arrow.fields().iter().map(|field| field.name().as_str()).collect();
            assert_eq!(names, in_arrow);
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::UnsupportedFeature),
    }
    bounded(BOUND, bytes.len(), || {
        StatisticsSchema::all(&schema, &|field| field.name.clone())
    });
}
