//! Data files with chosen Parquet properties.

use arrow_array::RecordBatch;
use deltaic_protocol::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

/// A Parquet file with the rows of a batch, as bytes.
pub fn data_file(batch: &RecordBatch, properties: WriterProperties) -> Result<Vec<u8>> {
    let failed = |error: ParquetError| Error::internal(error.to_string());
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).map_err(failed)?;
    writer.write(batch).map_err(failed)?;
    writer.into_inner().map_err(failed)
}
