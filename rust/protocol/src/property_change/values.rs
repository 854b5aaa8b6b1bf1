//! Validates and normalizes property values given by users.

use crate::Error;
use crate::ErrorKind;
use crate::Result;
use crate::TableConfiguration;
use crate::properties::data_files::{CODECS, MOST_PREFIX, bytes_of, codec_of, is_second_version};
use crate::properties::documented::{Property, PropertyType};
use crate::properties::interval_ms;
use crate::schema::ColumnName;
use crate::schema_evolution::find;

/// The value in the spelling that every reader accepts.
pub(super) fn canonical(property: &Property, value: &str) -> Result<String> {
    let refused = || {
        let hint = match property.property_type {
            PropertyType::Boolean => "it can be true or false".to_owned(),
            PropertyType::Integer(least) => format!("it can be a whole number from {least} on"),
            PropertyType::Interval => {
                "it can be an interval such as \"interval 7 days\", without months and years".to_owned()
            }
            PropertyType::Choice(choices) => format!("it can be {}", choices.join(", ")),
            PropertyType::Text => String::new(),
        };
        let message = format!("the property {} cannot be {value:?}", property.name);
        wrong(property.name, message, &hint)
    };
    if !property.property_type.accepts(value) {
        return Err(refused());
    }
    let value = value.trim();
    Ok(match property.property_type {
        PropertyType::Boolean => value.to_ascii_lowercase(),
        PropertyType::Integer(_) => value
            .parse::<i64>()
            .map_or_else(|_| value.to_owned(), |number| number.to_string()),
        // Other writers do not parse the ISO form.
        PropertyType::Interval if value.starts_with(['p', 'P']) => {
            let ms = interval_ms(value).ok_or_else(refused)?;
            format!("interval {ms} milliseconds")
        }
        PropertyType::Choice(choices) => choices
            .iter()
            .find(|choice| choice.eq_ignore_ascii_case(value))
            .map_or_else(|| value.to_owned(), ToString::to_string),
        PropertyType::Interval | PropertyType::Text => value.to_owned(),
    })
}

/// Validates a value beyond its type.
pub(super) fn check(table: &TableConfiguration, property: &Property, value: &str) -> Result<()> {
    let name = property.name;
    let cannot = |hint: &str| {
        Err(wrong(
            name,
            format!("the property {name} cannot be {value:?}"),
            hint,
        ))
    };
    match name {
        "delta.parquet.format.version" if is_second_version(value).is_none() => {
            cannot("it can be 1.0.0, or 2.MINOR.PATCH such as 2.12.0")
        }
        "delta.parquet.compression.codec" if codec_of(value).is_none() => {
            let names: Vec<&str> = CODECS.iter().map(|(name, _)| *name).collect();
            cannot(&format!("it can be {}", names.join(", ")))
        }
        "delta.targetFileSize" if bytes_of(value).is_none() => {
            cannot("it can be a number of bytes, or a size such as 100mb or 1gb")
        }
        "delta.randomPrefixLength" if value.parse().is_ok_and(|length: i64| length > MOST_PREFIX) => cannot(
            &format!("the name of a folder has at most {MOST_PREFIX} characters"),
        ),
        "delta.dataSkippingStatsColumns" => {
            let schema = table.schema()?;
            for text in value.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                let column = ColumnName::parse(text)?;
                let found = find(&schema, &column)
                    .map_err(|error| error.renamed("field", "column").with("field", name))?;
                if table
                    .metadata()
                    .partition_columns
                    .iter()
                    .any(|partition| found.field.first() == Some(partition))
                {
                    let message = format!("the table is partitioned by {column}, which needs no statistics");
                    return Err(wrong(name, message, "leave it out of the list"));
                }
                if !found.part.is_empty() {
                    let message = format!("{column} is in an array or a map, which have no statistics");
                    return Err(wrong(name, message, "leave it out of the list"));
                }
            }
            Ok(())
        }
        "delta.universalFormat.enabledFormats" => {
            for format in value
                .split(',')
                .map(str::trim)
                .filter(|format| !format.is_empty())
            {
                if !["iceberg", "hudi"].contains(&format.to_ascii_lowercase().as_str()) {
                    let message = format!("there is no format {format:?} to offer the table in");
                    return Err(wrong(
                        name,
                        message,
                        "it can be iceberg, hudi, or both with a comma between",
                    ));
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

pub(super) fn wrong(key: &str, message: String, hint: &str) -> Error {
    let error = Error::new(ErrorKind::InvalidArgument, message).with("field", key);
    if hint.is_empty() { error } else { error.hint(hint) }
}
