//! Any text as a `schemaString`: what is read and written again reads the same.

#![no_main]

use deltaic_protocol::schema::StructType;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(schema) = StructType::from_json(text) {
        let again = StructType::from_json(&schema.to_json());
        assert_eq!(again.ok(), Some(schema));
    }
});
