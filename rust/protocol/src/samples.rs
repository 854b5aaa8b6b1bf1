//! Small protocols and metadata for the tests of this crate.

use std::collections::BTreeMap;

use crate::TableConfiguration;
use crate::actions::{Format, Metadata, Protocol};

/// A protocol with the same reader and writer features, if its versions have lists.
pub(crate) fn protocol(reader: i32, writer: i32, features: &[&str]) -> Protocol {
    let list = || Some(features.iter().map(ToString::to_string).collect());
    Protocol {
        min_reader_version: reader,
        min_writer_version: writer,
        reader_features: if reader == 3 { list() } else { None },
        writer_features: if writer == 7 { list() } else { None },
    }
}

/// The metadata of a table without columns and with these properties.
pub(crate) fn metadata(properties: &[(&str, &str)]) -> Metadata {
    Metadata {
        id: "m".to_owned(),
        name: None,
        description: None,
        format: Format {
            provider: "parquet".to_owned(),
            options: BTreeMap::new(),
        },
        schema_string: r#"{"type":"struct","fields":[]}"#.to_owned(),
        partition_columns: Vec::new(),
        configuration: properties
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned())))
            .collect(),
        created_time: None,
    }
}

/// A table with this protocol and metadata.
pub(crate) fn table(protocol: &Protocol, metadata: &Metadata) -> TableConfiguration {
    TableConfiguration::new(protocol.clone(), metadata.clone())
}
