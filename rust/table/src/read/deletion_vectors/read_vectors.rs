//! Reads the deletion vectors of many files: each vector file once, nearby ranges in one request, decoded on all cores.
//!
//! Protocol: *Deletion Vectors*, *Deletion Vector Format*, *Reader Requirements for Deletion Vectors*.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, VectorLocation, check_version, unframe};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::fault::caught;
use deltaic_storage::location::without_secrets;
use deltaic_storage::read_available;
use deltaic_storage::store_error;
use futures::{StreamExt, TryStreamExt};

use crate::scan::ScanTask;

/// A data file, with its path as in the log, and its deletion vector.
#[derive(Clone, Debug)]
pub struct VectorOf {
    /// The data file.
    pub path: String,
    /// The location of the vector.
    pub descriptor: Descriptor,
}

/// Ranges with at most this many bytes between them are fetched in one request.
const GAP: u64 = 64 * 1024;
/// The maximum size of a request, unless a single vector is larger.
const MOST_AT_ONCE: u64 = 8 << 20;
/// The number of vector files that are read concurrently.
const FILES_AT_ONCE: usize = 8;

/// Reads deletion vectors and returns them in the requested order. Must be called inside a runtime.
///
/// # Errors
///
/// `CorruptLog` for an invalid descriptor, `PathEscape` for one that points outside of the table, `CorruptData`
/// for a file that is missing or damaged; each with the path of the data file.
pub async fn read_vectors(location: &Arc<TableLocation>, wanted: Vec<VectorOf>) -> Result<Vec<Arc<Bitmap>>> {
    let mut found: Vec<Option<Arc<Bitmap>>> = vec![None; wanted.len()];
    let mut files: BTreeMap<String, Vec<(usize, Frame)>> = BTreeMap::new();
    for (index, vector) in wanted.into_iter().enumerate() {
        let place = vector
            .descriptor
            .validate()
            .map_err(|error| vector.located(error))?;
        if let VectorLocation::File(path) = place {
            let path = path.into_owned();
            let range = vector
                .descriptor
                .bytes_in_file()
                .map_err(|error| vector.located(error))?;
            files
                .entry(path)
                .or_default()
                .push((index, Frame { vector, range }));
            continue;
        }
        let bitmap = vector
            .descriptor
            .decode_inline()
            .map_err(|error| vector.located(error))?;
        if let Some(slot) = found.get_mut(index) {
            *slot = bitmap.map(Arc::new);
        }
    }
    let read = futures::stream::iter(files.into_iter().map(|(path, frames)| {
        let location = Arc::clone(location);
        async move {
            let reading = Reading(tokio::spawn(read_file(location, path, frames)));
            reading.finish().await
        }
    }));
    let mut read = read.buffer_unordered(FILES_AT_ONCE);
    while let Some(vectors) = read.try_next().await? {
        for (index, bitmap) in vectors {
            if let Some(slot) = found.get_mut(index) {
                *slot = Some(Arc::new(bitmap));
            }
        }
    }
    found
        .into_iter()
        .map(|bitmap| bitmap.ok_or_else(|| Error::internal("a deletion vector was not read")))
        .collect()
}

/// Returns the vectors that a task needs to select its rows.
pub(crate) fn vectors_of(task: &ScanTask) -> impl Iterator<Item = VectorOf> {
    task.selection.vectors().map(|descriptor| VectorOf {
        path: task.path.clone(),
        descriptor: descriptor.clone(),
    })
}

/// A vector file that is being read. Dropping it aborts the read.
struct Reading(tokio::task::JoinHandle<Result<Vec<(usize, Bitmap)>>>);

