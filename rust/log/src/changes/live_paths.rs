//! What is live at each path, followed from commit to commit.

use std::collections::HashMap;
use std::sync::Arc;

use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::{ErrorKind, Result, Version};

use super::commit::FileAction;
use super::{Live, PartitionValues, Standing};
use crate::location::TableLocation;
use crate::snapshot::{LoadOptions, Snapshot};

/// What is live, by the paths in their shortest spelling.
pub(super) struct LivePaths(HashMap<String, LiveFile>);

struct LiveFile {
    vector: Live,
    values: PartitionValues,
}

impl LivePaths {
    /// What is live before a version; none where that was cleaned up.
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

    /// The partition values of the file that is live at a path.
    pub(super) fn values(&self, path: &str) -> Option<&PartitionValues> {
        self.0.get(&shortest(path)).map(|live| &live.values)
    }

    /// Goes on over a commit's files, and notes what stood at the path of each before and after it.
    pub(super) fn pass(&mut self, files: &mut [FileAction]) {
        let paths: Vec<String> = files.iter().map(|action| shortest(&action.file.path)).collect();
        let vector_at =
            |live: &HashMap<String, LiveFile>, path: &String| live.get(path).map(|live| live.vector.clone());
        let before: Vec<Option<Live>> = paths.iter().map(|path| vector_at(&self.0, path)).collect();
        // The order of actions means nothing: what comes stays.
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
            action.file.standing = Some(Standing {
                before,
                after: vector_at(&self.0, path),
            });
        }
    }
}

fn shortest(path: &str) -> String {
    LogicalFileKey::new(path, None).path().to_owned()
}
