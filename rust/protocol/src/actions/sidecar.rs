//! The actions that only a checkpoint of the V2 spec holds.
//!
//! Protocol: *Sidecar File Information*, *Checkpoint Metadata*.

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result};

/// A file that holds some of a checkpoint's file actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sidecar {
    /// The file's name, URI-encoded; some writers put a folder or a scheme before it.
    pub path: String,
    /// Bytes.
    pub size_in_bytes: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
}

impl Sidecar {
    /// The file's name. All sidecars lie in `_delta_log/_sidecars`, so whatever stands before the name must end
    /// there.
    ///
    /// ```
    /// use deltaic_protocol::actions::Sidecar;
    /// let sidecar = |path: &str| Sidecar { path: path.to_owned(), size_in_bytes: 1, modification_time: 0 };
    /// assert_eq!(sidecar("a%20b.parquet").name()?, "a b.parquet");
    /// assert_eq!(sidecar("file:/t/_delta_log/_sidecars/a.parquet").name()?, "a.parquet");
    /// assert!(sidecar("../a.parquet").name().is_err());
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn name(&self) -> Result<String> {
        let decoded = crate::partition::decode_path(&self.path)?;
        let (folder, name) = match decoded.rsplit_once('/') {
            Some((folder, name)) => (Some(folder), name),
            None => (None, decoded.as_str()),
        };
        let in_place = folder.is_none_or(|folder| folder.ends_with("_delta_log/_sidecars"));
        if !in_place || name.is_empty() || name == "." || name == ".." {
            return Err(Error::new(
                ErrorKind::CorruptLog,
                "a sidecar lies outside _delta_log/_sidecars",
            )
            .with("path", self.path.as_str())
            .with("field", "sidecar.path"));
        }
        Ok(name.to_owned())
    }
}

/// What marks a checkpoint as one of the V2 spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointMetadata {
    /// The version of the table that the checkpoint holds.
    pub version: i64,
}
