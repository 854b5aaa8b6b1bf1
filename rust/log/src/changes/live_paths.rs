//! What is live at each path, followed from commit to commit.

use std::collections::HashMap;
use std::sync::Arc;

use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::{ErrorKind, Result, Version};

use super::commit::Commit;
use super::{Live, Standing};
use crate::location::TableLocation;
use crate::snapshot::{LoadOptions, Snapshot};

/// What is live, by the paths in their shortest spelling.
pub(super) struct LivePaths(HashMap<String, Live>);

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
            // Where it was cleaned up, the commits are taken at their word.
            Err(error) if error.kind() == ErrorKind::VersionNotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (files, _) = snapshot.files(None).await?;
        for batch in &files.batches {
            for row in 0..batch.len() {
                live.insert(shortest(batch.adds.path.value(row)), batch.adds.descriptor(row));
            }
        }
        Ok(Some(Self(live)))
    }

    /// Goes on over a commit, and notes what stood at each path that it changed.
    pub(super) fn pass(&mut self, commit: &mut Commit) {
        let paths: Vec<String> = commit
            .adds
            .iter()
            .chain(commit.removes.iter().map(|removed| &removed.file))
            .map(|file| shortest(&file.path))
            .collect();
        let before: Vec<Option<Live>> = paths.iter().map(|path| self.0.get(path).cloned()).collect();
        // The order of actions means nothing: what comes stays.
        for (path, vector, _) in commit.touched.iter().filter(|(_, _, came)| !came) {
            let path = shortest(path);
            let is_it = self.0.get(&path).is_some_and(|live| {
                live.as_ref().map(Descriptor::key) == vector.as_ref().map(Descriptor::key)
            });
            if is_it {
                self.0.remove(&path);
            }
        }
        for (path, vector, _) in commit.touched.iter().filter(|(_, _, came)| *came) {
            self.0.insert(shortest(path), vector.clone());
        }
        let files = commit
            .adds
            .iter_mut()
            .chain(commit.removes.iter_mut().map(|removed| &mut removed.file));
        for ((file, path), before) in files.zip(&paths).zip(before) {
            file.standing = Some(Standing {
                before,
                after: self.0.get(path).cloned(),
            });
        }
    }
}

fn shortest(path: &str) -> String {
    LogicalFileKey::new(path, None).path().to_owned()
}
