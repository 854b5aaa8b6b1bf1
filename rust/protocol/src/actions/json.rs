//! Parses one line of a commit.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::object::{object, optional_object};
use super::{AddLine, CheckpointMetadata, DomainMetadata, Metadata, Protocol, RemoveLine, Sidecar, Txn};
use crate::strict_json::ensure_strict;
use crate::{Error, ErrorKind, Result};

/// The action in a line. Protocol: *Actions*.
#[derive(Debug)]
pub enum ActionLine<'a> {
    /// Adds a file.
    Add(AddLine<'a>),
    /// Removes a file.
    Remove(RemoveLine<'a>),
    /// Replaces the metadata of the table.
    Metadata(Metadata),
    /// Replaces the protocol of the table.
    Protocol(Protocol),
    /// Records the latest transaction version of an application.
    Txn(Txn),
    /// Replaces the configuration of a domain.
    DomainMetadata(DomainMetadata),
    /// Provenance of the commit, unparsed.
    CommitInfo(&'a RawValue),
    /// A change data file.
    Cdc,
    /// A sidecar file of a V2 checkpoint; not valid in a commit.
    Sidecar(Sidecar),
    /// Marks a V2 spec checkpoint; not valid in a commit.
    CheckpointMetadata(CheckpointMetadata),
    /// An unknown action or one that is not valid in a commit: ignored, as the protocol requires.
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, default, deserialize_with = "optional_object")]
    add: Option<AddLine<'a>>,
    #[serde(borrow, default, deserialize_with = "optional_object")]
    remove: Option<RemoveLine<'a>>,
    #[serde(default, deserialize_with = "optional_object")]
    meta_data: Option<Metadata>,
    #[serde(default, deserialize_with = "optional_object")]
    protocol: Option<Protocol>,
    #[serde(default, deserialize_with = "optional_object")]
    txn: Option<Txn>,
    #[serde(default, deserialize_with = "optional_object")]
    domain_metadata: Option<DomainMetadata>,
    #[serde(borrow)]
    commit_info: Option<&'a RawValue>,
    cdc: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "optional_object")]
    sidecar: Option<Sidecar>,
    #[serde(default, deserialize_with = "optional_object")]
    checkpoint_metadata: Option<CheckpointMetadata>,
}

/// A complete line.
#[derive(Deserialize)]
struct Object<'a>(#[serde(borrow, deserialize_with = "object")] Line<'a>);

/// Parses one line of a commit. Returns `CorruptLog` with the field if the line is not a single JSON
/// object, contains two actions or violates the schema of an action; the caller adds path and line
/// number.
///
/// ```
/// use deltaic_protocol::actions::{ActionLine, parse_line};
/// let line = br#"{"txn":{"appId":"loader","version":4,"surprise":true}}"#;
/// assert!(matches!(parse_line(line)?, ActionLine::Txn(txn) if txn.version == 4));
/// assert!(matches!(parse_line(br#"{"fromTheFuture":{}}"#)?, ActionLine::Other));
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn parse_line(line: &[u8]) -> Result<ActionLine<'_>> {
    let text = std::str::from_utf8(line).map_err(|error| {
        Error::new(
            ErrorKind::CorruptLog,
            format!("not UTF-8 from byte {}", error.valid_up_to()),
        )
    })?;
    let Object(parsed) = serde_json::from_str(text).map_err(|error| describe::<Object<'_>>(text, &error))?;
    // Only the syntax of `commitInfo` is checked: writers are free in what they record.
    ensure_strict(text, Some("commitInfo"))?;
    let mut actions = [
        parsed.add.map(ActionLine::Add),
        parsed.remove.map(ActionLine::Remove),
        parsed.meta_data.map(ActionLine::Metadata),
        parsed.protocol.map(ActionLine::Protocol),
        parsed.txn.map(ActionLine::Txn),
        parsed.domain_metadata.map(ActionLine::DomainMetadata),
        parsed.commit_info.map(ActionLine::CommitInfo),
        parsed.cdc.map(|_| ActionLine::Cdc),
        parsed.sidecar.map(ActionLine::Sidecar),
        parsed.checkpoint_metadata.map(ActionLine::CheckpointMetadata),
    ]
    .into_iter()
    .flatten();
    let first = actions.next();
    if actions.next().is_some() {
        return Err(Error::new(ErrorKind::CorruptLog, "a line contains two actions"));
    }
    match first {
        Some(action) => Ok(action),
        None if names_an_action(text) => Err(Error::new(
            ErrorKind::CorruptLog,
            "the action of the line is null",
        )),
        None => Ok(ActionLine::Other),
    }
}

/// The message of serde with the invalid field, without the line number, which is always 1 here.
pub(super) fn describe<'a, T: Deserialize<'a>>(text: &'a str, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = message.strip_suffix(&place).unwrap_or(&message);
    let corrupt = Error::new(
        ErrorKind::CorruptLog,
        format!("not a valid action: {what} (byte {})", error.column()),
    );
    // Parse the damaged line a second time to find the position of the error.
    let mut again = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(&mut again) {
        Err(located) if located.path().iter().next().is_some() => {
            corrupt.with("field", located.path().to_string())
        }
        _ => corrupt,
    }
}

