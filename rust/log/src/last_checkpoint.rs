//! `_last_checkpoint`: a hint where to start. It is never trusted: what it leads to must prove itself.
//!
//! Protocol: *Last Checkpoint File*, *Last Checkpoint File Schema*.

use bytes::Bytes;
use deltaic_protocol::Version;
use deltaic_protocol::last_checkpoint::{HintedCounts, hinted_counts, parse_hint};
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};

use object_store::ObjectStoreExt;

use crate::location::{Refused, TableLocation};

/// How large a hint may be; the largest hold the schema of a wide table.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// What the hint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A checkpoint of this version.
    Version(Version),
    /// Nothing: there is no such file.
    Absent,
    /// Nothing that can be used, and why, for people.
    Unusable(String),
    /// The store did not hand it out, and may do so another time.
    Unread(String),
}

/// Reads the hint; whatever is wrong with it is no reason not to open the table.
pub async fn read_last_checkpoint(location: &TableLocation) -> Hint {
    read_with_counts(location).await.0
}

/// Reads the hint and what it counts; where it is unusable, nothing.
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

/// The bytes of the hint, none where there is none, or what is to be said instead.
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
        let why = format!("it has {size} bytes, which no hint needs");
        return Err(Hint::Unusable(why));
    }
    let bytes = got.bytes().await.map_err(|_| unread())?;
    Ok(Some(bytes))
}
