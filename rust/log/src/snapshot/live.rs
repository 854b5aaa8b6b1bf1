//! Extracts surviving rows from their batches with minimal copying.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::reconcile::Survivors;

/// Runs of rows shorter than this, on average, are copied into one batch instead of returned as slices.
const RUN_ROWS: usize = 1024;

pub(super) fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the files cannot be converted to columns: {error}"),
    )
}

/// The surviving rows.
pub(super) fn live_rows(survivors: &Survivors) -> Result<Vec<RecordBatch>> {
    rows_of(&survivors.files.batch, &survivors.live)
}

/// The selected rows: slices that share the batch's memory if they form few runs, else one copy.
pub(super) fn rows_of(batch: &RecordBatch, selected: &BooleanBuffer) -> Result<Vec<RecordBatch>> {
    let count = selected.count_set_bits();
    if count == 0 {
        return Ok(Vec::new());
    }
    if count == batch.num_rows() {
        return Ok(vec![batch.clone()]);
    }
    let most = count / RUN_ROWS + 1;
    let runs: Vec<(usize, usize)> = selected.set_slices().take(most + 1).collect();
    if runs.len() <= most {
        let slice = |(start, end): (usize, usize)| batch.slice(start, end - start);
        return Ok(runs.into_iter().map(slice).collect());
    }
    Ok(vec![copy_of(batch, selected)?])
}

/// The selected rows as one batch.
pub(super) fn copy_of(batch: &RecordBatch, selected: &BooleanBuffer) -> Result<RecordBatch> {
    if selected.count_set_bits() == batch.num_rows() {
        return Ok(batch.clone());
    }
    filter_record_batch(batch, &BooleanArray::new(selected.clone(), None)).map_err(failed)
}
