//! Opens versions of a handwritten table, and reads its files.

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::store_error;
use serde_json::Value;

use super::table_builder::TableBuilder;

impl TableBuilder {
    /// The newest version.
    pub async fn open(&self) -> Result<Snapshot> {
        Snapshot::load(self.location(), None, LoadOptions::default()).await
    }

    /// An earlier version, given as a number of any type.
    pub async fn open_at(&self, version: impl TryInto<i64>) -> Result<Snapshot> {
        let version = Version::try_new(version.try_into().unwrap_or(i64::MAX))?;
        Snapshot::load(self.location(), Some(version), LoadOptions::default()).await
    }

    /// The bytes of any file of the table.
    pub async fn read(&self, relative: &str) -> Result<Bytes> {
        let read = self.location().read(relative).await;
        read.map_err(|error| store_error(&error, relative))
    }

    /// The actions of a file of lines, as written.
    pub async fn read_actions(&self, relative: &str) -> Result<Vec<Value>> {
        let bytes = self.read(relative).await?;
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let actions = lines.map(|line| {
            serde_json::from_slice(line)
                .map_err(|error| Error::new(ErrorKind::CorruptLog, error.to_string()).with("path", relative))
        });
        actions.collect()
    }

    /// The actions of a commit.
    pub async fn actions_of(&self, version: i64) -> Result<Vec<Value>> {
        self.read_actions(&format!("_delta_log/{version:020}.json")).await
    }
}
