//! Checks that a field that is declared without NULLs has none.
//!
//! A NULL matters only if every level above it is present: a struct that is NULL has NULL fields, whatever they
//! declare.

use std::ops::Range;

use arrow_array::OffsetSizeTrait;
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};

use super::buffers::{offsets, typed};
use super::fault::{Checked, Fault};

/// Checks data that passed all other checks.
pub(super) fn check(data: &ArrayData) -> Checked {
    match is_suspect(data) {
        true => within(data, None),
        false => Ok(()),
    }
}

/// Whether a nested field that is declared without NULLs contains any, visible or not.
fn is_suspect(data: &ArrayData) -> bool {
    let declared = |field: &Field, part: &ArrayData| !field.is_nullable() && part.null_count() > 0;
    let parts = data.child_data();
    let is_broken = match (data.data_type(), parts) {
        (DataType::Struct(fields), _) => fields
            .iter()
            .zip(parts)
            .any(|(field, part)| declared(field, part)),
        (
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _),
            [part],
        ) => declared(field, part),
        _ => false,
    };
    is_broken || parts.iter().any(is_suspect)
}

/// Checks the fields of `data`; rows that `shown` masks out are NULL at a higher level.
fn within(data: &ArrayData, shown: Option<&NullBuffer>) -> Checked {
    let shown = NullBuffer::union(shown, data.nulls());
    let is_shown = |row: usize| shown.as_ref().is_none_or(|shown| shown.is_valid(row));
    let lists = |rows: &dyn Fn(usize) -> Option<Range<usize>>, field: &Field| {
        let Some(items) = data.child_data().first() else {
            return Ok(());
        };
        let row_of = |item: usize| {
            (0..data.len())
                .find(|row| is_shown(*row) && rows(*row).is_some_and(|range| range.contains(&item)))
        };
        let mut counting = BooleanBufferBuilder::new(items.len());
        counting.append_n(items.len(), false);
        for item in (0..data.len())
            .filter(|row| is_shown(*row))
            .filter_map(rows)
            .flatten()
        {
            counting.set_bit(item, true);
        }
        let counting = NullBuffer::new(counting.finish());
        declared(field, items, Some(&counting))
            .map_err(|fault| fault.at(row_of).in_child(data.data_type(), 0))
    };
    match data.data_type() {
        DataType::Struct(fields) => {
            fields
                .iter()
                .zip(data.child_data())
                .enumerate()
                .try_for_each(|(index, (field, part))| {
                    let part = part.slice(data.offset(), data.len());
                    declared(field, &part, shown.as_ref())
                        .map_err(|fault| fault.in_child(data.data_type(), index))
                })
        }
        DataType::List(field) | DataType::Map(field, _) => lists(&*by_offsets::<i32>(data)?, field),
        DataType::LargeList(field) => lists(&*by_offsets::<i64>(data)?, field),
        DataType::ListView(field) => lists(&*by_sizes::<i32>(data)?, field),
        DataType::LargeListView(field) => lists(&*by_sizes::<i64>(data)?, field),
        DataType::FixedSizeList(field, size) => {
            let (size, first) = (usize::try_from(*size).unwrap_or(0), data.offset());
            lists(&|row| Some((first + row) * size..(first + row + 1) * size), field)
        }
        _ => Ok(()),
    }
}

fn declared(field: &Field, part: &ArrayData, shown: Option<&NullBuffer>) -> Checked {
    let is_shown = |row: usize| shown.is_none_or(|shown| shown.is_valid(row));
    if !field.is_nullable()
        && part.null_count() > 0
        && let Some(row) = (0..part.len()).find(|row| part.is_null(*row) && is_shown(*row))
    {
        return Err(Fault::new("a value is NULL, but the field is declared not nullable").in_row(row));
    }
    within(part, shown)
}

type Ranges = Box<dyn Fn(usize) -> Option<Range<usize>>>;

fn by_offsets<O: OffsetSizeTrait>(data: &ArrayData) -> Checked<Ranges> {
    let offsets = offsets::<O>(data, usize::MAX)?;
    Ok(Box::new(move |row| {
        Some(offsets.get(row)?.as_usize()..offsets.get(row + 1)?.as_usize())
    }))
}

fn by_sizes<O: OffsetSizeTrait>(data: &ArrayData) -> Checked<Ranges> {
    let starts = typed::<O>(data, 0, data.len())?;
    let sizes = typed::<O>(data, 1, data.len())?;
    Ok(Box::new(move |row| {
        let start = starts.get(row)?.as_usize();
        Some(start..start + sizes.get(row)?.as_usize())
    }))
}
