//! Encodes rows as Parquet: the columns of a row group are encoded concurrently.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, SchemaRef};
use bytes::Bytes;
use deltaic_storage::fault::caught;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;
use tokio::task::JoinHandle;

/// The maximum number of rows of a row group.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// The encoded size at which a row group ends, which bounds the memory of a file.
const ROW_GROUP_BYTES: usize = 128 << 20;

/// The size of the pieces in which finished bytes are kept.
const PIECE_BYTES: usize = 1 << 20;

/// Fewer rows are encoded at once: starting the work would cost more.
const SPREAD_ROWS: usize = 8192;

/// A Parquet file in memory; its finished bytes are taken out as they become available.
pub(in crate::write) struct Encoder {
    file: SerializedFileWriter<Pieces>,
    row_groups: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// For each leaf of the file, the position of its column.
    roots: Vec<usize>,
    /// The row group in progress; empty between row groups.
    columns: Vec<Column>,
    rows: usize,
}

/// Bytes in pieces of one size: a single buffer would be copied each time it grows.
#[derive(Default)]
struct Pieces(Vec<Vec<u8>>);

impl Pieces {
    fn into_bytes(self) -> Vec<Bytes> {
        self.0.into_iter().map(Bytes::from).collect()
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let last = self.0.pop_if(|last| last.len() < PIECE_BYTES);
        // The first piece grows, because most files of small commits are much smaller.
        let mut last = last.unwrap_or_else(|| match self.0.is_empty() {
            true => Vec::new(),
            false => Vec::with_capacity(PIECE_BYTES),
        });
        let taken = bytes.len().min(PIECE_BYTES - last.len());
        last.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        self.0.push(last);
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A column of a row group in progress.
struct Column {
    field: FieldRef,
    leaves: Vec<ArrowColumnWriter>,
}

impl Column {
    fn write(mut self, array: &ArrayRef) -> Result<Self> {
        let values = compute_leaves(&self.field, array)?;
        for (leaf, values) in self.leaves.iter_mut().zip(&values) {
            leaf.write(values)?;
        }
        Ok(self)
    }

    fn close(self) -> Result<Vec<ArrowColumnChunk>> {
        self.leaves.into_iter().map(ArrowColumnWriter::close).collect()
    }

    fn memory(&self) -> usize {
        self.leaves.iter().map(ArrowColumnWriter::memory_size).sum()
    }

    fn bytes(&self) -> usize {
        let leaves = self.leaves.iter();
        leaves.map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }
}

impl Encoder {
    pub(in crate::write) fn try_new(
        schema: &SchemaRef,
        parquet: &SchemaDescriptor,
        properties: WriterProperties,
    ) -> Result<Self> {
        let root = parquet.root_schema_ptr();
        let file = SerializedFileWriter::new(Pieces::default(), root, Arc::new(properties))?;
        let leaves = 0..parquet.num_columns();
        Ok(Self {
            row_groups: ArrowRowGroupWriterFactory::new(&file, Arc::clone(schema)),
            file,
            schema: Arc::clone(schema),
            roots: leaves.map(|leaf| parquet.get_column_root_idx(leaf)).collect(),
            columns: Vec::new(),
            rows: 0,
        })
    }

    /// Adds rows to the row group in progress; it is finished when it is full.
    pub(in crate::write) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut at = 0;
        while at < batch.num_rows() {
            let rows = (batch.num_rows() - at).min(ROW_GROUP_ROWS - self.rows);
            let part = batch.slice(at, rows);
            if self.rows == 0 {
                self.columns = self.begin()?;
            }
            let columns = std::mem::take(&mut self.columns).into_iter();
            let columns = columns.zip(part.columns().iter().cloned()).collect();
            self.columns = spread(columns, rows, |(column, array): (Column, ArrayRef)| {
                column.write(&array)
            })
            .await?;
            at += rows;
            self.rows += rows;
            if self.rows >= ROW_GROUP_ROWS || self.in_progress() >= ROW_GROUP_BYTES {
                self.end_row_group().await?;
            }
        }
        Ok(())
    }

    /// Finishes the row group in progress.
    pub(in crate::write) async fn end_row_group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let chunks = spread(std::mem::take(&mut self.columns), self.rows, Column::close).await?;
        self.rows = 0;
        let mut row_group = self.file.next_row_group()?;
        for mut chunk in chunks.into_iter().flatten() {
            remove_bounds_without_nan(chunk.close_mut())?;
            chunk.append_to_row_group(&mut row_group)?;
        }
        row_group.close()?;
        Ok(())
    }

    /// Finishes the file.
    pub(in crate::write) async fn finish(&mut self) -> Result<()> {
        self.end_row_group().await?;
        self.file.finish()?;
        Ok(())
    }

    /// Returns the bytes that were finished since the last call.
    pub(in crate::write) fn take_bytes(&mut self) -> Result<Vec<Bytes>> {
        self.file.flush()?;
        Ok(std::mem::take(self.file.inner_mut()).into_bytes())
    }

