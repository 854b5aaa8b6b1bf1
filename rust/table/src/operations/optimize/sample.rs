//! A sample of the rows of some columns, from which values are ranked.

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::ArrowError;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::{Error, ErrorKind, Result};

/// A sample has at least half as many rows, if there are as many.
const MOST_ROWS: usize = 1 << 16;

/// Every so many rows of those that were added.
pub(super) struct Sample {
    most_rows: usize,
    /// Rows with a multiple of this number are in the sample.
    step: usize,
    /// The number of rows that were added.
    pub(super) rows: usize,
    sampled: usize,
    batches: Vec<RecordBatch>,
}

impl Sample {
    pub(super) fn new() -> Self {
        Self::of(MOST_ROWS)
    }

    fn of(most_rows: usize) -> Self {
        Self {
            most_rows,
            step: 1,
            rows: 0,
            sampled: 0,
            batches: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let first = self.rows.next_multiple_of(self.step) - self.rows;
        self.rows += batch.num_rows();
        let chosen = every(self.step, first, batch)?;
        self.sampled += chosen.num_rows();
        self.batches.push(chosen);
        while self.sampled > self.most_rows {
            let all = self.sampled_rows()?;
            self.batches = all.iter().map(|all| every(2, 0, all)).collect::<Result<_>>()?;
            self.sampled = self.batches.iter().map(RecordBatch::num_rows).sum();
            self.step *= 2;
        }
        Ok(())
    }

    /// The sampled rows; `None` without rows.
    pub(super) fn sampled_rows(&self) -> Result<Option<RecordBatch>> {
        let Some(first) = self.batches.first() else {
            return Ok(None);
        };
        let all = concat_batches(first.schema_ref(), &self.batches);
        Ok(Some(all.map_err(|error| failed(&error))?))
    }
}

fn every(step: usize, first: usize, batch: &RecordBatch) -> Result<RecordBatch> {
    let places = (first..batch.num_rows()).step_by(step);
    let places = UInt32Array::from_iter_values(places.map(|place| u32::try_from(place).unwrap_or(u32::MAX)));
    take_record_batch(batch, &places).map_err(|error| failed(&error))
}

/// Returns a column of a batch, or a field of a struct in it.
pub(super) fn column_of(batch: &RecordBatch, name: &ColumnName) -> Result<ArrayRef> {
    let mut found = batch.column_by_name(name.column());
    for part in name.parts().iter().skip(1) {
        found = found
            .and_then(|column| column.as_struct_opt())
            .and_then(|fields| fields.column_by_name(part));
    }
    found
        .cloned()
        .ok_or_else(|| Error::internal("a column of an order is not in its rows"))
}

pub(super) fn failed(error: &ArrowError) -> Error {
    Error::new(ErrorKind::Internal, format!("rows cannot be ordered: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use arrow_array::types::Int64Type;

    use super::*;

    /// However rows are cut into batches, the sample is the same, and spread over all rows.
    #[test]
    fn a_sample_has_every_nth_row() {
        for length in [1, 7, 100, 1000] {
            let mut sample = Sample::of(64);
            for start in (0..1000).step_by(length) {
                let end = (start + length).min(1000);
                let ids = (start..end).map(|id| i64::try_from(id).expect("small"));
                let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
                let batch = RecordBatch::try_from_iter([("id", ids)]).expect("a batch");
                sample.add(&batch).expect("added");
            }
            assert_eq!(sample.rows, 1000);
            let rows = sample.sampled_rows().expect("rows").expect("some");
            let ids = rows.column(0).as_primitive::<Int64Type>().values().to_vec();
            assert_eq!(ids, (0..1000).step_by(16).collect::<Vec<i64>>());
        }
    }
}
