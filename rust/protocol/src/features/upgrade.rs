//! The minimum protocol for the requirements of a table: versions if they imply exactly these features,
//! otherwise feature lists.
//!
//! Protocol: *Protocol Evolution*, *Table Features for New and Existing Tables*, *Supported Features*.

use std::collections::BTreeSet;

use super::contradictions::has;
use super::row::{Feature, Kind};
use super::table::{FEATURES, feature};
use super::use_in_table::is_true;
use crate::actions::{Metadata, Protocol};
use crate::error::nearest;
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result, TableConfiguration};

/// The features that a table with this metadata uses and that its protocol must support.
///
/// ```
/// use deltaic_protocol::actions::Metadata;
/// use deltaic_protocol::features::needed_features;
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],
///         "configuration":{"delta.checkpointPolicy":"v2","delta.constraints.positive":"id > 0"}}"#,
/// )?;
/// assert_eq!(needed_features(&metadata, &metadata.schema()?), ["checkConstraints", "v2Checkpoint"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn needed_features(metadata: &Metadata, schema: &StructType) -> Vec<&'static str> {
    FEATURES
        .iter()
        .filter(|row| {
            row.property.is_some_and(|key| is_true(metadata, key)) || (row.needed)(metadata, schema)
        })
        .map(|row| row.name)
        .collect()
}

/// Returns a protocol with these additional features and the features that they require.
///
/// Versions are used if they imply exactly the wanted features. Otherwise features are listed, including
/// all that the versions implied, because the history of the table may have used any of them. Existing
/// features are retained.
///
/// # Errors
///
/// Returns `InvalidArgument` if a name is unknown; `SchemaMismatch` with the `feature` if two features
/// exclude each other.
///
/// ```
/// use deltaic_protocol::actions::Protocol;
/// use deltaic_protocol::features::with_features;
/// let old: Protocol = serde_json::from_str(r#"{"minReaderVersion":1,"minWriterVersion":2}"#)?;
/// assert_eq!(with_features(&old, &["checkConstraints"])?.min_writer_version, 3);
/// let listed = with_features(&old, &["changeDataFeed"])?;
/// assert_eq!(listed.min_writer_version, 7);
/// assert_eq!(listed.writer_features.unwrap_or_default(), ["appendOnly", "changeDataFeed", "invariants"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn with_features(protocol: &Protocol, names: &[&str]) -> Result<Protocol> {
    protocol.validate()?;
    let mut new: Vec<&'static Feature> = Vec::new();
    let mut asked: Vec<&str> = names.to_vec();
    while let Some(name) = asked.pop() {
        let row = known(name)?;
        if !has(protocol, row.name) && !new.iter().any(|other| other.name == row.name) {
            new.push(row);
        }
        asked.extend(
            row.requires
                .iter()
                .filter(|needed| !has(protocol, needed) && !new.iter().any(|other| other.name == **needed)),
        );
    }
    if new.is_empty() {
        return Ok(protocol.clone());
    }
    let mut all = names_in(protocol);
    refuse_pairs(&new, &all)?;
    if protocol.min_writer_version < 7 {
        all.extend(new.iter().map(|row| row.name.to_owned()));
        return Ok(versions_for(&all, protocol).unwrap_or_else(|| listed(&all, protocol.min_reader_version)));
    }
    let mut made = protocol.clone();
    new.sort_unstable_by_key(|row| row.name);
    for row in &new {
        enter(made.writer_features.get_or_insert_default(), row);
        all.insert(row.name.to_owned());
    }
    let binding = |row: &&&Feature| row.kind == Kind::ReaderWriter;
    match made.min_reader_version {
        3 => {
            for row in new.iter().filter(binding) {
                enter(made.reader_features.get_or_insert_default(), row);
            }
        }
        _ if new.iter().any(|row| row.kind == Kind::ReaderWriter) => {
            let writers = made.writer_features.take();
            made = Protocol {
                writer_features: writers,
                ..listed(&all, made.min_reader_version)
            };
        }
        _ => {}
    }
    Ok(made)
}

/// Returns a protocol of at least these versions. If the writer version becomes 7, all features that the
/// previous versions implied are listed; existing lists gain the features that lower versions imply.
///
/// # Errors
///
/// Returns `InvalidArgument` if the versions do not exist, are incompatible or are lower than those of
/// the table.
pub fn upgraded(protocol: &Protocol, reader: i32, writer: i32) -> Result<Protocol> {
    protocol.validate()?;
    let wrong = |message: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, message).hint(hint));
    if !(1..=3).contains(&reader) || !(1..=7).contains(&writer) {
        return wrong(
            format!("there is no protocol of reader version {reader} and writer version {writer}"),
            "reader versions are 1 to 3, writer versions 1 to 7",
        );
    }
    if reader == 3 && writer != 7 {
        return wrong(
            format!("reader version 3 needs writer version 7, not {writer}"),
            "request (3, 7), or a feature by its name",
        );
    }
    let (old_reader, old_writer) = (protocol.min_reader_version, protocol.min_writer_version);
    if old_writer < 7 {
        if reader < old_reader || writer < old_writer {
            return wrong(
                format!("the table is at ({old_reader}, {old_writer}), and ({reader}, {writer}) is lower"),
                "a protocol is lowered by dropping a feature",
            );
        }
        if writer < 7 {
            return Ok(Protocol {
                min_reader_version: reader,
                min_writer_version: writer,
                ..protocol.clone()
            });
        }
        return Ok(listed(&names_in(protocol), reader));
    }
    let wanted: Vec<&str> = if writer < 7 {
        implied(reader, writer).map(|row| row.name).collect()
    } else {
        Vec::new()
    };
    let made = with_features(protocol, &wanted)?;
    if reader == 3 && made.min_reader_version < 3 {
        let writers = made.writer_features.clone();
        return Ok(Protocol {
            writer_features: writers,
            ..listed(&names_in(&made), 3)
        });
    }
    Ok(made)
}