    /// The size of the finished part of the file.
    pub(in crate::write) fn written(&self) -> usize {
        self.file.bytes_written()
    }

    /// The approximate size of the row group in progress.
    pub(in crate::write) fn in_progress(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// The memory of the row group in progress.
    pub(in crate::write) fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum()
    }

    fn begin(&self) -> Result<Vec<Column>> {
        let number = self.file.flushed_row_groups().len();
        let leaves = self.row_groups.create_column_writers(number)?;
        let columns = self.schema.fields().iter().map(|field| Column {
            field: Arc::clone(field),
            leaves: Vec::new(),
        });
        let mut columns: Vec<Column> = columns.collect();
        for (root, leaf) in self.roots.iter().zip(leaves) {
            if let Some(column) = columns.get_mut(*root) {
                column.leaves.push(leaf);
            }
        }
        Ok(columns)
    }
}

/// Removes the bounds of a chunk with NaN, which are those of its other values. In Spark, NaN is greater than every
/// number, but Spark would skip the chunk for `x > 5` by such bounds.
fn remove_bounds_without_nan(chunk: &mut ColumnCloseResult) -> Result<()> {
    let Some(known) = chunk.metadata.statistics() else {
        return Ok(());
    };
    if known.nan_count_opt().unwrap_or_default() == 0 {
        return Ok(());
    }
    let nulls = known.null_count_opt();
    let left = match known {
        Statistics::Float(_) => Statistics::float(None, None, None, nulls, false),
        Statistics::Double(_) => Statistics::double(None, None, None, nulls, false),
        _ => return Ok(()),
    };
    let metadata = chunk.metadata.clone().into_builder();
    chunk.metadata = metadata.set_statistics(left).build()?;
    chunk.column_index = None;
    Ok(())
}

/// Does the work of each part on the threads of the runtime; the results are in the order of the parts.
async fn spread<T, R>(parts: Vec<T>, rows: usize, work: fn(T) -> Result<R>) -> Result<Vec<R>>
where
    T: Send + 'static,
    R: Send + 'static,
{
    if rows < SPREAD_ROWS || parts.len() < 2 {
        return parts.into_iter().map(work).collect();
    }
    let parts = parts.into_iter();
    let tasks: Vec<JoinHandle<Result<R>>> = parts
        .map(|part| tokio::spawn(async move { guarded(part, work) }))
        .collect();
    let mut done = Vec::with_capacity(tasks.len());
    // All are awaited even if one fails, so that no work is left over.
    for task in tasks {
        let ended = task
            .await
            .map_err(|error| ParquetError::External(Box::new(error)));
        done.push(ended.and_then(|result| result));
    }
    done.into_iter().collect()
}

/// Does work whose panic becomes an error, on the thread that knows its place.
fn guarded<T, R>(part: T, work: fn(T) -> Result<R>) -> Result<R> {
    let done = catch_unwind(AssertUnwindSafe(|| work(part)));
    done.unwrap_or_else(|_| Err(ParquetError::External(Box::new(caught()))))
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float32Array, Float64Array};
    use parquet::arrow::ArrowSchemaConverter;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    /// The bounds of the columns of a file with these values.
    async fn bounds_of(values: Vec<Option<f64>>) -> Vec<(bool, Option<u64>)> {
        let single: Float32Array = values
            .iter()
            .map(|value| value.map(|value| value as f32))
            .collect();
        let columns: [(&str, ArrayRef); 2] = [
            ("single", Arc::new(single)),
            ("double", Arc::new(Float64Array::from(values))),
        ];
        let rows =
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)));
        let rows = rows.expect("rows");
        let parquet = ArrowSchemaConverter::new()
            .convert(rows.schema_ref())
            .expect("a schema");
        let mut encoder =
            Encoder::try_new(rows.schema_ref(), &parquet, WriterProperties::default()).expect("a file");
        encoder.write(&rows).await.expect("written");
        encoder.finish().await.expect("finished");
        let bytes: Vec<u8> = encoder.take_bytes().expect("bytes").concat();
        let file = SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file");
        let chunks = file.metadata().row_group(0).columns().iter();
        let statistics = chunks.map(|chunk| chunk.statistics().expect("statistics"));
        statistics
            .map(|known| {
                (
                    known.min_bytes_opt().is_some() || known.max_bytes_opt().is_some(),
                    known.null_count_opt(),
                )
            })
            .collect()
    }

    #[tokio::test]
    async fn a_chunk_with_nan_has_no_bounds() {
        let with = vec![Some(3.0), Some(f64::NAN), None];
        assert_eq!(bounds_of(with).await, [(false, Some(1)); 2]);
        let without = vec![Some(3.0), Some(f64::INFINITY), None];
        assert_eq!(bounds_of(without).await, [(true, Some(1)); 2]);
    }
}
