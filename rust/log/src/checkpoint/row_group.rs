//! Encodes a row group in two tasks: the statistics as JSON, which are most of its bytes, and all other columns.

use std::sync::Arc;

use arrow_array::RecordBatch;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::start;
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowLeafColumn, compute_leaves};
use parquet::errors::ParquetError;
use parquet::schema::types::SchemaDescriptor;

/// Path of the column that has a task of its own.
pub(super) const OWN_TASK: &str = "add.stats";

/// The columns that one task encodes, by their positions in the file.
type Columns = Vec<(usize, ArrowColumnWriter)>;

/// A row group that is being encoded, while the caller prepares the next rows.
pub(super) struct RowGroup {
    relative: Arc<str>,
    tasks: Vec<BoxFuture<'static, Result<Columns>>>,
    rows: usize,
}

impl RowGroup {
    /// Creates a row group of a file with the writers of its columns.
    pub(super) fn new(
        relative: &Arc<str>,
        writers: Vec<ArrowColumnWriter>,
        schema: &SchemaDescriptor,
    ) -> Self {
        let is_alone =
            |(place, _): &(usize, ArrowColumnWriter)| schema.column(*place).path().string() == OWN_TASK;
        let (alone, others): (Columns, Columns) = writers.into_iter().enumerate().partition(is_alone);
        let ready = |columns| std::future::ready(Ok(columns)).boxed();
        Self {
            relative: Arc::clone(relative),
            tasks: vec![ready(alone), ready(others)],
            rows: 0,
        }
    }

    /// Number of rows so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Starts encoding rows, after the rows before them.
    pub(super) async fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let mut leaves: Vec<Option<ArrowLeafColumn>> = Vec::new();
        for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
            let of_field = compute_leaves(field, column).map_err(|error| failed(&error, &self.relative))?;
            leaves.extend(of_field.into_iter().map(Some));
        }
        for mut columns in self.columns().await? {
            let mut take = |place: usize| leaves.get_mut(place).and_then(Option::take);
            let own: Vec<_> = columns.iter().map(|(place, _)| take(*place)).collect();
            self.start(move || {
                for ((_, writer), leaf) in columns.iter_mut().zip(&own) {
                    if let Some(leaf) = leaf {
                        writer.write(leaf)?;
                    }
                }
                Ok(columns)
            });
        }
        self.rows += rows.num_rows();
        Ok(())
    }

    /// Returns the approximate size in bytes, after all rows are encoded.
    pub(super) async fn bytes(&mut self) -> Result<usize> {
        let encoded = self.columns().await?;
        let bytes = |columns: &Columns| -> usize {
            let writers = columns.iter();
            writers
                .map(|(_, writer)| writer.get_estimated_total_bytes())
                .sum()
        };
        let total = encoded.iter().map(bytes).sum();
        for columns in encoded {
            self.tasks.push(std::future::ready(Ok(columns)).boxed());
        }
        Ok(total)
    }

    /// Returns the encoded columns, in the order of the file.
    pub(super) async fn finish(mut self) -> Result<Vec<ArrowColumnChunk>> {
        let mut chunks: Vec<(usize, ArrowColumnChunk)> = Vec::new();
        for (place, writer) in self.columns().await?.into_iter().flatten() {
            let chunk = writer.close().map_err(|error| failed(&error, &self.relative))?;
            chunks.push((place, chunk));
        }
        chunks.sort_by_key(|(place, _)| *place);
        Ok(chunks.into_iter().map(|(_, chunk)| chunk).collect())
    }

    /// Returns the columns of each task, after all rows are encoded.
    async fn columns(&mut self) -> Result<Vec<Columns>> {
        futures::future::try_join_all(self.tasks.drain(..)).await
    }

    fn start(&mut self, encode: impl FnOnce() -> Result<Columns, ParquetError> + Send + 'static) {
        let relative = Arc::clone(&self.relative);
        let encoding = start(async move { encode().map_err(|error| failed(&error, &relative)) });
        self.tasks.push(encoding.boxed());
    }
}

/// Converts an error of the Parquet writer.
pub(super) fn failed(error: &ParquetError, relative: &str) -> Error {
    Error::new(
        ErrorKind::StorageError,
        format!("the checkpoint cannot be written: {error}"),
    )
    .with("path", relative)
    .hint("the table is unchanged: readers use the commits")
}
