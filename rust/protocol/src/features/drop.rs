//! Dropping a feature: which features can be dropped, what must be removed first, and how the history
//! that used it stays readable.
//!
//! Protocol: *Supported Features*; the proposal *Checkpoint Protection*.

use std::collections::BTreeSet;

use super::drop_rule::PROTECTED_BEFORE;
use super::row::Feature;
use super::table::{FEATURES, feature};
use super::upgrade::{known, legacy_reader, listed, names_in, versions_for, with_features};
use super::use_in_table::is_true;
use crate::TableConfiguration;
use crate::actions::Protocol;
use crate::change_context::ChangeContext;
use crate::error::nearest;
use crate::properties::{documented, integer};
use crate::{Error, ErrorKind, Result};

/// Whether the history still contains versions that use the feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// Some do: the checkpoints after them must be retained.
    InHistory,
    /// The history before the last version that used it is truncated.
    Gone,
}

/// Returns the configuration of a table without a feature. Nothing in the configuration may use it; the
/// caller verifies that no file uses it ([`crate::change::preconditions`] lists where to check).
///
/// If old versions use the feature and a client without it would read them incorrectly, the feature
/// `checkpointProtection` is added: only writers that support what was used may then write or delete
/// checkpoints before the version of this change.
///
/// # Errors
///
/// Returns `InvalidArgument` if the feature is unknown or not in the table; `SchemaMismatch` with the
/// `feature` if something uses it or another feature requires it; `UnsupportedFeature` if it cannot be
/// dropped.
pub fn drop_feature(
    table: &TableConfiguration,
    name: &str,
    traces: Traces,
    context: &ChangeContext<'_>,
) -> Result<TableConfiguration> {
    let schema = table.schema()?;
    let names = names_in(table.protocol());
    let row = supported(name, &names)?;
    let Some(drop) = &row.drop else {
        return Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the feature {} cannot be dropped by deltaic", row.name),
        )
        .with("feature", row.name)
        .hint("copy the rows into a new table without the feature"));
    };
    let refused = |message: String, hint: &str| {
        Err(Error::new(ErrorKind::SchemaMismatch, message)
            .with("feature", row.name)
            .hint(hint))
    };
    let needing = names
        .iter()
        .filter_map(|other| feature(other))
        .find(|other| other.requires.contains(&row.name));
    if let Some(other) = needing {
        let message = format!("the feature {} is needed by the feature {}", row.name, other.name);
        return refused(message, &format!("drop the feature {} first", other.name));
    }
    let by_property = row.property.and_then(|key| enabled(table, key));
    if let Some(user) = by_property.or_else(|| (drop.in_use)(table, &schema)) {
        let message = format!("the feature {} is in use by {user}", row.name);
        return refused(message, "remove that first, then drop the feature");
    }
    if drop.needs_truncated_history && traces == Traces::InHistory {
        return refused(
            format!("the feature {} protects history that still exists", row.name),
            &format!("truncate the history up to the version in {PROTECTED_BEFORE}"),
        );
    }
    let mut after = table.clone();
    for key in row.property.iter().chain(drop.properties) {
        after.metadata_mut().configuration.remove(*key);
    }
    for name in drop.domains {
        after.remove_domain(name);
    }
    after.set_protocol(without(table.protocol(), row));
    if drop.protects_history && traces == Traces::InHistory {
        after.set_protocol(with_features(after.protocol(), &["checkpointProtection"])?);
        let before = integer(table.metadata(), PROTECTED_BEFORE)?.unwrap_or(0);
        after.set_property(PROTECTED_BEFORE, before.max(context.version.as_i64()).to_string());
    }
    Ok(after)
}

/// The row of a feature that the table supports.
fn supported(name: &str, names: &BTreeSet<String>) -> Result<&'static Feature> {
    if documented(name).is_some() {
        let of = FEATURES
            .iter()
            .find(|row| row.property.is_some_and(|key| key.eq_ignore_ascii_case(name)));
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("{name} is a property, not a feature"),
        )
        .hint(of.map_or_else(
            || "unset the property".to_owned(),
            |row| format!("unset the property, or drop the feature {}", row.name),
        )));
    }
    let row = known(name)?;
    let has = names
        .iter()
        .any(|listed| feature(listed).is_some_and(|other| other.name == row.name));
    if has {
        return Ok(row);
    }
    let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
    Err(Error::new(
        ErrorKind::InvalidArgument,
        format!("the table has no feature {name}"),
    )
    .with("feature", name)
    .hint(near.unwrap_or_else(|| {
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("its features are: {}", list.join(", "))
    })))
}

/// The minimum protocol without a feature, so that the feature no longer excludes clients.
fn without(protocol: &Protocol, row: &Feature) -> Protocol {
    let is_other = |name: &String| feature(name).is_none_or(|other| other.name != row.name);
    let left: BTreeSet<String> = names_in(protocol).into_iter().filter(is_other).collect();
    let least = Protocol {
        min_reader_version: 1,
        min_writer_version: 1,
        reader_features: None,
        writer_features: None,
    };
    versions_for(&left, &least).unwrap_or_else(|| {
        let mut made = listed(&left, 1);
        // Existing lists keep their order and their unknown names.
        let keep = |list: &Option<Vec<String>>| {
            list.as_ref().map(|list| {
                list.iter()
                    .filter(|name| is_other(name))
                    .cloned()
                    .collect::<Vec<_>>()
            })
        };
        if let Some(writers) = keep(&protocol.writer_features) {
            made.writer_features = Some(writers);
        }
        match keep(&protocol.reader_features) {
            Some(readers) if readers.iter().any(|name| legacy_reader(name) == 0) => {
                made.min_reader_version = 3;
                made.reader_features = Some(readers);
            }
            _ => {}
        }
        made
    })
}

fn enabled(table: &TableConfiguration, key: &str) -> Option<String> {
    is_true(table.metadata(), key).then(|| format!("the property {key}, which is true"))
}

#[cfg(test)]
mod tests;