impl Reading {
    async fn finish(mut self) -> Result<Vec<(usize, Bitmap)>> {
        (&mut self.0).await.unwrap_or_else(|_| Err(caught()))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A vector's range in a file.
struct Frame {
    vector: VectorOf,
    range: Range<u64>,
}

impl VectorOf {
    /// Adds the data file of the vector to an error.
    pub(crate) fn located(&self, error: Error) -> Error {
        error
            .renamed("path", "vector")
            .with("path", without_secrets(&self.path))
            .or_hint("restore the commit that names the vector from a backup of the table")
    }
}

async fn read_file(
    location: Arc<TableLocation>,
    file: String,
    mut frames: Vec<(usize, Frame)>,
) -> Result<Vec<(usize, Bitmap)>> {
    let shown = without_secrets(&file);
    let of_first = frames
        .first()
        .map(|(_, frame)| without_secrets(&frame.vector.path));
    let located = |error: Error| {
        let error = error.renamed("path", "vector").with("vector", shown.as_str());
        match &of_first {
            Some(path) => error.with("path", path.as_str()),
            None => error,
        }
    };
    let path = location.resolve(&file).map_err(located)?;
    frames.sort_by_key(|(_, frame)| frame.range.start);
    let store = location.store().as_ref();
    let begins = range_of(&frames).start;
    let version = async {
        match begins {
            0 => Ok(None),
            // The version byte is fetched separately if the first vector is not near the start.
            _ => read_available(store, &path, 0..1).await,
        }
    };
    let version = version.await.map_err(|error| located(failure(&error, &shown)))?;
    if let Some(version) = version {
        check_version(&version).map_err(located)?;
    }
    let mut vectors = Vec::with_capacity(frames.len());
    for run in runs(&frames) {
        let ranges = frames.get(run).unwrap_or_default();
        let whole = range_of(ranges);
        let bytes = read_available(store, &path, whole.clone())
            .await
            .map_err(|error| located(failure(&error, &shown)))?
            .unwrap_or_default();
        if whole.start == 0 {
            check_version(&bytes).map_err(located)?;
        }
        for (index, frame) in ranges {
            let vector = &frame.vector;
            let bitmap = frame_in(&bytes, &whole, frame)
                .and_then(|bytes| vector.descriptor.decode(bytes))
                .map_err(|error| vector.located(error).with("vector", shown.as_str()))?;
            vectors.push((*index, bitmap));
        }
    }
    Ok(vectors)
}

/// Returns the vector's part of the bytes that were fetched.
fn frame_in<'a>(bytes: &'a Bytes, fetched: &Range<u64>, frame: &Frame) -> Result<&'a [u8]> {
    let from = frame.range.start.saturating_sub(fetched.start);
    let until = frame.range.end.saturating_sub(fetched.start);
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let from = usize::try_from(from.min(length)).unwrap_or(usize::MAX);
    let until = usize::try_from(until.min(length)).unwrap_or(usize::MAX);
    unframe(
        bytes.get(from..until).unwrap_or_default(),
        &frame.vector.descriptor,
    )
}

/// Groups the sorted vectors by request.
fn runs(frames: &[(usize, Frame)]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut bytes: Range<u64> = 0..0;
    for (index, (_, frame)) in frames.iter().enumerate() {
        let is_near = frame.range.start <= bytes.end.saturating_add(GAP)
            && frame.range.end.saturating_sub(bytes.start) <= MOST_AT_ONCE;
        match runs.last_mut() {
            Some(run) if is_near => {
                run.end = index + 1;
                bytes.end = bytes.end.max(frame.range.end);
            }
            _ => {
                runs.push(index..index + 1);
                bytes = frame.range.clone();
            }
        }
    }
    runs
}

/// Returns the byte range of vectors that are fetched in one request; from the start of the file if that is near, to
/// include its version byte.
fn range_of(frames: &[(usize, Frame)]) -> Range<u64> {
    let start = frames
        .iter()
        .map(|(_, frame)| frame.range.start)
        .min()
        .unwrap_or(0);
    let end = frames.iter().map(|(_, frame)| frame.range.end).max().unwrap_or(0);
    if start <= GAP { 0..end } else { start..end }
}

fn failure(error: &object_store::Error, path: &str) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::new(
            ErrorKind::CorruptData,
            "a file of deletion vectors is missing, but the log references it",
        )
        .hint("restore the file; if a vacuum removed it, the version is too old to be read"),
        other => store_error(other, path),
    }
}
