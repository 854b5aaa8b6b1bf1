//! Removes files.

use deltaic_log::checkpoint::whole_adds;
use deltaic_log::transaction::Operation;
use deltaic_protocol::actions::Remove;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::clock::now_ms;

use super::verb::Verb;
use crate::rows::change_data::DeletedRows;
use crate::rows::live_files::live_files;
use crate::transaction::TableTransaction;
use crate::transaction::requirement::Requirement;

/// Removes live files with all of their rows.
///
/// # Errors
///
/// `ConstraintViolation` if the table is append-only; `ValueError` with the `path` that is not a live file or is already
/// staged; `UnsupportedFeature`.
#[derive(Clone, Debug)]
pub struct RemoveFiles {
    /// The paths, as in the log.
    pub paths: Vec<String>,
    /// Whether the rows of the table change: otherwise the caller must keep the rows, in files that are added.
    pub data_change: bool,
}

impl Verb for RemoveFiles {
    type Staged = ();

    fn operation(&self) -> Operation {
        Operation::Delete
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        match self.data_change {
            true => ensure_removable(table),
            false => ensure_appendable(table),
        }
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<()> {
        if self.paths.is_empty() {
            return Ok(());
        }
        transaction.ensure_takes_files()?;
        let snapshot = transaction.snapshot.clone();
        let adds = live_files(&snapshot, &self.paths).await?;
        transaction
            .staged
            .ensure_once(adds.iter().map(|add| add.path.as_str()))?;
        let has_feed = transaction.has_feed()?;
        let staged = &mut transaction.staged;
        if self.data_change {
            staged.requirement = staged.requirement.and(Requirement::REMOVES);
            if has_feed {
                let deleted = adds.iter().cloned().map(DeletedRows::all);
                staged.unrecorded.deleted.extend(deleted);
            }
        } else {
            // The rows are kept in files that are added.
            staged.requirement = staged.requirement.and(Requirement::ADDS);
            // The number of removed rows is in the statistics, which replay does not keep.
            for add in whole_adds(&snapshot, Some(&self.paths)).await? {
                staged.same_rows.record_removed(&add);
            }
        }
        let now = now_ms();
        staged.proposal.removes.extend(adds.iter().map(|add| Remove {
            data_change: self.data_change,
            ..Remove::of(add, now)
        }));
        Ok(())
    }
}
