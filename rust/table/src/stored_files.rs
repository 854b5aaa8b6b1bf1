//! Finds the files of a table that are gone from storage.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use deltaic_log::progress::{Progress, Stage};
use deltaic_protocol::actions::Add;
use deltaic_protocol::actions::columns::AddColumns;
use deltaic_protocol::deletion_vector::{Descriptor, VectorLocation};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::store_error;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

/// The number of files that are looked up concurrently in a network store.
const IN_FLIGHT: usize = 32;

/// From this number of files on, a store is listed first: a listing has a thousand files in one response.
const FEWEST_TO_LIST: usize = 1000;

/// A data file and its deletion vector, as named by the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// The path of the data file.
    pub(crate) path: String,
    /// Its deletion vector.
    pub(crate) deletion_vector: Option<Descriptor>,
}

impl NamedFile {
    /// The file of a row.
    pub(crate) fn of_row(adds: &AddColumns, row: usize) -> Self {
        Self {
            path: adds.path.value(row).to_owned(),
            deletion_vector: adds.descriptor(row),
        }
    }
}

impl From<&Add> for NamedFile {
    fn from(add: &Add) -> Self {
        Self {
            path: add.path.clone(),
            deletion_vector: add.deletion_vector.clone(),
        }
    }
}

/// The files that are gone, as named by the log and in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GoneFiles {
    /// The paths of data files that are gone.
    pub(crate) data: Vec<String>,
    /// Existing data files whose deletion vector is gone, with the path of its file.
    pub(crate) vectors: Vec<(String, String)>,
}

impl GoneFiles {
    /// The paths of the data files whose rows cannot be read, sorted.
    pub(crate) fn unreadable(&self) -> Vec<String> {
        let of_vectors = self.vectors.iter().map(|(path, _)| path);
        let mut paths: Vec<String> = self.data.iter().chain(of_vectors).cloned().collect();
        paths.sort_unstable();
        paths
    }
}

/// Finds which of the files, and of the files of their deletion vectors, do not exist. Reads no file. The progress is that
/// of these files.
///
/// # Errors
///
/// `PathEscape` for a path outside of the table and of the allowed folders; `CorruptLog` for an invalid descriptor;
/// `CorruptData` for a file that exists under the path as written, not decoded; `StorageError` for a file that may only
/// be unreachable; errors of the store, except that a file does not exist.
pub(crate) async fn gone_files(
    location: &Arc<TableLocation>,
    files: &[NamedFile],
    progress: &Progress,
) -> Result<GoneFiles> {
    let mut places: Vec<(Path, Option<(String, Path)>)> = Vec::with_capacity(files.len());
    for file in files {
        let vector = file.deletion_vector.as_ref();
        let vector = match vector.map(Descriptor::validate).transpose()? {
            Some(VectorLocation::File(path)) => Some((path.to_string(), location.resolve(&path)?)),
            Some(VectorLocation::Inline(_)) | None => None,
        };
        places.push((location.resolve(&file.path)?, vector));
    }
    let vectors = places.iter().filter_map(|(_, vector)| vector.as_ref());
    let data = places
        .iter()
        .zip(files)
        .map(|((place, _), file)| (place, &file.path));
    let wanted: HashMap<Path, String> = vectors
        .map(|(path, place)| (place, path))
        .chain(data)
        .map(|(place, path)| (place.clone(), path.clone()))
        .collect();
    let gone = gone_places(location, wanted, progress).await?;
    let mut found = GoneFiles::default();
    for (file, (place, vector)) in files.iter().zip(&places) {
        if gone.contains(place) {
            found.data.push(file.path.clone());
        } else if let Some((path, place)) = vector
            && gone.contains(place)
        {
            found.vectors.push((file.path.clone(), path.clone()));
        }
    }
    Ok(found)
}

async fn gone_places(
    location: &Arc<TableLocation>,
    mut wanted: HashMap<Path, String>,
    progress: &Progress,
) -> Result<HashSet<Path>> {
    progress.begin(Stage::Files, wanted.len() as u64);
    if wanted.len() >= FEWEST_TO_LIST && location.file_system().is_none() {
        let mut objects = location.store().list(Some(location.root()));
        // A file that the listing lacks is looked up, so a failed or old listing does no harm.
        while let Some(Ok(object)) = objects.next().await {
            if wanted.remove(&object.location).is_some() {
                progress.step();
            }
        }
    }
    let checks = wanted.into_iter().map(|(place, path)| {
        let location = Arc::clone(location);
        async move {
            let found = location.store().head(&place).await;
            progress.step();
            match found {
                Ok(_) => Ok(None),
                Err(object_store::Error::NotFound { .. }) => {
                    ensure_deleted(&location, &place, &path).await?;
                    Ok(Some(place))
                }
                Err(error) => Err(store_error(&error, &path)),
            }
        }
    });
    let checks = futures::stream::iter(checks).buffer_unordered(location.at_once(IN_FLIGHT));
    checks
        .try_filter_map(|gone| async move { Ok(gone) })
        .try_collect()
        .await
}

/// Verifies that a file which was not found is deleted: it is reachable, and does not have the path of the log as its
/// name, as files of writers that do not encode paths have.
///
/// Protocol: *Add File and Remove File* (paths are URI-encoded).
async fn ensure_deleted(location: &TableLocation, place: &Path, path: &str) -> Result<()> {
    location.ensure_reachable(path, place)?;
    if !path.contains('%') {
        return Ok(());
    }
    let as_written = location.resolve(&path.replace('%', "%25"))?;
    match location.store().head(&as_written).await {
        Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(store_error(&error, path)),
        Ok(_) => Err(Error::new(
            ErrorKind::CorruptData,
            format!(
                "the log names the file {:?}, which does not exist, but {:?} does: its writer did not encode the path",
                place.filename().unwrap_or_default(),
                as_written.filename().unwrap_or_default()
            ),
        )
        .with("path", path)
        .hint("no row is lost: rename the file, or its folder, to the name that does not exist")),
    }
}
