//! Reopens a snapshot whose log files were cleaned up after it was loaded: a newer checkpoint may contain their data.
//!
//! Protocol: *Metadata Cleanup*.

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result};

use super::state::Snapshot;
use crate::listing::{Listing, LogFile};

impl Snapshot {
    /// Loads the same version from the current files of the log, if files that this snapshot reads on demand were
    /// deleted; returns `None` if all of them exist.
    ///
    /// # Errors
    ///
    /// `VersionNotFound` if the log no longer has the version; errors of the store.
    pub(crate) async fn reopened(&self) -> Result<Option<Self>> {
        if self.is_from_catalog() || !self.sources_are_gone().await? {
            return Ok(None);
        }
        match Self::load(Arc::clone(&self.location), Some(self.version()), self.options).await {
            Ok(again) if again.metadata().id == self.metadata().id => Ok(Some(again)),
            Err(error) if error.kind() == ErrorKind::StorageError => Err(error),
            Ok(_) | Err(_) => Err(Error::new(
                ErrorKind::VersionNotFound,
                format!(
                    "the file statistics of version {} were cleaned up after the version was opened",
                    self.version()
                ),
            )
            .with("table", self.location.uri())
            .with("version", self.version())
            .hint("open the newest version and run the operation again")),
        }
    }

    async fn sources_are_gone(&self) -> Result<bool> {
        let listing = Listing::whole(&self.location).await?;
        let there: HashSet<&str> = listing.files.iter().map(|file| file.name.as_str()).collect();
        Ok(self.sources().any(|file| !there.contains(file.name.as_str())))
    }

    /// The files of the log that the snapshot may read on demand.
    fn sources(&self) -> impl Iterator<Item = &Arc<LogFile>> {
        let spans = self.adds.iter().flat_map(|survivors| &survivors.files.spans);
        let checkpoint = self.segment.checkpoint.iter();
        spans
            .map(|span| &span.file)
            .chain(checkpoint.flat_map(|checkpoint| &checkpoint.files))
    }
}
