//! `deltaic._rust.Vacuumed`, and the request of a vacuum.

use std::sync::Arc;

use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_table::vacuum::{self, Candidates, RetentionCheck, inventory_entries};
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::capsule::BatchesIn;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct Vacuumed {
    /// Path and size in bytes of each file.
    files: Vec<(String, u64)>,
    deleted_files: usize,
    deleted_folders: usize,
    retention_ms: i64,
    versions: Option<(i64, i64)>,
}

impl From<vacuum::Vacuumed> for Vacuumed {
    fn from(vacuumed: vacuum::Vacuumed) -> Self {
        let files = vacuumed.files.into_iter();
        Self {
            files: files.map(|file| (file.path, file.bytes)).collect(),
            deleted_files: vacuumed.deleted_files,
            deleted_folders: vacuumed.deleted_folders,
            retention_ms: vacuumed.retention_ms,
            versions: vacuumed
                .versions
                .map(|(start, end)| (start.as_i64(), end.as_i64())),
        }
    }
}

/// A mapping from option names to values, validated by Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct VacuumRequest {
    retention_ms: Option<i64>,
    mode: String,
    inventory: Option<BatchesIn>,
    keep_versions: Vec<i64>,
    force: bool,
    dry_run: bool,
}

impl VacuumRequest {
    /// Reads the inventory.
    pub(crate) fn parse(
        self,
        py: Python<'_>,
        clones: Vec<Arc<TableLocation>>,
    ) -> CallResult<vacuum::VacuumRequest> {
        let candidates = match (self.mode.as_str(), self.inventory) {
            ("full", None) => Candidates::Listed,
            ("full", Some(rows)) => py.detach(move || read_inventory(rows))?,
            ("lite", None) => Candidates::Log,
            ("lite", Some(_)) => {
                return Err(
                    invalid("mode \"lite\" reads the log alone: omit the inventory".to_owned()).into(),
                );
            }
            (other, _) => {
                return Err(invalid(format!("mode must be \"full\" or \"lite\", not {other:?}")).into());
            }
        };
        let versions = self.keep_versions.into_iter().map(Version::try_new);
        Ok(vacuum::VacuumRequest {
            retention_ms: self.retention_ms,
            retention_check: match self.force {
                true => RetentionCheck::Disabled,
                false => RetentionCheck::Enabled,
            },
            candidates,
            clones,
            keep_versions: versions.collect::<Result<_>>()?,
            dry_run: self.dry_run,
        })
    }
}

fn read_inventory(rows: BatchesIn) -> Result<Candidates> {
    let mut entries = Vec::new();
    for batch in rows.rows {
        let batch = batch.map_err(|error| invalid(format!("the inventory cannot be read: {error}")))?;
        entries.extend(inventory_entries(&batch)?);
    }
    Ok(Candidates::Inventory(entries))
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
