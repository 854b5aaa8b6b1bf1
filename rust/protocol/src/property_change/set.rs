//! Sets and unsets properties after validating names and values.
//!
//! Protocol: *Change Metadata* (`configuration`). The consequences of a value are applied by
//! `consequences`.

use std::collections::BTreeMap;

use super::values::{canonical, check, wrong};
use crate::TableConfiguration;
use crate::error::nearest;
use crate::features::{FEATURES, Support, feature, upgraded};
use crate::if_absent::IfAbsent;
use crate::properties::{PROPERTIES, Property, PropertyType, SetBy, documented};
use crate::{Error, ErrorKind, Result};

const RESERVED: &str = "delta.";
const FEATURE: &str = "delta.feature.";
const CONSTRAINT: &str = "delta.constraints.";

/// Sets properties, all at once.
///
/// # Errors
///
/// Returns `InvalidArgument` with the property as `field` if the name is reserved but unknown (with the
/// most similar name), the value is invalid or users cannot set the property; `UnsupportedFeature` if it
/// enables something that is not implemented.
pub(crate) fn set(table: &mut TableConfiguration, values: &BTreeMap<String, String>) -> Result<()> {
    let (mut reader, mut writer) = (None, None);
    for (key, value) in values {
        if let Some(name) = strip_reserved(key, FEATURE) {
            if !["supported", "enabled"].contains(&value.as_str()) {
                return Err(wrong(
                    key,
                    format!("{key} is {value:?}, and can only be supported"),
                    "",
                ));
            }
            add_feature(table, name)?;
            continue;
        }
        let Some(property) = settable(key)? else {
            table.set_property(key, value.as_str());
            continue;
        };
        let canonical = canonical(property, value)?;
        match property.set_by {
            SetBy::Users => {
                check(table, property, &canonical)?;
                table.set_property(property.name, canonical);
            }
            SetBy::Others if property.property_type == PropertyType::Boolean && canonical == "false" => {
                table.set_property(property.name, canonical);
            }
            SetBy::Others => return Err(of_others(property)),
            SetBy::Protocol => match property.name {
                "delta.minReaderVersion" => reader = canonical.parse().ok(),
                "delta.minWriterVersion" => writer = canonical.parse().ok(),
                _ => {}
            },
            SetBy::Writers => return Err(of_writers(property)),
        }
    }
    if reader.is_some() || writer.is_some() {
        let protocol = table.protocol();
        // If features are already listed, a legacy writer version adds the features it implies, and a
        // reader version adds nothing: legacy reader versions are incompatible with feature lists.
        let of_old = protocol.min_writer_version == 7 && writer.is_some_and(|writer| writer < 7);
        let reader_there = if of_old { 1 } else { protocol.min_reader_version };
        let (reader, writer) = (
            reader.unwrap_or(reader_there),
            writer.unwrap_or(protocol.min_writer_version),
        );
        table.set_protocol(upgraded(protocol, reader, writer)?);
    }
    Ok(())
}

/// Unsets properties, all at once.
///
/// # Errors
///
/// Returns the errors of [`set`], and `InvalidArgument` if a property is not set, unless that is to be
/// ignored.
pub(crate) fn unset(table: &mut TableConfiguration, names: &[String], if_absent: IfAbsent) -> Result<()> {
    let before = table.metadata().configuration.clone();
    for name in names {
        if let Some(feature) = strip_reserved(name, FEATURE) {
            let hint = format!("drop the feature {feature}");
            return Err(wrong(
                name,
                format!("{name} requests a feature and is not a property"),
                &hint,
            ));
        }
        refuse_constraint(name)?;
        let known = documented(name);
        if let Some(property) = known.filter(|property| property.set_by == SetBy::Writers) {
            return Err(of_writers(property));
        }
        let key = known.map_or(name.as_str(), |property| property.name);
        // An unknown name may belong to another writer, and users must be able to remove it.
        if before.contains_key(key) {
            table.metadata_mut().configuration.remove(key);
        } else if if_absent == IfAbsent::Error {
            let set = before.keys().map(String::as_str);
            let near = nearest(name, set).map(|near| format!("did you mean {near}?"));
            let hint = near.unwrap_or_else(|| "it is not set, so its default applies".to_owned());
            return Err(wrong(name, format!("the property {name} is not set"), &hint));
        }
    }
    Ok(())
}

/// Adds a feature and the features that it requires.
pub(crate) fn add_feature(table: &mut TableConfiguration, name: &str) -> Result<()> {
    if let Some(row) = feature(name).filter(|row| row.support.alter != Support::Full) {
        return Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the feature {} is not implemented", row.name),
        )
        .with("feature", row.name)
        .hint("add it with a client that supports it, or with a newer deltaic"));
    }
    table.require(&[name])
}

/// The documented property with a user-specified name; `None` if the name is user-defined.
fn settable(key: &str) -> Result<Option<&'static Property>> {
    refuse_constraint(key)?;
    if let Some(property) = documented(key) {
        return Ok(Some(property));
    }
    if strip_reserved(key, RESERVED).is_some() {
        let names = PROPERTIES.iter().map(|property| property.name);
        let hint = nearest(key, names).map_or_else(
            || "a property of your own has a name that does not start with \"delta.\"".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        return Err(wrong(key, format!("there is no property {key}"), &hint));
    }
    if key.trim().is_empty() || key.chars().any(char::is_control) {
        return Err(wrong(
            key,
            format!("{key:?} cannot be the name of a property"),
            "",
        ));
    }
    Ok(None)
}

fn refuse_constraint(key: &str) -> Result<()> {
    match strip_reserved(key, CONSTRAINT) {
        None => Ok(()),
        Some(name) => Err(wrong(
            key,
            format!("{key} is a constraint, which cannot be set or unset as a property"),
            &format!("add or drop the constraint {name}: existing rows are then verified"),
        )),
    }
}

/// The rest of a name after a prefix, ignoring case.
fn strip_reserved<'a>(key: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = key.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn of_writers(property: &Property) -> Error {
    wrong(
        property.name,
        format!(
            "the property {} cannot be set by users: other changes set it",
            property.name
        ),
        "leave it to the table",
    )
}

fn of_others(property: &Property) -> Error {
    let row = FEATURES.iter().find(|row| row.property == Some(property.name));
    let hint = if property.name == "delta.enableChangeDataCapture" {
        "set delta.enableChangeDataFeed, its present name"
    } else {
        "set it with a client that supports what it enables"
    };
    Error::new(
        ErrorKind::UnsupportedFeature,
        format!(
            "deltaic does not implement what the property {} enables",
            property.name
        ),
    )
    .with("feature", row.map_or(property.name, |row| row.name))
    .with("field", property.name)
    .hint(hint)
}

#[cfg(test)]
mod tests;
