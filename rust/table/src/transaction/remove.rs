//! Stages the removal of files.

use std::collections::BTreeSet;

use deltaic_log::checkpoint::whole_adds;
use deltaic_protocol::actions::Remove;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::clock::now_ms;

use super::TableTransaction;
use super::change_data::DeletedRows;
use super::live_files::live_files;

impl TableTransaction {
    /// Stages the removal of live files with all of their rows; all of the files or none. With `dataChange=false` the
    /// caller must keep the rows, in files that are added.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` if the table is append-only; `ValueError` with the `path` that is not a live file
    /// or is already staged; `UnsupportedFeature`.
    pub async fn remove(&mut self, paths: &[String], data_change: bool) -> Result<()> {
        let snapshot = self.snapshot.clone();
        let support_check = if data_change {
            ensure_removable
        } else {
            ensure_appendable
        };
        support_check(snapshot.configuration()).map_err(|error| self.located(error))?;
        if self.is_done() || paths.is_empty() {
            return Ok(());
        }
        self.ensure_takes_files()?;
        let adds = live_files(&snapshot, paths).await?;
        self.ensure_staged_once(adds.iter().map(|add| add.path.as_str()))?;
        if !data_change {
            // The number of removed rows is in the statistics, which replay does not keep.
            for add in whole_adds(&snapshot, Some(paths)).await? {
                self.same_rows.record_removed(&add);
            }
        }
        if data_change && self.has_feed()? {
            let deleted = adds.iter().cloned().map(DeletedRows::all);
            self.unrecorded.deleted.extend(deleted);
        }
        let now = now_ms();
        self.proposal.removes.extend(adds.iter().map(|add| Remove {
            data_change,
            ..Remove::of(add, now)
        }));
        Ok(())
    }

    /// Verifies that no file is staged to be removed twice.
    pub(super) fn ensure_staged_once<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let mut staged: BTreeSet<&str> = self.removed();
        let mut paths = paths.into_iter();
        match paths.find(|path| !staged.insert(path)) {
            Some(path) => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("{path:?} is staged already: a transaction changes a file once"),
            )
            .with("path", path)),
            None => Ok(()),
        }
    }
}
