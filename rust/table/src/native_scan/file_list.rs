//! The files of a scan for an index in Spark's driver.

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use deltaic_protocol::{Error, Result};

use super::sink_log::SinkFile;

/// One row for each file, see [`super::NativeScanPlan::file_list`].
pub(super) fn of(files: &[SinkFile]) -> Result<RecordBatch> {
    let schema = Schema::new(vec![
        Field::new("uri", DataType::Utf8, false),
        Field::new("length", DataType::Int64, false),
    ]);
    let uris = StringArray::from_iter_values(files.iter().map(|file| file.uri.as_str()));
    let lengths = Int64Array::from_iter_values(files.iter().map(|file| file.length));
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(uris), Arc::new(lengths)])
        .map_err(|error| Error::internal(error.to_string()))
}
