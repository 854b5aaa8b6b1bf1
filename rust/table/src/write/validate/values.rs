//! Checks single values: text, decimals, dictionary keys and run ends.

use arrow_array::OffsetSizeTrait;
use arrow_array::types::DecimalType;
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_data::{ArrayData, ByteView};
use arrow_schema::DataType;

use super::buffers::{offsets, typed};
use super::fault::{Checked, Fault, fault};

const NOT_UTF8: &str = "a string is not valid UTF-8";

/// The number of bytes that a view stores inline.
const INLINE: usize = 12;

fn first_row(data: &ArrayData, what: &str, is_good: impl Fn(usize) -> bool) -> Checked {
    match (0..data.len()).find(|row| data.is_valid(*row) && !is_good(*row)) {
        Some(row) => Err(Fault::new(what).in_row(row)),
        None => Ok(()),
    }
}

/// Checks strings or, if `is_text` is false, bytes.
pub(super) fn text<O: OffsetSizeTrait>(data: &ArrayData, is_text: bool) -> Checked {
    let Some(values) = data.buffers().get(1) else {
        return fault("the array has fewer buffers than its type");
    };
    let offsets = offsets::<O>(data, values.len())?;
    let bytes = |start: Option<&O>, end: Option<&O>| values.get(start?.as_usize()..end?.as_usize());
    let all = bytes(offsets.first(), offsets.last()).unwrap_or_default();
    if !is_text || all.is_ascii() {
        return Ok(());
    }
    let is_start = |offset: &O| {
        values
            .get(offset.as_usize())
            .is_none_or(|byte| byte & 0xC0 != 0x80)
    };
    let inner = offsets.get(..data.len()).unwrap_or_default();
    if std::str::from_utf8(all).is_ok() && inner.iter().all(is_start) {
        return Ok(());
    }
    first_row(data, NOT_UTF8, |row| {
        let text = bytes(offsets.get(row), offsets.get(row + 1));
        text.is_some_and(|text| std::str::from_utf8(text).is_ok())
    })
}

/// Checks string views or byte views.
pub(super) fn views(data: &ArrayData, is_text: bool) -> Checked {
    let views = typed::<u128>(data, 0, data.len())?;
    let buffers = data.buffers().get(1..).unwrap_or_default();
    let long = |view: u128| {
        let view = ByteView::from(view);
        let start = view.offset.as_usize();
        let bytes = buffers.get(view.buffer_index.as_usize())?;
        let bytes = bytes.get(start..start.checked_add(view.length.as_usize())?)?;
        bytes.starts_with(&view.prefix.to_le_bytes()).then_some(bytes)
    };
    let inline = |bytes: &[u8; 16], length: usize| {
        let padding = bytes.get(4 + length..)?;
        padding.iter().all(|byte| *byte == 0).then_some(())
    };
    for (row, view) in views.iter().enumerate() {
        let raw = view.to_le_bytes();
        let length = ByteView::from(*view).length.as_usize();
        let bytes = match length {
            0..=INLINE => inline(&raw, length).and_then(|()| raw.get(4..4 + length)),
            _ => long(*view),
        };
        // Views of NULLs are checked too, because Arrow's conversions sum up their lengths.
        let Some(bytes) = bytes else {
            return Err(Fault::new("a view does not match its buffers").in_row(row));
        };
        if is_text && data.is_valid(row) && std::str::from_utf8(bytes).is_err() {
            return Err(Fault::new(NOT_UTF8).in_row(row));
        }
    }
    Ok(())
}

/// Checks that decimals have at most `precision` digits.
pub(super) fn decimals<T: DecimalType>(data: &ArrayData, precision: u8) -> Checked {
    if precision == 0 || precision > T::MAX_PRECISION {
        return fault(format!(
            "the precision {precision} of its type is not between 1 and {}",
            T::MAX_PRECISION
        ));
    }
    let values = typed::<T::Native>(data, 0, data.len())?;
    let fits = |value: &T::Native| T::is_valid_decimal_precision(*value, precision);
    // Usually all values fit, and without reading the validity bitmap the check is fast.
    if values.iter().fold(true, |all, value| all & fits(value)) {
        return Ok(());
    }
    let what = format!("a value has more than {precision} digits, the precision of its type");
    first_row(data, &what, |row| values.get(row).is_some_and(fits))
}

