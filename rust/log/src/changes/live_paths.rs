//! The live file at each path, tracked from commit to commit.

use std::collections::HashMap;
use std::sync::Arc;

use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::{ErrorKind, Result, Version};

use super::changed_file::{Live, LiveFiles, PartitionValues};
use super::commit::FileAction;
use crate::snapshot::{LoadOptions, Snapshot};
use deltaic_storage::location::TableLocation;

/// The live files by normalized path.
pub(super) struct LivePaths(HashMap<String, LiveFile>);

struct LiveFile {
    vector: Live,
    values: PartitionValues,
}

impl LivePaths {
    /// Returns the live files before a version; `None` if the log before it was cleaned up.
    pub(super) async fn before(
        location: &Arc<TableLocation>,
        version: Version,
        options: LoadOptions,
    ) -> Result<Option<Self>> {
        let mut live = HashMap::new();
        if version == Version::ZERO {
            return Ok(Some(Self(live)));
        }
        let before = Version::try_new(version.as_i64().saturating_sub(1))?;
        let snapshot = match Snapshot::load(Arc::clone(location), Some(before), options).await {
            Ok(snapshot) => snapshot,
            Err(error) if error.kind() == ErrorKind::VersionNotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (files, _) = snapshot.files(None).await?;
        for batch in &files.batches {
            for row in 0..batch.len() {
                let file = LiveFile {
                    vector: batch.adds.descriptor(row),
                    values: values_of_row(&batch.adds.partition_values, row),
                };
                live.insert(shortest(batch.adds.path.value(row)), file);
            }
        }
        Ok(Some(Self(live)))
    }

    /// Returns the partition values of the live file at a path.
    pub(super) fn values(&self, path: &str) -> Option<&PartitionValues> {
        self.0.get(&shortest(path)).map(|live| &live.values)
    }

    /// Applies a commit's file actions, and sets on each the live file at its path before and after the
    /// commit.
    pub(super) fn pass(&mut self, files: &mut [FileAction]) {
        let paths: Vec<String> = files.iter().map(|action| shortest(&action.file.path)).collect();
        let vector_at =
            |live: &HashMap<String, LiveFile>, path: &String| live.get(path).map(|live| live.vector.clone());
        let before: Vec<Option<Live>> = paths.iter().map(|path| vector_at(&self.0, path)).collect();
        // The order of actions within a commit has no meaning, so adds are applied last.
        for (action, path) in files.iter().zip(&paths).filter(|(action, _)| !action.came) {
            let gone = action.file.deletion_vector.as_ref().map(Descriptor::key);
            let is_it = |live: &LiveFile| live.vector.as_ref().map(Descriptor::key) == gone;
            if self.0.get(path).is_some_and(is_it) {
                self.0.remove(path);
            }
        }
        for (action, path) in files.iter().zip(&paths).filter(|(action, _)| action.came) {
            let file = LiveFile {
                vector: action.file.deletion_vector.clone(),
                values: action.file.partition_values.clone(),
            };
            self.0.insert(path.clone(), file);
        }
        for ((action, path), before) in files.iter_mut().zip(&paths).zip(before) {
            action.file.live_files = Some(LiveFiles {
                before,
                after: vector_at(&self.0, path),
            });
        }
    }
}

fn shortest(path: &str) -> String {
    LogicalFileKey::new(path, None).path().to_owned()
}
