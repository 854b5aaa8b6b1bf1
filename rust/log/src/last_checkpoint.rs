//! `_last_checkpoint`: a hint that names the checkpoint to start from. It is never trusted: this checkpoint is
//! validated.
//!
//! Protocol: *Last Checkpoint File*, *Last Checkpoint File Schema*.

use bytes::Bytes;
use deltaic_protocol::Version;
use deltaic_protocol::last_checkpoint::{HintedCounts, hinted_counts, parse_hint};
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};

use object_store::ObjectStoreExt;

use deltaic_storage::Refused;
use deltaic_storage::location::TableLocation;

/// Maximum size of a hint; the largest contain the schema of a wide table.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// Content of the hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A checkpoint of this version.
    Version(Version),
    /// The file does not exist.
    Absent,
    /// The hint is unusable, for this reason (text for users).
    Unusable(String),
    /// The store could not return the hint; a retry may succeed.
    Unread(String),
}

/// Reads the hint; an invalid hint does not prevent opening the table.
pub async fn read_last_checkpoint(location: &TableLocation) -> Hint {
    read_with_counts(location).await.0
}

/// Reads the hint and its counts; an unusable hint has none.
pub(crate) async fn read_with_counts(location: &TableLocation) -> (Hint, HintedCounts) {
    let read = read(location).await;
    let text = match &read {
        Ok(Some(bytes)) => std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8"),
        Ok(None) => return (Hint::Absent, HintedCounts::default()),
        Err(hint) => return (hint.clone(), HintedCounts::default()),
    };
    match text
        .map_err(str::to_owned)
        .and_then(|text| Ok((parse_hint(text)?, text)))
    {
        Ok((version, text)) => (Hint::Version(version), hinted_counts(text)),
        Err(why) => (Hint::Unusable(why), HintedCounts::default()),
    }
}

/// Reads the bytes of the hint; `None` if there is no such file, and the hint to return on failure.
async fn read(location: &TableLocation) -> Result<Option<Bytes>, Hint> {
    let unread = || Hint::Unread("it cannot be read".to_owned());
    let Ok(path) = location.below(&format!("{LOG_FOLDER}/{LAST_CHECKPOINT}")) else {
        return Ok(None);
    };
    let got = match location.store().get(&path).await {
        Ok(got) => got,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => {
            let refused = Refused::of(&error).map(|refused| Hint::Unusable(refused.to_string()));
            return Err(refused.unwrap_or_else(unread));
        }
    };
    let size = got.meta.size;
    if size > MOST_BYTES {
        let why = format!("it has {size} bytes, more than a hint can have");
        return Err(Hint::Unusable(why));
    }
    let bytes = got.bytes().await.map_err(|_| unread())?;
    Ok(Some(bytes))
}
