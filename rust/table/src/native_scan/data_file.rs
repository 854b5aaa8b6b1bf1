//! The data files of a scan as the log has them, and their URIs and true sizes.

use std::sync::Arc;

use deltaic_log::snapshot::Files;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use object_store::path::Path;

use super::file_uri::FileUris;
use super::sink_log::SinkFile;
use crate::scan::{ScanTask, Selection};

/// A data file as the log has it.
pub(super) struct DataFile {
    pub(super) path: String,
    /// Bytes.
    size: i64,
    /// Milliseconds since the epoch.
    modification_time: i64,
    /// The rows that are deleted.
    pub(super) vector: Option<Descriptor>,
}

/// The files of a snapshot, in their order.
pub(super) fn of_snapshot(files: &Files) -> Vec<DataFile> {
    let rows = files
        .batches
        .iter()
        .flat_map(|batch| (0..batch.len()).map(move |row| (&batch.adds, row)));
    rows.map(|(adds, row)| DataFile {
        path: adds.path.value(row).to_owned(),
        size: adds.size.value(row),
        modification_time: adds.modification_time.value(row),
        vector: adds.descriptor(row),
    })
    .collect()
}

/// The files of tasks, in their order.
pub(super) fn of_tasks(tasks: &[ScanTask]) -> Result<Vec<DataFile>> {
    let file = |task: &ScanTask| {
        Ok(DataFile {
            path: task.path.clone(),
            size: task.size,
            modification_time: 0,
            vector: match &task.selection {
                Selection::All => None,
                Selection::Without(vector) => Some(vector.clone()),
                Selection::Difference { .. } => {
                    return Err(Error::internal("a task of changes is not a scan of a file"));
                }
            },
        })
    };
    tasks.iter().map(file).collect()
}

/// Returns the URIs of the files with their true sizes: Spark reads no row group beyond the size that it gets.
pub(super) async fn entries(location: &Arc<TableLocation>, files: &[DataFile]) -> Result<Vec<SinkFile>> {
    let uris = FileUris::of(location.uri())?;
    let mut places: Vec<(String, Path)> = Vec::with_capacity(files.len());
    let mut entries = Vec::with_capacity(files.len());
    for file in files {
        let place = location.resolve(&file.path)?;
        entries.push(SinkFile {
            uri: uris.of_file(&file.path, &place)?,
            length: file.size,
            modification_time: file.modification_time,
        });
        places.push((file.path.clone(), place));
    }
    match location.lengths_of_files(places).await? {
        Some(lengths) => {
            for (entry, length) in entries.iter_mut().zip(lengths) {
                entry.length = i64::try_from(length).unwrap_or(i64::MAX);
            }
        }
        None => {
            if let Some(entry) = entries.iter().find(|entry| entry.length <= 0) {
                return Err(Error::new(
                    ErrorKind::CorruptLog,
                    format!("a data file has {} bytes according to the log", entry.length),
                )
                .with("path", entry.uri.as_str())
                .with("field", "add.size"));
            }
        }
    }
    Ok(entries)
}
