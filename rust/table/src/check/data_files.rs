//! Compares the data files of the latest version with the log.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use deltaic_log::check::diagnosis::{
    BAD_DELETION_VECTOR, DAMAGED_DATA_FILE, Diagnosis, FILE_OUTSIDE_OF_TABLE, MISSING_DATA_FILE,
    MISSING_DELETION_VECTOR, OTHER_FILE_SIZE, OTHER_ROW_COUNT, UNREADABLE_FILE, UNREFERENCED_FILES,
};
use deltaic_log::check::{Examination, FileEntry, Finding, Findings, Progress, Severity, Stage};
use deltaic_protocol::deletion_vector::VectorLocation as DeletionVectorPlace;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::ParquetFile;
use deltaic_storage::TableLocation;
use deltaic_storage::location::without_secrets;
use deltaic_storage::store_error;
use futures::{FutureExt, StreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::async_reader::AsyncFileReader;

/// The number of files that are checked concurrently.
const FILES_IN_FLIGHT: usize = 16;

/// A data file to check.
struct DataFileToCheck {
    /// As in the log.
    path: String,
    place: Path,
    size: i64,
    num_records: Option<i64>,
}

/// A deletion vector file to check.
struct WantedVector {
    /// The data file, as in the log.
    of: String,
    /// The end of the bytes that vectors need.
    end: u64,
}

/// The listing of the store below the root.
#[derive(Default)]
struct Listed {
    /// The sizes of the files to check.
    sizes: HashMap<Path, u64>,
    unreferenced: u64,
    unreferenced_bytes: u64,
}

/// Checks that every live file exists, its size, and the number of rows in its footer.
pub(super) async fn examine(
    location: &Arc<TableLocation>,
    examination: &mut Examination,
    progress: &Progress,
) {
    let mut findings = std::mem::take(&mut examination.findings);
    let mut refused: HashSet<Path> = HashSet::new();
    let (wanted, vectors) = wanted_of(location, examination, &mut refused, &mut findings);
    progress.begin(Stage::Files, wanted.len() as u64);
    let listed = {
        let places: HashSet<&Path> = wanted
            .iter()
            .map(|file| &file.place)
            .chain(vectors.keys())
            .collect();
        let elsewhere: HashSet<Path> = examination
            .named_elsewhere()
            .into_iter()
            .filter_map(|path| location.resolve(path).ok())
            .chain(refused)
            .collect();
        list(location, &places, &elsewhere, &mut findings).await
    };
    examine_vectors(location, &vectors, &listed, &mut findings).await;
    examination.examined.data_files = wanted.len();
    let checks: Vec<_> = wanted
        .into_iter()
        .map(|file| {
            let listed = listed.sizes.get(&file.place).copied();
            let location = Arc::clone(location);
            async move { look_at(&location, &file, listed).await }
        })
        .collect();
    let mut checks = futures::stream::iter(checks).buffered(FILES_IN_FLIGHT);
    while let Some(found) = checks.next().await {
        found.into_iter().for_each(|finding| findings.add(finding));
        progress.step();
    }
    // Without the latest state it is unknown which files are unreferenced.
    if listed.unreferenced > 0 && examination.examined.live_files.is_some() {
        let (files, bytes) = (listed.unreferenced, listed.unreferenced_bytes);
        let named = if files == 1 { "file is" } else { "files are" };
        let message = format!("{files} {named} not referenced by the table's log ({bytes} bytes)");
        findings.add(Finding::new(&UNREFERENCED_FILES, message));
    }
    examination.findings = findings;
}

/// Returns the files to check. Links and other objects that are not files are reported, and added to `refused`.
fn wanted_of(
    location: &TableLocation,
    examination: &Examination,
    refused: &mut HashSet<Path>,
    findings: &mut Findings,
) -> (Vec<DataFileToCheck>, BTreeMap<Path, WantedVector>) {
    let mut wanted = Vec::new();
    let mut vectors: BTreeMap<Path, WantedVector> = BTreeMap::new();
    for file in examination.live_files() {
        // The check of the log reports paths outside of the table.
        let Ok(place) = location.resolve(&file.path) else {
            continue;
        };
        let shown = without_secrets(&file.path);
        match vector_of(location, file) {
            Ok(None) => {}
            Ok(Some((path, place, end))) => match location.check_links(&without_secrets(&path), &place) {
                Ok(()) => {
                    let known = vectors.entry(place).or_insert_with(|| WantedVector {
                        of: shown.clone(),
                        end,
                    });
                    known.end = known.end.max(end);
                }
                Err(error) => {
                    findings.add(unopened(&error, &BAD_DELETION_VECTOR));
                    refused.insert(place);
                }
            },
            Err(error) => {
                let finding = unopened(&error, &BAD_DELETION_VECTOR);
                findings.add(
                    finding
                        .at(shown.as_str())
                        .in_field("deletionVector.pathOrInlineDv"),
                );
            }
        }
        if let Err(error) = location.check_links(&shown, &place) {
            findings.add(unopened(&error, &DAMAGED_DATA_FILE));
            refused.insert(place);
            continue;
        }
        wanted.push(DataFileToCheck {
            path: shown,
            place,
            size: file.size,
            num_records: file.num_records,
        });
    }
    wanted.sort_by(|left, right| left.path.cmp(&right.path));
    (wanted, vectors)
}

/// Reports why a scan does not open a file that the log names.
fn unopened(error: &Error, otherwise: &'static Diagnosis) -> Finding {
    Finding::of(
        if error.kind() == ErrorKind::PathEscape {
            &FILE_OUTSIDE_OF_TABLE
        } else {
            otherwise
        },
        error,
    )
}

/// Returns the path of a live file's deletion vector, its location, and the number of bytes of the file that are
/// needed; `None` for a file without a vector or with an inline vector.
///
/// # Errors
///
/// `CorruptLog` for an inline vector that cannot be decoded, `PathEscape` for a file outside of the table. An
/// invalid descriptor is reported by the check of the log.
fn vector_of(location: &TableLocation, file: &FileEntry) -> Result<Option<(String, Path, u64)>> {
    let Some(vector) = file.deletion_vector.as_deref() else {
        return Ok(None);
    };
    match vector.validate() {
        Ok(DeletionVectorPlace::File(path)) => {
            let place = location.resolve(&path)?;
            Ok(Some((path.into_owned(), place, vector.bytes_in_file()?.end)))
        }
        Ok(DeletionVectorPlace::Inline(_)) => vector.decode_inline().map(|_| None),
        Err(_) => Ok(None),
    }
}

async fn list(
    location: &TableLocation,
    wanted: &HashSet<&Path>,
    elsewhere: &HashSet<Path>,
    findings: &mut Findings,
) -> Listed {
    let mut listed = Listed::default();
    let root = location.root();
    let mut objects = location.store().list(Some(root));
    while let Some(object) = objects.next().await {
        let object = match object {
            Ok(object) => object,
            Err(error) => {
                // Without a listing, the size of each file is requested individually.
                let error = store_error(&error, "");
                let finding = Finding::new(
                    &UNREADABLE_FILE,
                    format!("the files cannot be listed: {}", error.what()),
                );
                findings.add(finding.at(location.uri()).with_severity(Severity::Warning));
                break;
            }
        };
        if wanted.contains(&object.location) {
            listed.sizes.insert(object.location, object.size);
            continue;
        }
        let Some(below) = object.location.prefix_match(root) else {
            continue;
        };
        let parts: Vec<_> = below.collect();
        let is_of_log = parts.first().is_some_and(|part| part.as_ref() == LOG_FOLDER);
        // Hidden files are not data, except in folders of partition columns whose names start with an underscore.
        let is_hidden = parts.iter().any(|part| {
            let part = part.as_ref();
            part.starts_with('.') || part.starts_with('_') && !part.contains('=') && part != "_change_data"
        });
        if !is_of_log && !is_hidden && !elsewhere.contains(&object.location) {
            listed.unreferenced += 1;
            listed.unreferenced_bytes = listed.unreferenced_bytes.saturating_add(object.size);
        }
    }
    listed
}

async fn examine_vectors(
    location: &TableLocation,
    vectors: &BTreeMap<Path, WantedVector>,
    listed: &Listed,
    findings: &mut Findings,
) {
    for (place, vector) in vectors {
        let size = match listed.sizes.get(place) {
            Some(size) => Ok(*size),
            None => location.store().head(place).await.map(|found| found.size),
        };
        let name = place.filename().unwrap_or_default();
        let message = match size {
            Ok(size) if size >= vector.end => continue,
            Ok(size) => format!(
                "the deletion vector's file {name} has {size} bytes, and {} are needed",
                vector.end
            ),
            Err(object_store::Error::NotFound { .. }) => {
                format!("the deletion vector's file {name} does not exist")
            }
            Err(error) => {
                let error = store_error(&error, name);
                findings.add(Finding::of(&UNREADABLE_FILE, &error));
                continue;
            }
        };
        findings.add(Finding::new(&MISSING_DELETION_VECTOR, message).at(vector.of.as_str()));
    }
}

async fn look_at(location: &TableLocation, file: &DataFileToCheck, listed: Option<u64>) -> Vec<Finding> {
    let here = |finding: Finding| finding.at(file.path.as_str());
    let size = match listed {
        Some(size) => size,
        None => match location.store().head(&file.place).await {
            Ok(found) => found.size,
            Err(object_store::Error::NotFound { .. }) => {
                return vec![here(Finding::new(
                    &MISSING_DATA_FILE,
                    "the data file does not exist",
                ))];
            }
            Err(error) => {
                return vec![here(Finding::of(
                    &UNREADABLE_FILE,
                    &store_error(&error, &file.path),
                ))];
            }
        },
    };
    let mut found = Vec::new();
    if u64::try_from(file.size) != Ok(size) {
        let message = format!(
            "the file has {size} bytes, but {} according to the log",
            file.size
        );
        found.push(here(Finding::new(&OTHER_FILE_SIZE, message).in_field("add.size")));
    }
    match rows_of(location.store(), &file.place, size).await {
        Err(why) => {
            let message = format!("the footer cannot be read: {why}");
            found.push(here(Finding::new(&DAMAGED_DATA_FILE, message)));
        }
        Ok(rows) => {
            if let Some(message) = file.num_records.filter(|message| *message != rows) {
                let message = format!("the file has {rows} rows, and numRecords is {message}");
                found.push(here(
                    Finding::new(&OTHER_ROW_COUNT, message).in_field("stats.numRecords"),
                ));
            }
        }
    }
    found
}

async fn rows_of(store: &Arc<dyn ObjectStore>, place: &Path, size: u64) -> Result<i64, String> {
    let mut file = ParquetFile::listed(Arc::clone(store), place.clone(), size);
    // The Parquet reader can panic on malicious bytes; this is reported like other damage.
    let read = AssertUnwindSafe(file.get_metadata(None)).catch_unwind().await;
    match read {
        Ok(Ok(metadata)) => Ok(metadata.file_metadata().num_rows()),
        Ok(Err(error)) => Err(first_line(&error.to_string())),
        Err(_) => Err("its bytes are invalid".to_owned()),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