/// Whether a line has the key of a known action. With a null value, which no writer intends, it has no action.
fn names_an_action(text: &str) -> bool {
    const ACTIONS: [&str; 10] = [
        "add",
        "remove",
        "metaData",
        "protocol",
        "txn",
        "domainMetadata",
        "commitInfo",
        "cdc",
        "sidecar",
        "checkpointMetadata",
    ];
    serde_json::from_str::<std::collections::HashMap<String, IgnoredAny>>(text)
        .is_ok_and(|keys| ACTIONS.iter().any(|action| keys.contains_key(*action)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = r#"{"add":{"path":"a%20b","partitionValues":{"p":null,"q":"x"},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}","new":[1]}}"#;

    #[test]
    fn an_add_is_read_and_unknown_fields_are_ignored() -> Result<()> {
        let ActionLine::Add(add) = parse_line(ADD.as_bytes())? else {
            return Err(Error::new(ErrorKind::CorruptLog, "not an add"));
        };
        assert_eq!(&*add.path, "a%20b");
        assert_eq!(add.partition_values.0.len(), 2);
        assert_eq!(
            add.partition_values
                .0
                .first()
                .and_then(|(_, value)| value.as_deref()),
            None
        );
        assert_eq!(add.stats.map(RawValue::get), Some(r#""{\"numRecords\":1}""#));
        Ok(())
    }

    #[test]
    fn every_field_of_a_file_action_is_read() -> Result<()> {
        let damaged = || Error::new(ErrorKind::CorruptLog, "another action");
        let fields = r#""path":"a","partitionValues":{},"size":1,"dataChange":true,"stats":"{}","tags":{"k":"v"},"baseRowId":4071,"defaultRowCommitVersion":41,
            "deletionVector":{"storageType":"u","pathOrInlineDv":"ab","offset":1,"sizeInBytes":36,"cardinality":2}"#;
        let line =
            format!("{{\"add\":{{{fields},\"modificationTime\":2,\"clusteringProvider\":\"liquid\"}}}}");
        let ActionLine::Add(add) = parse_line(line.as_bytes())? else {
            return Err(damaged());
        };
        assert_eq!(add.tags.map(RawValue::get), Some(r#"{"k":"v"}"#));
        assert_eq!(add.clustering_provider.as_deref(), Some("liquid"));
        assert_eq!(
            (add.base_row_id, add.default_row_commit_version),
            (Some(4071), Some(41))
        );
        assert_eq!(add.deletion_vector.map(|vector| vector.cardinality), Some(2));
        let line =
            format!("{{\"remove\":{{{fields},\"deletionTimestamp\":3,\"extendedFileMetadata\":true}}}}");
        let ActionLine::Remove(remove) = parse_line(line.as_bytes())? else {
            return Err(damaged());
        };
        assert_eq!(remove.tags.map(RawValue::get), Some(r#"{"k":"v"}"#));
        assert_eq!(remove.stats.map(RawValue::get), Some("\"{}\""));
        assert_eq!(
            (remove.extended_file_metadata, remove.deletion_timestamp),
            (Some(true), Some(3))
        );
        assert_eq!(
            (remove.base_row_id, remove.default_row_commit_version),
            (Some(4071), Some(41))
        );
        Ok(())
    }

    /// protocol: sidecar-file-information.3, sidecar-file-information.4
    #[test]
    fn a_sidecar_has_its_size_and_its_time() {
        let whole = r#"{"sidecar":{"path":"a.parquet","sizeInBytes":2304522,"modificationTime":1512909768000,"tags":{}}}"#;
        assert!(matches!(
            parse_line(whole.as_bytes()),
            Ok(ActionLine::Sidecar(sidecar)) if sidecar.size_in_bytes == 2_304_522 && sidecar.modification_time == 1_512_909_768_000
        ));
        for part in [
            "\"path\":\"a.parquet\",",
            "\"sizeInBytes\":2304522,",
            "\"modificationTime\":1512909768000,",
        ] {
            assert!(
                parse_line(whole.replacen(part, "", 1).as_bytes()).is_err(),
                "{part}"
            );
        }
        assert!(parse_line(whole.replacen("2304522", "\"2304522\"", 1).as_bytes()).is_err());
    }

    #[test]
    fn a_schema_violation_is_an_error() {
        for (from, to) in [
            ("\"size\":1", "\"size\":1.5"),
            ("\"size\":1", "\"size\":9223372036854775808"),
            ("\"size\":1,", ""),
            ("\"size\":1", "\"size\":1,\"size\":1"),
            ("\"p\":null", "\"q\":null"),
            ("\"p\":null", "\"p\":3"),
            ("{\"add\"", "{\"cdc\":{},\"add\""),
            ("}}", "}"),
            ("}}", "}} {}"),
        ] {
            let line = ADD.replacen(from, to, 1);
            assert!(parse_line(line.as_bytes()).is_err(), "{line}");
        }
        // An array of the field values is not an object.
        for line in [
            "[]",
            "[null,null,null,null,null,null,null,null,null,null]",
            r#"{"txn":["a",1,null]}"#,
            r#"{"protocol":[1,2,null,null]}"#,
            r#"{"metaData":{"id":"a","format":["parquet",{}],"schemaString":"{}","partitionColumns":[]}}"#,
            r#"{"remove":{"path":"a","dataChange":true,"deletionVector":["u","ab",1,36,2]}}"#,
        ] {
            let message = parse_line(line.as_bytes()).err().map(|error| error.to_string());
            assert!(
                message
                    .as_ref()
                    .is_some_and(|message| message.contains("expected an object")),
                "{line}: {message:?}"
            );
        }
        assert!(parse_line(b"\xff").is_err());
        assert!(parse_line("{\"x\":".repeat(100_000).as_bytes()).is_err());
    }
}
