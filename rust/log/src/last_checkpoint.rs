//! `_last_checkpoint`: a hint where to start. It is never trusted: what it leads to must prove itself.
//!
//! Protocol: *Last Checkpoint File*, *Last Checkpoint File Schema*.

use deltaic_protocol::Version;
use deltaic_protocol::last_checkpoint::parse_hint;
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};

use object_store::ObjectStoreExt;

use crate::location::{Refused, TableLocation};

/// How large a hint may be; the largest hold the schema of a wide table.
const MOST_BYTES: u64 = 1 << 20;

/// What the hint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A checkpoint of this version.
    Version(Version),
    /// Nothing: there is no such file.
    Absent,
    /// Nothing that can be used, and why, for people.
    Unusable(String),
}

/// Reads the hint; whatever is wrong with it is no reason not to open the table.
pub async fn read_last_checkpoint(location: &TableLocation) -> Hint {
    let Ok(path) = location.below(&format!("{LOG_FOLDER}/{LAST_CHECKPOINT}")) else {
        return Hint::Absent;
    };
    let got = match location.store().get(&path).await {
        Ok(got) => got,
        Err(object_store::Error::NotFound { .. }) => return Hint::Absent,
        Err(error) => {
            let refused = Refused::of(&error).map(|refused| refused.to_string());
            return Hint::Unusable(refused.unwrap_or_else(|| "it cannot be read".to_owned()));
        }
    };
    let size = got.meta.size;
    if size > MOST_BYTES {
        return Hint::Unusable(format!("it has {size} bytes, which no hint needs"));
    }
    match got.bytes().await {
        Ok(bytes) => parse(&bytes),
        Err(_) => Hint::Unusable("it cannot be read".to_owned()),
    }
}

fn parse(bytes: &[u8]) -> Hint {
    let parsed = std::str::from_utf8(bytes)
        .map_err(|_| "it is not UTF-8".to_owned())
        .and_then(parse_hint);
    parsed.map_or_else(Hint::Unusable, Hint::Version)
}
