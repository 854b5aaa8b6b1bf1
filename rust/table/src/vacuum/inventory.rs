//! An inventory: a list of the table's files from another source than a listing.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use deltaic_protocol::schema::arrow_type_name;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::location::without_secrets;

use super::found::{FileToDelete, Found};
use super::hidden::Hidden;
use super::needed::Needed;
use super::paths::relative_to;

/// No file of a Delta table is older. A time in seconds is.
const YEAR_2000_MS: i64 = 946_684_800_000;

/// A file or folder of an inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryEntry {
    /// The path: absolute, or relative to the table's root; not URI-encoded.
    pub path: String,
    /// Size in bytes.
    pub length: i64,
    /// Whether it is a folder.
    pub is_dir: bool,
    /// Modification time in milliseconds since the epoch.
    pub modification_time: i64,
}

/// Reads entries from the columns `path`, `length`, `isDir` and `modificationTime` of a batch, as of delta-spark's
/// `VACUUM … USING INVENTORY`. Other columns are ignored.
///
/// # Errors
///
/// `InvalidArgument` if a column is missing, has another type, or contains NULL, or if a file has a time before the year
/// 2000.
pub fn inventory_entries(batch: &RecordBatch) -> Result<Vec<InventoryEntry>> {
    let paths = column(batch, "path", &DataType::Utf8)?;
    let lengths = column(batch, "length", &DataType::Int64)?;
    let dirs = column(batch, "isDir", &DataType::Boolean)?;
    let times = column(batch, "modificationTime", &DataType::Int64)?;
    let (paths, dirs): (&StringArray, &BooleanArray) = (paths.as_string(), dirs.as_boolean());
    let [lengths, times]: [&Int64Array; 2] = [lengths.as_primitive(), times.as_primitive::<Int64Type>()];
    let entry = |row: usize| InventoryEntry {
        path: paths.value(row).to_owned(),
        length: lengths.value(row),
        is_dir: dirs.value(row),
        modification_time: times.value(row),
    };
    let entries: Vec<_> = (0..batch.num_rows()).map(entry).collect();
    let is_too_old = |entry: &&InventoryEntry| !entry.is_dir && entry.modification_time < YEAR_2000_MS;
    if let Some(entry) = entries.iter().find(is_too_old) {
        let message = format!(
            "The inventory's column modificationTime contains {}, a time before the year 2000",
            entry.modification_time
        );
        return Err(Error::new(ErrorKind::InvalidArgument, message)
            .with("column", "modificationTime")
            .with("path", without_secrets(&entry.path))
            .hint("it needs milliseconds since 1970, not seconds"));
    }
    Ok(entries)
}

fn column(batch: &RecordBatch, name: &'static str, to: &DataType) -> Result<ArrayRef> {
    let wrong = |why: String| {
        Error::new(ErrorKind::InvalidArgument, format!("The inventory's column {name} {why}"))
            .with("column", name)
            .hint("it needs path (string), length (bigint), isDir (boolean) and modificationTime (bigint, milliseconds)")
    };
    let column = batch
        .column_by_name(name)
        .ok_or_else(|| wrong("is missing".to_owned()))?;
    let from = column.data_type();
    let fits = match to {
        DataType::Utf8 => matches!(from, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
        DataType::Int64 => from.is_integer(),
        other => from == other,
    };
    if !fits {
        let (is, expected) = (arrow_type_name(from), arrow_type_name(to));
        return Err(wrong(format!("has the type {is}, not {expected}")));
    }
    if column.null_count() > 0 {
        return Err(wrong("contains NULL".to_owned()));
    }
    cast(column, to).map_err(|error| wrong(format!("cannot be converted: {error}")))
}

/// Returns the files of an inventory that are below the root, not needed, and last modified before `cutoff_ms`.
pub(super) fn inventoried(
    location: &TableLocation,
    entries: &[InventoryEntry],
    (hidden, needed): (&Hidden, &Needed),
    cutoff_ms: i64,
) -> Found {
    let mut newest: BTreeMap<String, &InventoryEntry> = BTreeMap::new();
    let mut found = Found::default();
    for entry in entries {
        // Paths of the log are encoded.
        let Ok(place) = location.resolve(&entry.path.replace('%', "%25")) else {
            continue;
        };
        let Some(relative) = relative_to(location.root(), &place) else {
            continue;
        };
        if hidden.hides(&relative) {
            continue;
        }
        // Some inventories have folders as files.
        if entry.is_dir || location.is_not_regular_file(&place) {
            found.folders = found.folders.saturating_add(1);
            continue;
        }
        let known = newest.entry(relative).or_insert(entry);
        if known.modification_time < entry.modification_time {
            *known = entry;
        }
    }
    found.folders = found.folders.saturating_add(1);
    for (relative, entry) in newest {
        if entry.modification_time < cutoff_ms && !needed.contains(&relative) {
            let size = u64::try_from(entry.length).unwrap_or(0);
            found.files.push(FileToDelete::of(relative, size));
        }
    }
    found
}