/// Checks that dictionary keys are less than the number of values. Returns a function that finds the first row with a
/// key.
pub(super) fn keys(
    data: &ArrayData,
    key: &DataType,
    values: usize,
) -> Checked<Box<dyn Fn(usize) -> Option<usize>>> {
    fn of<K: ArrowNativeType>(
        data: &ArrayData,
        values: usize,
    ) -> Checked<Box<dyn Fn(usize) -> Option<usize>>> {
        let keys = typed::<K>(data, 0, data.len())?;
        let is_known = |row: usize| place(&keys, row).is_some_and(|key| key < values);
        first_row(data, "a dictionary key is out of range", is_known)?;
        let nulls = data.nulls().cloned();
        let is_valid = move |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        Ok(Box::new(move |value| {
            (0..keys.len()).find(|row| is_valid(*row) && place(&keys, *row) == Some(value))
        }))
    }
    match key {
        DataType::Int8 => of::<i8>(data, values),
        DataType::Int16 => of::<i16>(data, values),
        DataType::Int32 => of::<i32>(data, values),
        DataType::Int64 => of::<i64>(data, values),
        DataType::UInt8 => of::<u8>(data, values),
        DataType::UInt16 => of::<u16>(data, values),
        DataType::UInt32 => of::<u32>(data, values),
        DataType::UInt64 => of::<u64>(data, values),
        other => fault(format!("a dictionary key cannot have the Arrow type {other}")),
    }
}

/// Returns the key of each row of a dictionary array; `None` for NULL. The keys must have been checked.
pub(super) fn used_keys(data: &ArrayData, key: &DataType) -> Checked<Vec<Option<usize>>> {
    fn of<K: ArrowNativeType>(data: &ArrayData) -> Checked<Vec<Option<usize>>> {
        let keys = typed::<K>(data, 0, data.len())?;
        let is_valid = |row: usize| data.nulls().is_none_or(|nulls| nulls.is_valid(row));
        let key = |row: usize| is_valid(row).then(|| place(&keys, row)).flatten();
        Ok((0..keys.len()).map(key).collect())
    }
    match key {
        DataType::Int8 => of::<i8>(data),
        DataType::Int16 => of::<i16>(data),
        DataType::Int32 => of::<i32>(data),
        DataType::Int64 => of::<i64>(data),
        DataType::UInt8 => of::<u8>(data),
        DataType::UInt16 => of::<u16>(data),
        DataType::UInt32 => of::<u32>(data),
        DataType::UInt64 => of::<u64>(data),
        other => fault(format!("a dictionary key cannot have the Arrow type {other}")),
    }
}

fn place<T: ArrowNativeType>(values: &ScalarBuffer<T>, row: usize) -> Option<usize> {
    values.get(row)?.to_usize()
}

/// Checks that run ends are ascending and reach the last row. Returns a function that finds the first row of a run.
pub(super) fn run_ends(
    data: &ArrayData,
    ends_type: &DataType,
    ends: &ArrayData,
    values: usize,
) -> Checked<Box<dyn Fn(usize) -> Option<usize>>> {
    fn of<R: ArrowNativeType>(
        data: &ArrayData,
        ends: &ArrayData,
    ) -> Checked<Box<dyn Fn(usize) -> Option<usize>>> {
        let run_ends = typed::<R>(ends, 0, ends.len())?;
        let (mut before, last) = (0, data.offset().saturating_add(data.len()));
        for run in 0..run_ends.len() {
            match place(&run_ends, run) {
                Some(end) if end > before => before = end,
                _ => return fault("the run ends do not increase"),
            }
        }
        if !data.is_empty() && before < last {
            return fault("the last run ends before the last row");
        }
        let offset = data.offset();
        Ok(Box::new(move |run| {
            let start = run
                .checked_sub(1)
                .map_or(Some(0), |before| place(&run_ends, before))?;
            (start < last).then(|| start.saturating_sub(offset))
        }))
    }
    if ends.null_count() > 0 || values < ends.len() {
        return fault("the run ends contain NULL, or outnumber the values");
    }
    match ends_type {
        DataType::Int16 => of::<i16>(data, ends),
        DataType::Int32 => of::<i32>(data, ends),
        DataType::Int64 => of::<i64>(data, ends),
        other => fault(format!("a run end cannot have the Arrow type {other}")),
    }
}
