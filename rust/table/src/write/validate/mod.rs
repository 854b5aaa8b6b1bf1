//! Validates Arrow data from outside before its buffers are trusted.
//!
//! Producers may pass arrays that violate Arrow's own rules: text that is not UTF-8, dictionary keys without a value,
//! decimals with too many digits. Such an array is rejected completely. A NULL slot may contain anything.
//!
//! Arrow's `ArrayData::validate_full` does not report the row, skips decimals and rejects maps with nullable entries,
//! which DuckDB exports.

mod buffers;
mod fault;
mod nulls;
mod values;

use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use deltaic_protocol::Result;

use buffers::{bits, ensure_holds, fixed_size, offsets, typed};
use fault::fault;
pub use fault::{Checked, Fault};
use values::{decimals, keys, run_ends, text, used_keys, views};

/// How many levels Arrow data may nest, as in Arrow's C++ library.
pub const MAX_NESTING: usize = 64;

/// Checks the rows of a batch, which is a struct array, at every level: buffer lengths, offsets, dictionary keys, run
/// ends, UTF-8, decimal precision, and NULLs in fields that are declared without them.
///
/// Invalid data are a `SchemaMismatch` with the column and the row, counted from `first_row`. The true length of a
/// buffer is unknown for data from the C data interface: there a buffer is as long as its offsets claim.
pub fn validate_batch(data: &ArrayData, first_row: u64) -> Result<()> {
    ensure_long_enough(data)
        .and_then(|()| check(data, 0))
        .and_then(|()| nulls::check(data))
        .map_err(|fault| fault.into_error(first_row))
}

/// Checks the fields of structs first, because a slice of a struct slices all the structs below it.
fn ensure_long_enough(data: &ArrayData) -> Checked {
    for (index, child) in data.child_data().iter().enumerate() {
        let is_struct = matches!(data.data_type(), DataType::Struct(_));
        let checked = match is_struct && child.len() < data.offset().saturating_add(data.len()) {
            true => fault("the array is shorter than the struct array that it belongs to"),
            false => ensure_long_enough(child),
        };
        checked.map_err(|fault| fault.in_child(data.data_type(), index))?;
    }
    Ok(())
}

