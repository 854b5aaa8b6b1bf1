//! CASE and COALESCE: parts are evaluated for the rows that reach them.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, new_empty_array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, DataType as ArrowType};
use arrow_select::filter::{filter_record_batch, prep_null_mask_filter};
use arrow_select::interleave::interleave;

use crate::expr::bound::{BoundPredicate, Computed};
use crate::expr::kernels::Values;
use crate::expr::span::Source;
use crate::schema::DataType;
use crate::{Error, Result};

/// The results of rows that come from several arrays.
pub(super) struct Choice {
    arrays: Vec<ArrayRef>,
    /// For each row the array and the position in it.
    picks: Vec<(usize, usize)>,
    /// The rows without a result.
    rest: BooleanBuffer,
    arrow: ArrowType,
}

impl Choice {
    pub(super) fn new(rows: usize, data_type: &DataType) -> Result<Self> {
        Ok(Self {
            arrays: Vec::new(),
            picks: vec![(0, 0); rows],
            rest: BooleanBuffer::new_set(rows),
            arrow: data_type.to_arrow()?,
        })
    }

    /// The rows without a result.
    pub(super) fn others(&self) -> BooleanBuffer {
        self.rest.clone()
    }

    /// Takes the values of an expression for rows.
    pub(super) fn take_from(
        &mut self,
        part: &Computed,
        rows: &BooleanBuffer,
        batch: &RecordBatch,
        source: Source<'_>,
    ) -> Result<()> {
        let values = part.values(&selected(batch, rows)?, source)?;
        self.take(&values, rows, |_| true)
    }

    fn is_decided(&self) -> bool {
        self.rest.count_set_bits() == 0
    }

    /// Takes values for rows. `rows` are those that `values` has, in order, of which those that `is_taken` are decided.
    pub(super) fn take(
        &mut self,
        values: &Values,
        rows: &BooleanBuffer,
        is_taken: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let array = self.arrays.len();
        // Fields of structs may differ in their metadata and in whether they may be NULL.
        self.arrays.push(match *values.array.data_type() == self.arrow {
            true => Arc::clone(&values.array),
            false => arrow_cast::cast(&values.array, &self.arrow).map_err(|error| failed(&error))?,
        });
        let mut rest = arrow_buffer::BooleanBufferBuilder::new(self.rest.len());
        rest.append_buffer(&self.rest);
        for (position, row) in rows.set_indices().enumerate() {
            if !is_taken(position) {
                continue;
            }
            if let Some(pick) = self.picks.get_mut(row) {
                *pick = (array, values.at(position));
            }
            rest.set_bit(row, false);
        }
        self.rest = rest.finish();
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Values> {
        if self.picks.is_empty() {
            return Ok(Values::of_rows(new_empty_array(&self.arrow)));
        }
        let arrays: Vec<&dyn Array> = self.arrays.iter().map(AsRef::as_ref).collect();
        let array = interleave(&arrays, &self.picks).map_err(|error| failed(&error))?;
        Ok(Values::of_rows(array))
    }
}

fn failed(error: &ArrowError) -> Error {
    Error::internal(format!("the branches of an expression differ: {error}"))
}

/// The rows of a batch that are selected.
fn selected(batch: &RecordBatch, rows: &BooleanBuffer) -> Result<RecordBatch> {
    if rows.count_set_bits() == rows.len() {
        return Ok(batch.clone());
    }
    filter_record_batch(batch, &BooleanArray::new(rows.clone(), None))
        .map_err(|error| Error::internal(format!("rows are not selected: {error}")))
}

pub(super) fn case(
    branches: &[(BoundPredicate, Computed)],
    otherwise: &Computed,
    data_type: &DataType,
    batch: &RecordBatch,
    source: Source<'_>,
) -> Result<Values> {
    let mut choice = Choice::new(batch.num_rows(), data_type)?;
    for (condition, result) in branches {
        if choice.is_decided() {
            break;
        }
        let found = condition.results_for(batch, &choice.rest)?;
        let found = match found.null_count() {
            0 => found,
            _ => prep_null_mask_filter(&found),
        };
        let rows = found.values().clone();
        if rows.count_set_bits() > 0 {
            choice.take_from(result, &rows, batch, source)?;
        }
    }
    if !choice.is_decided() {
        let rows = choice.others();
        choice.take_from(otherwise, &rows, batch, source)?;
    }
    choice.finish()
}

pub(super) fn coalesce(
    parts: &[Computed],
    data_type: &DataType,
    batch: &RecordBatch,
    source: Source<'_>,
) -> Result<Values> {
    let mut choice = Choice::new(batch.num_rows(), data_type)?;
    for (index, part) in parts.iter().enumerate() {
        if choice.is_decided() {
            break;
        }
        let rows = choice.rest.clone();
        let values = part.values(&selected(batch, &rows)?, source)?;
        let is_last = index + 1 == parts.len();
        choice.take(&values, &rows, |position| is_last || !values.is_null(position))?;
    }
    choice.finish()
}
