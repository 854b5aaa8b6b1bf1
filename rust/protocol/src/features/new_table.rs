//! The protocol that a new table is given.

use super::support::{refuse, refuse_unknown_types};
use super::table::{Support, feature};
use super::upgrade::{needed_features, with_features};
use crate::Result;
use crate::actions::{Metadata, Protocol};
use crate::schema::StructType;

/// The protocol of a new table: (1, 2), or table features where the schema or a property needs one.
///
/// A property that needs a feature which is not implemented is refused by the feature's name.
pub fn protocol_for(metadata: &Metadata, schema: &StructType) -> Result<Protocol> {
    refuse_unknown_types(schema)?;
    let asked = metadata
        .configuration
        .keys()
        .filter_map(|key| key.strip_prefix("delta.feature."));
    let mut names: Vec<&str> = needed_features(metadata, schema);
    names.extend(asked.filter(|name| !names.contains(name)).collect::<Vec<_>>());
    let refused: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| feature(name).map(|known| known.append) != Some(Support::Full))
        .collect();
    refuse(&refused, "create")?;
    let plain = Protocol {
        min_reader_version: 1,
        min_writer_version: 2,
        reader_features: None,
        writer_features: None,
    };
    with_features(&plain, &names)
}
