//! The actions that only V2 spec checkpoints contain.
//!
//! Protocol: *Sidecar File Information*, *Checkpoint Metadata*.

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result};

/// A file that contains file actions of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sidecar {
    /// Name of the file, URI-encoded; some writers prefix it with a folder or a scheme.
    pub path: String,
    /// Size in bytes.
    pub size_in_bytes: i64,
    /// Modification time in milliseconds since the epoch.
    pub modification_time: i64,
}

impl Sidecar {
    /// The name of the file. All sidecar files are in `_delta_log/_sidecars`, so a prefix of the name
    /// must end with that folder.
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
        let decoded = crate::path_encoding::decode_path(&self.path)?;
        let (folder, name) = match decoded.rsplit_once('/') {
            Some((folder, name)) => (Some(folder), name),
            None => (None, decoded.as_str()),
        };
        let in_place = folder.is_none_or(|folder| folder.ends_with("_delta_log/_sidecars"));
        if !in_place || name.is_empty() || name == "." || name == ".." {
            return Err(
                Error::new(ErrorKind::CorruptLog, "a sidecar is outside _delta_log/_sidecars")
                    .with("path", self.path.as_str())
                    .with("field", "sidecar.path"),
            );
        }
        Ok(name.to_owned())
    }
}

/// Marks a checkpoint as a V2 spec checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointMetadata {
    /// The table version of the checkpoint.
    pub version: i64,
}
