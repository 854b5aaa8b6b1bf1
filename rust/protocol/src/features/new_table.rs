//! The protocol that a new table is given.

use super::support::{refuse, refuse_unknown_types};
use super::table::{FEATURES, Kind, Support, feature};
use crate::Result;
use crate::actions::{Metadata, Protocol};
use crate::schema::StructType;

/// The protocol of a new table: (1, 2), or table features where the schema or a property needs one.
///
/// A property that needs a feature which is not implemented is refused by the feature's name.
pub fn protocol_for(metadata: &Metadata, schema: &StructType) -> Result<Protocol> {
    refuse_unknown_types(schema)?;
    let mut names: Vec<&str> = Vec::new();
    let mut refused: Vec<&str> = Vec::new();
    let mut ntz = false;
    schema.for_each_part(&mut |_, data_type| {
        ntz = ntz || data_type.as_primitive() == Some(crate::schema::PrimitiveType::TimestampNtz);
    });
    if ntz {
        names.push("timestampNtz");
    }
    for known in FEATURES {
        let turned_on = known
            .property
            .and_then(|key| metadata.property(key))
            .is_some_and(|value| {
                value.eq_ignore_ascii_case("true")
                    || ((known.active)(metadata, schema) && known.name == "columnMapping")
            });
        match (turned_on, known.append) {
            (true, Support::Full) => names.push(known.name),
            (true, _) => refused.push(known.name),
            (false, _) => {}
        }
    }
    for key in metadata.configuration.keys() {
        if let Some(name) = key.strip_prefix("delta.feature.") {
            match feature(name) {
                Some(known) if known.append == Support::Full => names.push(known.name),
                _ => refused.push(name),
            }
        } else if key.starts_with("delta.constraints.") {
            refused.push("checkConstraints");
        } else if key == "delta.checkpointPolicy" && metadata.property(key) == Some("v2") {
            names.push("v2Checkpoint");
        }
    }
    refuse(&refused, "create")?;
    names.retain(|name| *name != "appendOnly");
    if names.is_empty() {
        return Ok(Protocol {
            min_reader_version: 1,
            min_writer_version: 2,
            reader_features: None,
            writer_features: None,
        });
    }
    // What writer version 2 implies must be spelled out once features are listed.
    names.extend(["appendOnly", "invariants"]);
    names.sort_unstable();
    names.dedup();
    let for_readers: Vec<String> = names
        .iter()
        .filter(|name| feature(name).is_some_and(|feature| feature.kind == Kind::ReaderWriter))
        .map(ToString::to_string)
        .collect();
    let binds_readers = !for_readers.is_empty();
    Ok(Protocol {
        min_reader_version: if binds_readers { 3 } else { 1 },
        min_writer_version: 7,
        reader_features: binds_readers.then_some(for_readers),
        writer_features: Some(names.iter().map(ToString::to_string).collect()),
    })
}
