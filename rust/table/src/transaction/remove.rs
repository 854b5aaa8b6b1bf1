//! Files that go.

use std::collections::BTreeSet;

use deltaic_log::checkpoint::whole_adds;
use deltaic_log::clock::now_ms;
use deltaic_protocol::actions::Remove;
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::TableTransaction;
use super::live_files::live_files;

impl TableTransaction {
    /// Stages that live files go, with all of their rows. Where one cannot go, none is staged. Without a change of data their
    /// rows are the caller's to keep, in files that are added.
    ///
    /// Errors: `ConstraintViolation` where the table is append-only; `ValueError` with the `path` that no live file has
    /// or that is staged already; `UnsupportedFeature`.
    pub async fn remove(&mut self, paths: &[String], data_change: bool) -> Result<()> {
        let snapshot = self.snapshot.clone();
        let gate = if data_change {
            ensure_removable
        } else {
            ensure_appendable
        };
        gate(snapshot.protocol(), snapshot.metadata(), snapshot.schema())
            .map_err(|error| self.located(error))?;
        if self.is_done() || paths.is_empty() {
            return Ok(());
        }
        self.ensure_takes_files()?;
        let adds = live_files(&snapshot, paths).await?;
        self.ensure_staged_once(adds.iter().map(|add| add.path.as_str()))?;
        if !data_change {
            // How many rows go is told by the statistics, which replay does not keep.
            for add in whole_adds(&snapshot, Some(paths)).await? {
                self.same_rows.goes(&add);
            }
        }
        let now = now_ms();
        self.proposal.removes.extend(adds.iter().map(|add| Remove {
            data_change,
            ..Remove::of(add, now)
        }));
        Ok(())
    }

    /// No file is staged to go twice.
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
