//! Reads a version again from a newer checkpoint than the one that its snapshot starts from.
//!
//! A refreshed snapshot starts from the checkpoint from which it was loaded, while a new checkpoint should reference the
//! sidecars of the newest.
//!
//! Protocol: *Checkpoints*, *Last Checkpoint File*.

use std::sync::Arc;

use deltaic_protocol::Result;

use super::assemble::from_checkpoint;
use super::request::Request;
use super::state::Snapshot;
use crate::decode::checkpoint::Checkpoint;
use crate::last_checkpoint::{Hint, read_last_checkpoint};
use crate::listing::Listing;
use crate::segment::{LogSegment, complete_checkpoints};

impl Snapshot {
    /// The same version, read from the newest checkpoint with sidecars; `None` if this snapshot starts from it, if
    /// `_last_checkpoint` names no newer one, or if that one has no sidecars. Sidecars that both checkpoints reference
    /// are shared, not read again.
    pub(crate) async fn reread_from_newer_checkpoint(&self) -> Result<Option<Self>> {
        let Hint::Version(hinted) = read_last_checkpoint(&self.location).await else {
            return Ok(None);
        };
        let own = self
            .checkpoint
            .as_ref()
            .map(|checkpoint| checkpoint.files.version);
        // The commits of a catalog are not in the listing.
        if self.is_from_catalog() || hinted > self.version() || Some(hinted) <= own {
            return Ok(None);
        }
        let listing = Listing::from(&self.location, hinted).await?;
        let newest = complete_checkpoints(&listing, Some(self.version()))
            .into_iter()
            .next();
        let Some(files) = newest.filter(|files| Some(files.version) > own) else {
            return Ok(None);
        };
        let max_line_bytes = self.max_line_bytes();
        let sidecars = Checkpoint::read_sidecars(&self.location, &files, max_line_bytes).await?;
        if sidecars.is_empty() {
            return Ok(None);
        }
        let known = self.checkpoint.as_deref();
        let checkpoint = Checkpoint::read_beside(&self.location, &files, known, max_line_bytes).await?;
        let segment = LogSegment::try_new(&listing, Some(files), self.version())?;
        let request = Request {
            location: Arc::clone(&self.location),
            version: Some(self.version()),
            options: self.options,
            tail: self.tail,
            listed: self.listed,
        };
        let again = from_checkpoint(&request, segment, Arc::new(checkpoint)).await?;
        // Otherwise the table was replaced, or the checkpoint is wrong.
        if again.metadata().id != self.metadata().id || again.num_files() != self.num_files() {
            return Ok(None);
        }
        Ok(Some(Self {
            segment: again.segment,
            checkpoint: again.checkpoint,
            adds: again.adds,
            removes: again.removes,
            ..self.clone()
        }))
    }
}