/// The row of a requested feature.
pub(super) fn known(name: &str) -> Result<&'static Feature> {
    feature(name).ok_or_else(|| {
        let near = nearest(name, FEATURES.iter().map(|row| row.name));
        Error::new(
            ErrorKind::InvalidArgument,
            format!("there is no feature {name:?}"),
        )
        .with("feature", name)
        .hint(near.map_or_else(
            || "docs/reference/features.md lists them".to_owned(),
            |near| format!("did you mean {near}?"),
        ))
    })
}

/// The features that versions without lists imply. Column mapping is included only if the reader version
/// implies it too.
fn implied(reader: i32, writer: i32) -> impl Iterator<Item = &'static Feature> {
    FEATURES
        .iter()
        .filter(move |row| (1..=writer).contains(&row.legacy.1) && row.legacy.0 <= reader)
}

/// All features that a protocol lists or implies, as it spells them.
pub(crate) fn names_in(protocol: &Protocol) -> BTreeSet<String> {
    let lists = [&protocol.reader_features, &protocol.writer_features];
    let listed = lists.into_iter().flatten().flatten().cloned();
    let versions = (protocol.min_reader_version, protocol.min_writer_version);
    match versions {
        (_, 7) => listed.collect(),
        (reader, writer) => listed
            .chain(implied(reader, writer).map(|row| row.name.to_owned()))
            .collect(),
    }
}

/// The lowest versions that imply exactly these features and are not below the current ones; `None` if
/// there are none.
pub(super) fn versions_for(all: &BTreeSet<String>, least: &Protocol) -> Option<Protocol> {
    let names: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    (least.min_writer_version..=6)
        .flat_map(|writer| (least.min_reader_version..=2).map(move |reader| (reader, writer)))
        .find(|(reader, writer)| {
            implied(*reader, *writer)
                .map(|row| row.name)
                .collect::<BTreeSet<_>>()
                == names
        })
        .map(|(reader, writer)| Protocol {
            min_reader_version: reader,
            min_writer_version: writer,
            reader_features: None,
            writer_features: None,
        })
}

/// The legacy reader version that implies a feature; 0 if none does.
pub(super) fn legacy_reader(name: &str) -> i32 {
    feature(name).map_or(0, |row| row.legacy.0)
}

/// Lists these features, with the lowest possible reader version that is not below a minimum.
pub(super) fn listed(all: &BTreeSet<String>, least_reader: i32) -> Protocol {
    let binds = |name: &str| feature(name).is_some_and(|row| row.kind == Kind::ReaderWriter);
    let readers: Vec<String> = all.iter().filter(|name| binds(name)).cloned().collect();
    // A legacy reader version implies its feature without a list.
    let reader = match readers.as_slice() {
        [] => least_reader,
        [only] if legacy_reader(only) > 0 => least_reader.max(legacy_reader(only)),
        _ => 3,
    };
    Protocol {
        min_reader_version: reader,
        min_writer_version: 7,
        reader_features: (reader == 3).then_some(readers),
        writer_features: Some(all.iter().cloned().collect()),
    }
}

/// Lists a feature unless one of its names is listed.
fn enter(list: &mut Vec<String>, row: &Feature) {
    if !list
        .iter()
        .any(|name| feature(name).is_some_and(|listed| listed.name == row.name))
    {
        list.push(row.name.to_owned());
    }
}

/// Verifies that no new feature excludes another or is excluded by one.
fn refuse_pairs(new: &[&'static Feature], old: &BTreeSet<String>) -> Result<()> {
    let old = old.iter().filter_map(|name| feature(name));
    let all: Vec<&Feature> = old.chain(new.iter().copied()).collect();
    for one in &all {
        if let Some(other) = all.iter().find(|other| one.excludes.contains(&other.name)) {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!(
                    "a table cannot have the features {} and {} together",
                    one.name, other.name
                ),
            )
            .with("feature", one.name)
            .hint(format!("drop the feature {} first", other.name)));
        }
    }
    Ok(())
}

impl TableConfiguration {
    /// Adds features and the features that they require to the protocol.
    pub(crate) fn require(&mut self, features: &[&str]) -> Result<()> {
        self.set_protocol(with_features(self.protocol(), features)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
