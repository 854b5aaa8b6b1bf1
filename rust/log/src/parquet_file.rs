//! A Parquet file on a store, as the Parquet reader wants it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

/// How many bytes of the end are fetched at first: mostly the whole footer.
const FOOTER_GUESS: usize = 64 * 1024;

/// A Parquet file on a store. Its size is the store's, never the log's: the log may be wrong.
#[derive(Clone, Debug)]
pub struct ParquetFile {
    store: Arc<dyn ObjectStore>,
    path: Path,
    size: u64,
}

impl ParquetFile {
    /// Finds the file and its size.
    pub async fn open(store: Arc<dyn ObjectStore>, path: Path) -> Result<Self, object_store::Error> {
        let size = store.head(&path).await?.size;
        Ok(Self { store, path, size })
    }

    /// A file whose size a listing has just told.
    #[must_use]
    pub fn listed(store: Arc<dyn ObjectStore>, path: Path, size: u64) -> Self {
        Self { store, path, size }
    }
}

fn external(error: object_store::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

impl AsyncFileReader for ParquetFile {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        async move { self.store.get_range(&self.path, range).await.map_err(external) }.boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        async move { self.store.get_ranges(&self.path, &ranges).await.map_err(external) }.boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        async move {
            let reader = ParquetMetaDataReader::new()
                .with_metadata_options(options.map(|options| options.metadata_options().clone()))
                .with_prefetch_hint(Some(FOOTER_GUESS));
            let size = self.size;
            Ok(Arc::new(reader.load_and_finish(self, size).await?))
        }
        .boxed()
    }
}
