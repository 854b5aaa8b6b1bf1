//! Measurements for tests: peak memory, requests to the store, and bytes read.
//!
//! Only in builds with the feature `witness`, never in a release: counting takes time.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use deltaic_storage::TableLocation;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use peak_alloc::PeakAlloc;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes allocated when counting started.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static REQUESTS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// Resets the counters.
#[pyfunction]
pub(crate) fn witness_reset() {
    ALLOCATOR.reset_peak_usage();
    BEFORE.store(ALLOCATOR.current_usage(), Ordering::Relaxed);
    REQUESTS.store(0, Ordering::Relaxed);
    BYTES.store(0, Ordering::Relaxed);
}

/// Peak bytes allocated, requests to stores and bytes requested since the last reset. The counters are process-wide, so
/// no other thread may be working.
#[pyfunction]
pub(crate) fn witness() -> (usize, usize, usize) {
    (
        ALLOCATOR
            .peak_usage()
            .saturating_sub(BEFORE.load(Ordering::Relaxed)),
        REQUESTS.load(Ordering::Relaxed),
        BYTES.load(Ordering::Relaxed),
    )
}

/// Returns the table with its requests counted.
pub(crate) fn counted(location: TableLocation) -> TableLocation {
    location.through(|store| Arc::new(CountedStore(store)))
}

/// A store that counts the requests that it forwards.
#[derive(Debug)]
struct CountedStore(Arc<dyn ObjectStore>);

fn asked() {
    REQUESTS.fetch_add(1, Ordering::Relaxed);
}

fn read(range: &Range<u64>) {
    let length = range.end.saturating_sub(range.start);
    BYTES.fetch_add(usize::try_from(length).unwrap_or(usize::MAX), Ordering::Relaxed);
}

impl fmt::Display for CountedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl ObjectStore for CountedStore {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        asked();
        self.0.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        asked();
        self.0.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        asked();
        let head = options.head;
        let answer = self.0.get_opts(path, options).await?;
        if !head {
            read(&answer.range);
        }
        Ok(answer)
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        for range in ranges {
            asked();
            read(range);
        }
        self.0.get_ranges(path, ranges).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        asked();
        self.0.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        asked();
        self.0.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        asked();
        self.0.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        asked();
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        asked();
        self.0.copy_opts(from, to, options).await
    }
}
