//! Encodes rows as Parquet: the columns of a row group are encoded concurrently.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, SchemaRef};
use bytes::Bytes;
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use super::encoded_chunk::EncodedChunk;
use super::file_form::FileForm;
use super::pieces::Pieces;
use super::spread::spread;

/// A Parquet file in memory; its finished bytes are taken out as they become available.
pub(super) struct Encoder {
    file: SerializedFileWriter<Pieces>,
    row_groups: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// For each leaf of the file, the position of its column.
    roots: Vec<usize>,
    /// The row group in progress; empty between row groups.
    columns: Vec<Column>,
    rows: usize,
    row_group_rows: usize,
    row_group_bytes: usize,
    /// The columns whose chunks are copied.
    is_copied: Vec<bool>,
}

/// A column of a row group in progress.
struct Column {
    field: FieldRef,
    leaves: Vec<ArrowColumnWriter>,
}

impl Column {
    async fn write(mut self, array: ArrayRef) -> Result<Self> {
        let values = compute_leaves(&self.field, &array).map_err(|error| failed(&error))?;
        let leaves = self.leaves.into_iter().zip(values).collect::<Vec<_>>();
        self.leaves = spread(leaves.into_iter(), array.len(), async |(mut leaf, values)| {
            leaf.write(&values).map_err(|error| failed(&error))?;
            Ok(leaf)
        })
        .await?;
        Ok(self)
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
    /// Starts a file of columns, which have the given types in Parquet.
    ///
    /// # Errors
    ///
    /// `StorageError` if they cannot be written.
    pub(super) fn try_new(schema: &SchemaRef, parquet: &SchemaDescriptor, form: FileForm) -> Result<Self> {
        let root = parquet.root_schema_ptr();
        let file = SerializedFileWriter::new(Pieces::default(), root, Arc::new(form.properties));
        let file = file.map_err(|error| failed(&error))?;
        let leaves = 0..parquet.num_columns();
        Ok(Self {
            row_groups: ArrowRowGroupWriterFactory::new(&file, Arc::clone(schema)),
            file,
            schema: Arc::clone(schema),
            roots: leaves.map(|leaf| parquet.get_column_root_idx(leaf)).collect(),
            columns: Vec::new(),
            rows: 0,
            row_group_rows: form.row_group_rows,
            row_group_bytes: form.row_group_bytes,
            is_copied: form.is_copied,
        })
    }

    /// Adds rows to the row group in progress; it is finished when it is full.
    ///
    /// # Errors
    ///
    /// `StorageError` if the rows cannot be encoded.
    pub(super) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut at = 0;
        while at < batch.num_rows() {
            let rows = (batch.num_rows() - at).min(self.row_group_rows - self.rows);
            let part = batch.slice(at, rows);
            if self.rows == 0 {
                self.columns = self.begin()?;
            }
            let columns = std::mem::take(&mut self.columns);
            let arrays = part.columns().iter().cloned().enumerate();
            let encoded = arrays.filter(|(column, _)| !self.copies(*column));
            let arrays = encoded.map(|(_, array)| array);
            let columns: Vec<(Column, ArrayRef)> = columns.into_iter().zip(arrays).collect();
            self.columns = spread(
                columns.into_iter(),
                rows,
                async |(column, array): (Column, ArrayRef)| column.write(array).await,
            )
            .await?;
            at += rows;
            self.rows += rows;
            if self.rows >= self.row_group_rows || self.in_progress() >= self.row_group_bytes {
                self.end_row_group(Vec::new()).await?;
            }
        }
        Ok(())
    }

    /// Whether the chunks of a column are copied.
    fn copies(&self, column: usize) -> bool {
        self.is_copied.get(column) == Some(&true)
    }

    /// Finishes the row group in progress, with the chunks of the leaves of columns that are copied.
    ///
    /// # Errors
    ///
    /// `StorageError` if the rows cannot be encoded, or the chunks are not those of the leaves.
    pub(super) async fn end_row_group(&mut self, copied: Vec<EncodedChunk>) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let columns = std::mem::take(&mut self.columns).into_iter();
        let leaves: Vec<ArrowColumnWriter> = columns.flat_map(|column| column.leaves).collect();
        let encoded = spread(leaves.into_iter(), self.rows, async |leaf: ArrowColumnWriter| {
            leaf.close().map_err(|error| failed(&error))
        });
        let (mut encoded, mut copied) = (encoded.await?.into_iter(), copied.into_iter());
        self.rows = 0;
        let is_copied: Vec<bool> = self.roots.iter().map(|root| self.copies(*root)).collect();
        let written = || {
            let missing = || ParquetError::General("a row group lacks a column".to_owned());
            let mut row_group = self.file.next_row_group()?;
            for is_copied in is_copied {
                if is_copied {
                    let chunk = copied.next().ok_or_else(missing)?;
                    row_group.append_column(&chunk.bytes, chunk.close)?;
                } else {
                    let mut chunk = encoded.next().ok_or_else(missing)?;
                    remove_bounds_without_nan(chunk.close_mut())?;
                    chunk.append_to_row_group(&mut row_group)?;
                }
            }
            row_group.close()
        };
        written().map(drop).map_err(|error| failed(&error))
    }

    /// Finishes the file.
    ///
    /// # Errors
    ///
    /// `StorageError` if the rows cannot be encoded.
    pub(super) async fn finish(&mut self) -> Result<()> {
        self.end_row_group(Vec::new()).await?;
        self.file.finish().map(drop).map_err(|error| failed(&error))
    }

    /// Returns the bytes that were finished since the last call.
    pub(super) fn take_bytes(&mut self) -> Result<Vec<Bytes>> {
        self.file.flush().map_err(|error| failed(&error.into()))?;
        Ok(std::mem::take(self.file.inner_mut()).into_bytes())
    }

    /// The size of the finished part of the file.
    pub(super) fn written(&self) -> usize {
        self.file.bytes_written()
    }

    /// The approximate size of the row group in progress.
    pub(super) fn in_progress(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// The memory of the row group in progress.
    pub(super) fn memory(&self) -> usize {
        self.columns.iter().map(Column::memory).sum()
    }

    fn begin(&self) -> Result<Vec<Column>> {
        let number = self.file.flushed_row_groups().len();
        let leaves = self.row_groups.create_column_writers(number);
        let leaves = leaves.map_err(|error| failed(&error))?;
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
        let columns = columns.into_iter().enumerate();
        let encoded = columns.filter(|(column, _)| !self.copies(*column));
        Ok(encoded.map(|(_, column)| column).collect())
    }
}

/// The error of rows that cannot be encoded.
fn failed(error: &ParquetError) -> Error {
    Error::new(
        ErrorKind::StorageError,
        format!("the Parquet file cannot be written: {error}"),
    )
}

/// Removes the bounds of a chunk with NaN, which are those of its other values. In Spark, NaN is greater than every
/// number, but Spark would skip the chunk for `x > 5` by such bounds.
fn remove_bounds_without_nan(chunk: &mut ColumnCloseResult) -> parquet::errors::Result<()> {
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

#[cfg(test)]
mod tests {
    use arrow_array::{Float32Array, Float64Array};
    use parquet::arrow::ArrowSchemaConverter;
    use parquet::file::properties::WriterProperties;
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
        let form = FileForm {
            properties: WriterProperties::default(),
            row_group_rows: 1000,
            row_group_bytes: 1000,
            is_copied: Vec::new(),
        };
        let mut encoder = Encoder::try_new(rows.schema_ref(), &parquet, form).expect("a file");
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