fn check(data: &ArrayData, depth: usize) -> Checked {
    use DataType as D;
    if depth > MAX_NESTING {
        return fault(format!("the array nests deeper than {MAX_NESTING} levels"));
    }
    if data.nulls().is_some_and(|nulls| nulls.len() != data.len()) {
        return fault("its validity bitmap and the array differ in length");
    }
    match data.data_type() {
        D::Null => Ok(()),
        D::Boolean => bits(data),
        D::Decimal32(precision, _) => decimals::<Decimal32Type>(data, *precision),
        D::Decimal64(precision, _) => decimals::<Decimal64Type>(data, *precision),
        D::Decimal128(precision, _) => decimals::<Decimal128Type>(data, *precision),
        D::Decimal256(precision, _) => decimals::<Decimal256Type>(data, *precision),
        D::Utf8 => text::<i32>(data, true),
        D::LargeUtf8 => text::<i64>(data, true),
        D::Binary => text::<i32>(data, false),
        D::LargeBinary => text::<i64>(data, false),
        D::Utf8View => views(data, true),
        D::BinaryView => views(data, false),
        D::FixedSizeBinary(width) => ensure_holds(data, 0, fixed_size(*width)?),
        D::Dictionary(key, _) => {
            let values = child(data, 0)?;
            let rows = keys(data, key, values.len())?;
            // A slice of a batch has the dictionary of the whole batch: only values that its rows use are checked.
            if values.len() <= data.len() {
                return check(values, depth + 1).map_err(|fault| fault.at(rows));
            }
            for (row, key) in used_keys(data, key)?.into_iter().enumerate() {
                if let Some(key) = key {
                    check(&values.slice(key, 1), depth + 1).map_err(|fault| fault.in_row(row))?;
                }
            }
            Ok(())
        }
        D::RunEndEncoded(ends, _) => {
            let (ends_data, values_data) = (child(data, 0)?, child(data, 1)?);
            check(ends_data, depth + 1)?;
            let rows = run_ends(data, ends.data_type(), ends_data, values_data.len())?;
            check(values_data, depth + 1).map_err(|fault| fault.at(rows))
        }
        D::Struct(fields) => {
            if data.child_data().len() != fields.len() {
                return fault("the struct array and its type differ in their number of fields");
            }
            for (index, child) in data.child_data().iter().enumerate() {
                check(&child.slice(data.offset(), data.len()), depth + 1)
                    .map_err(|fault| fault.in_child(data.data_type(), index))?;
            }
            Ok(())
        }
        D::List(_) => list::<i32>(data, depth),
        D::LargeList(_) => list::<i64>(data, depth),
        D::Map(entries, _) => {
            let D::Struct(fields) = entries.data_type() else {
                return fault("the entries of the map are not structs");
            };
            if fields.len() != 2 {
                return fault("the entries of the map are not a key and a value");
            }
            list::<i32>(data, depth)
        }
        D::ListView(_) => list_view::<i32>(data, depth),
        D::LargeListView(_) => list_view::<i64>(data, depth),
        D::FixedSizeList(_, size) => {
            let (values, size) = (child(data, 0)?, fixed_size(*size)?);
            let span = |rows: usize| rows.checked_mul(size);
            match (span(data.offset()), span(data.len())) {
                (Some(start), Some(count))
                    if start.checked_add(count).is_some_and(|end| end <= values.len()) =>
                {
                    check(&values.slice(start, count), depth + 1).map_err(|fault| {
                        fault
                            .at(|item| item.checked_div(size))
                            .in_child(data.data_type(), 0)
                    })
                }
                _ => fault("the fixed-size lists have too few elements"),
            }
        }
        D::Union(..) => fault("a union cannot be stored in a table"),
        other => match other.primitive_width() {
            Some(width) => ensure_holds(data, 0, width),
            None => fault(format!(
                "data of the Arrow type {other} cannot be stored in a table"
            )),
        },
    }
}

fn list<O: arrow_array::OffsetSizeTrait>(data: &ArrayData, depth: usize) -> Checked {
    let values = child(data, 0)?;
    let offsets = offsets::<O>(data, values.len())?;
    let row_of = |item: usize| {
        let row = offsets.partition_point(|offset| offset.as_usize() <= item);
        row.checked_sub(1).filter(|row| *row < data.len())
    };
    // A slice of a batch has the elements of the whole batch: only those of its rows are written.
    let start = offsets.first().map_or(0, |offset| offset.as_usize());
    let end = offsets.last().map_or(start, |offset| offset.as_usize());
    check(&values.slice(start, end - start), depth + 1).map_err(|fault| {
        fault
            .at(|item| row_of(start + item))
            .in_child(data.data_type(), 0)
    })
}

fn list_view<O: arrow_array::OffsetSizeTrait>(data: &ArrayData, depth: usize) -> Checked {
    let values = child(data, 0)?;
    let starts = typed::<O>(data, 0, data.len())?;
    let sizes = typed::<O>(data, 1, data.len())?;
    let range = |row: usize| {
        let start = starts.get(row)?.to_usize()?;
        Some(start..start.checked_add(sizes.get(row)?.to_usize()?)?)
    };
    let is_within = |row: usize| range(row).is_some_and(|range| range.end <= values.len());
    if let Some(row) = (0..data.len()).find(|row| !is_within(*row)) {
        return fault("a list view points outside its elements").map_err(|fault| fault.in_row(row));
    }
    let row_of =
        |item: usize| (0..data.len()).find(|row| range(*row).is_some_and(|range| range.contains(&item)));
    check(values, depth + 1).map_err(|fault| fault.at(row_of).in_child(data.data_type(), 0))
}

fn child(data: &ArrayData, index: usize) -> Checked<&ArrayData> {
    let missing = || Fault::new("the array has fewer children than its type");
    data.child_data().get(index).ok_or_else(missing)
}

#[cfg(test)]
mod tests;
