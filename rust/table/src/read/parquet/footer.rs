//! The footer of a data file, fetched and validated before it is used.

use std::sync::Arc;

use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::ParquetFile;
use deltaic_storage::store_error;
use object_store::ObjectStore;
use object_store::path::Path;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, FileMetaData, ParquetMetaData, RowGroupMetaData};

use super::int96::int96_as_micros;

/// A file whose footer was read.
#[derive(Clone, Debug)]
pub(crate) struct Footer {
    pub(crate) file: ParquetFile,
    pub(crate) metadata: Arc<ParquetMetaData>,
    /// The Arrow schema of the file.
    pub(crate) schema: SchemaRef,
}

impl Footer {
    /// Fetches the footer of a file with the size from the log; `shown` names the file in errors.
    pub(crate) async fn fetch(
        store: Arc<dyn ObjectStore>,
        path: Path,
        size: i64,
        shown: &str,
    ) -> Result<Self> {
        let size = u64::try_from(size).unwrap_or(0).max(1);
        let mut file = ParquetFile::listed(store, path, size);
        file.fetch_tail().await.map_err(|error| missing(&error, shown))?;
        let metadata = file
            .get_metadata(None)
            .await
            .map_err(|error| damaged(&error, shown))?;
        ensure_sound(&metadata)?;
        let arrow = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options())
            .map_err(|error| damaged(&error, shown))?;
        let schema = int96_as_micros(arrow.schema(), arrow.parquet_schema());
        Ok(Self {
            file,
            metadata,
            schema: schema.unwrap_or_else(|| Arc::clone(arrow.schema())),
        })
    }
}

impl Footer {
    /// Sets the row count if the file has no columns and its footer claims no rows: some writers lose the row count of
    /// such a file, and only the statistics in the log have it.
    pub(crate) fn with_rows(mut self, rows: Option<u64>) -> Result<Self> {
        let about = self.metadata.file_metadata();
        let rows = rows.and_then(|rows| i64::try_from(rows).ok()).unwrap_or(0);
        if rows == 0 || about.num_rows() > 0 || about.schema_descr().num_columns() > 0 {
            return Ok(self);
        }
        let schema = about.schema_descr_ptr();
        let group = RowGroupMetaData::builder(Arc::clone(&schema));
        let group = group.set_num_rows(rows).set_ordinal(0).build();
        let group = group.map_err(|error| unreadable(&error.to_string()))?;
        let about = FileMetaData::new(about.version(), rows, None, None, schema, None);
        self.metadata = Arc::new(ParquetMetaData::new(about, vec![group]));
        Ok(self)
    }
}

/// The options for deriving Arrow types: from the Parquet schema alone.
pub(crate) fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

/// Verifies that the row counts of a footer agree, and that its columns have valid positions.
fn ensure_sound(file: &ParquetMetaData) -> Result<()> {
    let mut rows = 0i64;
    for group in file.row_groups() {
        rows = rows.saturating_add(group.num_rows());
        // The Parquet reader assumes that these are not negative.
        let is_sound = |column: &&ColumnChunkMetaData| {
            let dictionary = column.dictionary_page_offset().unwrap_or(0);
            column.data_page_offset() >= 0 && dictionary >= 0 && column.compressed_size() >= 0
        };
        if let Some(column) = group.columns().iter().find(|column| !is_sound(column)) {
            return Err(Error::new(
                ErrorKind::CorruptData,
                "the data file's footer says that a column starts before the file, or has a negative length",
            )
            .with("field", column.column_path().string())
            .hint("the file is damaged: restore it from a backup"));
        }
        let flat = group.columns().iter().find(|column| {
            column.column_descr().max_rep_level() == 0 && column.num_values() != group.num_rows()
        });
        if let Some(column) = flat {
            let (rows, has) = (group.num_rows(), column.num_values());
            return Err(Error::new(
                ErrorKind::CorruptData,
                format!(
                    "the data file's footer counts {rows} rows in a row group, and {has} values in a column"
                ),
            )
            .with("field", column.column_path().string())
            .hint("the file is damaged: restore it from a backup"));
        }
    }
    let claimed = file.file_metadata().num_rows();
    if rows == claimed {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::CorruptData,
        format!("the data file's footer counts {claimed} rows, and {rows} in its row groups"),
    )
    .hint("the file is damaged: restore it from a backup"))
}

/// The footer and the pages disagree on the number of rows, so it is unknown which rows are lost.
pub(crate) fn miscounted(read: u64, claimed: u64) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file's footer counts {claimed} rows, and its pages hold {read}"),
    )
    .hint("the file is damaged: restore it from a backup")
}

fn missing(error: &object_store::Error, path: &str) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::new(
            ErrorKind::CorruptData,
            "a data file is missing, but the log references it",
        )
        .hint("restore the file; if a vacuum removed it, the version is too old to be read"),
        other => store_error(other, path),
    }
}

pub(crate) fn damaged(error: &ParquetError, path: &str) -> Error {
    if let ParquetError::External(cause) = error
        && let Some(store) = cause.downcast_ref::<object_store::Error>()
    {
        return missing(store, path);
    }
    if let ParquetError::External(cause) = error
        && let Some(ours) = evaluated(cause.as_ref())
    {
        return ours.clone();
    }
    unreadable(&error.to_string())
}

/// Maps the Parquet reader's message about an invalid file to an error.
pub(crate) fn unreadable(text: &str) -> Error {
    if text.contains("overflow decoding byte array") {
        return too_many_bytes();
    }
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file cannot be read: {text}"),
    )
    .hint("the file is truncated or damaged: restore it from a backup")
}

/// The error for a batch whose strings exceed Arrow's 32-bit offsets.
pub(crate) fn too_many_bytes() -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        "a batch of the file's rows contains more than 2 GiB of one column",
    )
    .hint("read fewer rows at a time: scan(…, batch_size=…)")
}

/// Returns the error that a filter raised, if the Parquet reader wraps one.
fn evaluated<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a Error> {
    match cause.downcast_ref::<ArrowError>() {
        Some(ArrowError::ExternalError(inner)) => inner.downcast_ref::<Error>(),
        _ => cause.downcast_ref::<Error>(),
    }
}
