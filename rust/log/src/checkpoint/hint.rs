//! Writes `_last_checkpoint`: its version never decreases, and a failed write only causes a longer
//! listing.
//!
//! Protocol: *Last Checkpoint File*, *Last Checkpoint File Schema*, *JSON checksum*.

use deltaic_protocol::last_checkpoint::{checksum, parse_hint};
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};
use deltaic_protocol::{Error, Result, Version};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde_json::{Map, Value, json};

use crate::last_checkpoint::MOST_BYTES;
use deltaic_storage::location::TableLocation;
use deltaic_storage::read_file;
use deltaic_storage::store_error;

/// Result of updating the hint.
#[derive(Clone, Debug)]
pub enum HintOutcome {
    /// The hint was written and names the checkpoint.
    Written,
    /// The hint already names this version, which is not older; it is unchanged.
    Stays(Version),
    /// The hint was not changed: it cannot describe an existing checkpoint that is multi-part or in JSON.
    Left,
    /// The hint could not be read or written. The checkpoint exists nevertheless.
    Failed(Error),
}

/// Contents of a hint.
#[derive(Clone, Debug)]
pub(super) struct Hinted {
    pub(super) version: Version,
    /// Number of actions of all kinds.
    pub(super) actions: u64,
    pub(super) adds: u64,
    /// Size of all its files in bytes.
    pub(super) bytes: u64,
    /// The top-level file, if the checkpoint is UUID-named.
    pub(super) top_level: Option<TopLevel>,
}

/// The top-level file of a UUID-named checkpoint.
#[derive(Clone, Debug)]
pub(super) struct TopLevel {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// Modification time in milliseconds since the epoch.
    pub(super) modification_time: i64,
}

/// Returns the text of a hint, with its checksum.
///
/// Fails with `Internal` if the text has no canonical form.
pub(super) fn hint_text(hinted: &Hinted) -> Result<String> {
    let mut hint = Map::new();
    hint.insert("version".to_owned(), json!(hinted.version.as_i64()));
    hint.insert("size".to_owned(), json!(hinted.actions));
    hint.insert("sizeInBytes".to_owned(), json!(hinted.bytes));
    hint.insert("numOfAddFiles".to_owned(), json!(hinted.adds));
    if let Some(top_level) = &hinted.top_level {
        let named = json!({"path": top_level.name, "sizeInBytes": top_level.bytes,
            "modificationTime": top_level.modification_time});
        hint.insert("v2Checkpoint".to_owned(), named);
    }
    let signed = checksum(&Value::Object(hint.clone()).to_string());
    let signed = signed.map_err(|why| Error::internal(format!("a hint cannot be signed: {why}")))?;
    hint.insert("checksum".to_owned(), Value::String(signed));
    Ok(Value::Object(hint).to_string())
}

/// Writes the hint unless it names a checkpoint that is not older. An invalid hint is replaced; if the store
/// cannot return it, it remains.
///
/// With two concurrent writers, the hint may name the older of two checkpoints until the next checkpoint is
/// written.
pub(super) async fn write_hint(location: &TableLocation, hinted: &Hinted, is_new: bool) -> HintOutcome {
    let relative = format!("{LOG_FOLDER}/{LAST_CHECKPOINT}");
    let failed = |error: object_store::Error| store_error(&error, &relative);
    let written = async {
        let path = location.below(&relative)?;
        let named = named_version(location, &path).await.map_err(failed)?;
        let is_older = |named: Version| named < hinted.version || (named == hinted.version && is_new);
        if let Some(named) = named.filter(|named| !is_older(*named)) {
            return Ok(HintOutcome::Stays(named));
        }
        let text = hint_text(hinted)?;
        let put = location.store().put(&path, text.into_bytes().into()).await;
        put.map_err(failed)?;
        Ok(HintOutcome::Written)
    };
    let written: Result<HintOutcome> = written.await;
    written.unwrap_or_else(|error| HintOutcome::Failed(error.with("version", hinted.version)))
}

/// Returns the version that the hint names; `None` if the hint is missing or invalid.
async fn named_version(location: &TableLocation, path: &Path) -> object_store::Result<Option<Version>> {
    let size = match location.store().head(path).await {
        Ok(found) => found.size,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if size > MOST_BYTES {
        return Ok(None);
    }
    let bytes = match read_file(location.store(), path).await {
        Ok(bytes) => bytes,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    Ok(parse_hint(text).ok())
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::last_checkpoint::hinted_counts;

    use super::*;

    /// The checksum is valid, and every modification is detected.
    ///
    /// protocol: last-checkpoint-file-schema-json-checksum.1
    #[test]
    fn a_hint_is_signed() -> Result<()> {
        let top_level = TopLevel {
            name: "00000000000000000007.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet".to_owned(),
            bytes: 5,
            modification_time: 9,
        };
        for top_level in [None, Some(top_level)] {
            let text = hint_text(&Hinted {
                version: Version::try_new(7)?,
                actions: 12,
                adds: 3,
                bytes: 4_096,
                top_level,
            })?;
            assert_eq!(parse_hint(&text).map(|version| version.as_i64()), Ok(7));
            let counts = hinted_counts(&text);
            assert_eq!((counts.actions, counts.adds), (Some(12), Some(3)));
            let hint_json: Value = serde_json::from_str(&text).unwrap_or_default();
            assert_eq!(hint_json["sizeInBytes"], 4_096);
            assert!(
                hint_json.get("parts").is_none(),
                "parts are of multi-part checkpoints"
            );
            for (from, to) in [(":12", ":13"), (":3", ":4"), (":4096", ":4097"), (":7", ":8")] {
                assert!(text.contains(from));
                assert!(parse_hint(&text.replacen(from, to, 1)).is_err(), "{from}");
            }
        }
        Ok(())
    }
}
