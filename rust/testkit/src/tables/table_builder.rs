//! A table of handwritten commits.

use std::sync::Arc;

use super::log_state::LogExtras;
pub use crate::log_files::file_actions::{NEVER_EXPIRED, add, remove};
use crate::stores::scripted_store::ScriptedStore;
use deltaic_protocol::Result;
use deltaic_storage::TableLocation;
use deltaic_storage::store_error;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use serde_json::{Value, json};

/// A log in memory, commit by commit.
#[derive(Debug)]
pub struct TableBuilder {
    store: Arc<InMemory>,
    scripted: ScriptedStore,
    location: Arc<TableLocation>,
    commits: Vec<Vec<Value>>,
    pub(crate) kept: LogExtras,
}

impl Default for TableBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl TableBuilder {
    /// An empty location.
    #[must_use]
    pub fn new() -> Self {
        let store = Arc::new(InMemory::new());
        let below: Arc<dyn ObjectStore> = Arc::<InMemory>::clone(&store);
        let scripted = ScriptedStore::over(below);
        let shared: Arc<dyn ObjectStore> = Arc::new(scripted.clone());
        let location = TableLocation::on_store("memory://testkit/".to_owned(), shared, Path::from("t"));
        Self {
            store,
            scripted,
            location: Arc::new(location),
            commits: Vec::new(),
            kept: LogExtras::default(),
        }
    }

    /// A log of these commits.
    pub async fn of(commits: &[Vec<Value>]) -> Result<Self> {
        let mut table = Self::new();
        for actions in commits {
            table.commit(actions.clone()).await?;
        }
        Ok(table)
    }

    /// A log whose metadata has these properties, with this number of commits after the first that add one file each.
    pub async fn with_properties(properties: &Value, commits: usize) -> Result<Self> {
        let mut first = Self::first_actions();
        for action in &mut first {
            if let Some(metadata) = action.get_mut("metaData") {
                metadata["configuration"] = properties.clone();
            }
        }
        let mut table = Self::new();
        table.commit(first).await?;
        for number in 1..=commits {
            table.commit(vec![add(&format!("theirs{number}"), None)]).await?;
        }
        Ok(table)
    }

    /// The protocol and metadata of a table with one column, `id`.
    #[must_use]
    pub fn first_actions() -> Vec<Value> {
        let schema =
            json!({"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]})
                .to_string();
        vec![
            json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
            json!({"metaData": {"id": "testkit", "format": {"provider": "parquet", "options": {}},
                "schemaString": schema, "partitionColumns": [], "configuration": {}}}),
        ]
    }

    /// The same for a table with deletion vectors enabled.
    #[must_use]
    pub fn first_actions_with_vectors() -> Vec<Value> {
        let mut actions = Self::first_actions();
        if let Some(protocol) = actions.first_mut() {
            *protocol = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
                "readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}});
        }
        actions
    }

    /// Writes the next commit.
    pub async fn commit(&mut self, actions: Vec<Value>) -> Result<()> {
        let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
        self.put(
            &format!("_delta_log/{:020}.json", self.commits.len()),
            text.into_bytes(),
        )
        .await?;
        self.commits.push(actions);
        Ok(())
    }

    /// Writes any file of the table.
    pub async fn put(&self, relative: &str, bytes: Vec<u8>) -> Result<()> {
        let path = Path::from(format!("t/{relative}"));
        let put = self.store.put(&path, PutPayload::from(bytes)).await;
        put.map(|_| ()).map_err(|error| store_error(&error, relative))
    }

    /// Deletes any file of the table; a missing file is ignored.
    pub async fn delete(&self, relative: &str) -> Result<()> {
        let path = Path::from(format!("t/{relative}"));
        match self.store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(store_error(&error, relative)),
        }
    }

    /// A copy in a folder, with data files from [`far_footer`].
    pub async fn copy_to(&self, folder: &std::path::Path) -> Result<Arc<TableLocation>> {
        let location = TableLocation::parse(&folder.to_string_lossy(), Vec::new())?;
        for (relative, bytes) in self.copied().await? {
            let put = location
                .store()
                .put(&location.below(&relative)?, bytes.into())
                .await;
            put.map_err(|error| store_error(&error, &relative))?;
        }
        Ok(Arc::new(location))
    }

    /// A copy in memory, with data files from [`far_footer`].
    pub async fn copy(&self) -> Result<Self> {
        let copy = Self::new();
        for (relative, bytes) in self.copied().await? {
            copy.put(&relative, bytes).await?;
        }
        Ok(copy)
    }

    async fn copied(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let failed = |error| store_error(&error, "a copy");
        let files: Vec<_> = self.store.list(None).try_collect().await.map_err(failed)?;
        let mut copied = Vec::new();
        for file in files {
            let bytes = self.store.get(&file.location).await.map_err(failed)?;
            let bytes = bytes.bytes().await.map_err(failed)?;
            let relative = file.location.as_ref().trim_start_matches("t/").to_owned();
            let bytes = match relative.ends_with(".parquet") {
                true => far_footer(&bytes),
                false => bytes.to_vec(),
            };
            copied.push((relative, bytes));
        }
        Ok(copied)
    }

    /// The commits so far, including deleted ones.
    #[must_use]
    pub fn commits(&self) -> &[Vec<Value>] {
        &self.commits
    }

    /// The store that users of the location access; the builder itself bypasses its latency, counters and faults.
    #[must_use]
    pub fn scripted(&self) -> &ScriptedStore {
        &self.scripted
    }

    /// The table's location.
    #[must_use]
    pub fn location(&self) -> Arc<TableLocation> {
        Arc::clone(&self.location)
    }
}

/// A Parquet file with a gap before its footer, so that reading the tail of the file does not include any of its pages.
#[must_use]
pub fn far_footer(file: &[u8]) -> Vec<u8> {
    const NOTHING: usize = 64 * 1024;
    let end = |from: usize| file.len().checked_sub(from);
    let length = end(8).and_then(|start| file.get(start..start + 4));
    let length = length
        .and_then(|length| length.try_into().ok())
        .map(u32::from_le_bytes);
    let length = length.and_then(|length| usize::try_from(length).ok());
    let start = length.and_then(|length| end(length.saturating_add(8)));
    match start.and_then(|start| file.split_at_checked(start)) {
        Some((pages, footer)) => [pages, &[0; NOTHING], footer].concat(),
        None => file.to_vec(),
    }
}
