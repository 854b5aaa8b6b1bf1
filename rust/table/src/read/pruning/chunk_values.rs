//! Prunes row groups that contain none of the requested values: by Bloom filters, and by dictionaries of strings.
//!
//! Bounds exclude values outside of the range of a row group; these exclude values within it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType as ArrowType, Field, Schema, TimeUnit};
use arrow_select::concat::concat;
use deltaic_protocol::Result;
use deltaic_protocol::expr::{BoundPredicate, Comparison, Operand, Scalar, evaluate};
use deltaic_protocol::schema::{DataType, DeclaredType, PrimitiveType, StructField, StructType};
use deltaic_protocol::skipping::columns_of;
use deltaic_storage::ParquetFile;
use parquet::arrow::ParquetRecordBatchStreamBuilder;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Encoding;
use parquet::bloom_filter::Sbbf;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::chunk_columns::Column;
use super::chunk_statistics::PruningPredicate;
use crate::read::columns::padded::padded;
use crate::read::parquet::footer::{Footer, damaged, options};

/// Larger Bloom filters are not fetched.
const MOST_FILTER_BYTES: i32 = 1 << 20;
/// Larger dictionaries are not fetched, nor those that exceed this share of the bytes to decode.
const MOST_DICTIONARY_BYTES: i64 = 1 << 20;
const DICTIONARY_SHARE: i64 = 8;

type Reader = ParquetRecordBatchStreamBuilder<ParquetFile>;

/// Returns those of the given row groups that may contain a matching row. `read` are the leaves that would be decoded
/// of them.
///
/// # Errors
///
/// Those of the store. An invalid filter or dictionary prunes nothing.
pub(crate) async fn with_values(
    question: &PruningPredicate<'_>,
    table: &StructType,
    footer: &Footer,
    groups: Vec<(usize, u64)>,
    read: &[usize],
    shown: &str,
) -> Result<Vec<(usize, u64)>> {
    let conjuncts = question.predicate.conjuncts();
    let asked: Vec<(&BoundPredicate, &Column)> = conjuncts
        .into_iter()
        .filter_map(|part| Some((part, question.only_column(part)?)))
        .collect();
    let has_any = |leaf: usize| {
        footer.metadata.row_groups().iter().any(|group| {
            let column = group.columns().get(leaf);
            column.is_some_and(|column| column.bloom_filter_offset().is_some() || is_all_dictionary(column))
        })
    };
    if !asked.iter().any(|(_, column)| has_any(column.leaf)) {
        return Ok(groups);
    }
    let arrow = ArrowReaderMetadata::try_new(Arc::clone(&footer.metadata), options())
        .map_err(|error| damaged(&error, shown))?;
    let mut reader = Reader::new_with_metadata(footer.file.clone(), arrow);
    let mut kept = Vec::with_capacity(groups.len());
    for (group, first) in groups {
        let mut may_match = true;
        for (part, column) in &asked {
            may_match = may_match
                && by_filter(part, column, group, &mut reader, shown).await?
                && by_dictionary(part, column, table, group, read, &mut reader, shown).await?;
        }
        if may_match {
            kept.push((group, first));
        }
    }
    Ok(kept)
}

async fn by_filter(
    part: &BoundPredicate,
    column: &Column,
    group: usize,
    reader: &mut Reader,
    shown: &str,
) -> Result<bool> {
    let Some(sought) = sought(part) else {
        return Ok(true);
    };
    let metadata = Arc::clone(reader.metadata());
    let Some(chunk) = chunk(&metadata, group, column.leaf) else {
        return Ok(true);
    };
    let length = chunk.bloom_filter_length().unwrap_or(0);
    if chunk.bloom_filter_offset().is_none() || length > MOST_FILTER_BYTES {
        return Ok(true);
    }
    let found = reader.get_row_group_column_bloom_filter(group, column.leaf).await;
    match found {
        Ok(Some(filter)) if filter.num_blocks() > 0 => {
            Ok(sought.iter().any(|value| may_hold(&filter, value, column)))
        }
        Err(error @ ParquetError::External(_)) => Err(damaged(&error, shown)),
        _ => Ok(true),
    }
}

/// Returns the values of which a matching row must have one; `None` if other values may match.
fn sought(part: &BoundPredicate) -> Option<Vec<&Scalar>> {
    match part {
        BoundPredicate::Compare {
            op: Comparison::Equal,
            left: Operand::Column(_),
            right: Operand::Scalar(value),
            ..
        }
        | BoundPredicate::Compare {
            op: Comparison::Equal,
            left: Operand::Scalar(value),
            right: Operand::Column(_),
            ..
        } => Some(vec![value]),
        BoundPredicate::In { values, .. } => Some(values.values().iter().collect()),
        BoundPredicate::Or(parts) => {
            let values: Option<Vec<Vec<&Scalar>>> = parts.iter().map(sought).collect();
            Some(values?.concat())
        }
        _ => None,
    }
}

/// Whether a Bloom filter may contain a value, which is hashed as the file stores it.
fn may_hold(filter: &Sbbf, value: &Scalar, column: &Column) -> bool {
    let whole = match value {
        Scalar::Byte(value) => Some(i64::from(*value)),
        Scalar::Short(value) => Some(i64::from(*value)),
        Scalar::Integer(value) | Scalar::Date(value) => Some(i64::from(*value)),
        Scalar::Long(value) | Scalar::Timestamp(value) | Scalar::TimestampNtz(value) => Some(*value),
        _ => None,
    };
    match (column.field.data_type(), value, whole) {
        (ArrowType::Utf8, Scalar::String(text), _) => filter.check(text.as_str()),
        (ArrowType::Binary, Scalar::Binary(bytes), _) => filter.check(bytes.as_slice()),
        (
            ArrowType::Int64,
            Scalar::Byte(_) | Scalar::Short(_) | Scalar::Integer(_) | Scalar::Long(_),
            Some(whole),
        )
        | (
            ArrowType::Timestamp(TimeUnit::Microsecond, _),
            Scalar::Timestamp(_) | Scalar::TimestampNtz(_),
            Some(whole),
        ) => filter.check(&whole),
        (
            ArrowType::Int32 | ArrowType::Int16 | ArrowType::Int8,
            Scalar::Byte(_) | Scalar::Short(_) | Scalar::Integer(_) | Scalar::Long(_),
            Some(whole),
        )
        | (ArrowType::Date32, Scalar::Date(_), Some(whole)) => {
            // A value that does not fit in 32 bits is not in the column.
            i32::try_from(whole).is_ok_and(|whole| filter.check(&whole))
        }
        _ => true,
    }
}

async fn by_dictionary(
    part: &BoundPredicate,
    column: &Column,
    table: &StructType,
    group: usize,
    read: &[usize],
    reader: &mut Reader,
    shown: &str,
) -> Result<bool> {
    let metadata = Arc::clone(reader.metadata());
    let Some(chunk) = chunk(&metadata, group, column.leaf) else {
        return Ok(true);
    };
    let paths = columns_of(part);
    let ([path], true) = (paths.as_slice(), is_all_dictionary(chunk)) else {
        return Ok(true);
    };
    let ([name], ArrowType::Utf8) = (path.as_slice(), column.field.data_type()) else {
        return Ok(true);
    };
    let field = table.field(name);
    let is_text = field.is_some_and(|field| field.data_type == DataType::Primitive(PrimitiveType::String));
    let declared = field.and_then(StructField::declared_lengths);
    let all: i64 = read
        .iter()
        .filter_map(|leaf| metadata.row_groups().get(group)?.columns().get(*leaf))
        .fold(0, |sum, column| sum.saturating_add(column.compressed_size()));
    let bytes = chunk.data_page_offset() - chunk.dictionary_page_offset().unwrap_or(0);
    if !is_text || bytes <= 0 || bytes > MOST_DICTIONARY_BYTES || bytes.saturating_mul(DICTIONARY_SHARE) > all
    {
        return Ok(true);
    }
    let values = match reader.get_column_chunk_dictionary(group, column.leaf).await {
        Ok(Some(values)) => values,
        Err(error @ ParquetError::External(_)) => return Err(damaged(&error, shown)),
        _ => return Ok(true),
    };
    Ok(any_matches(part, name, declared.as_ref(), &values).unwrap_or(true))
}

/// Whether a string of a dictionary, as it is read, or NULL matches; `None` if that cannot be evaluated.
fn any_matches(
    part: &BoundPredicate,
    name: &str,
    declared: Option<&DeclaredType>,
    values: &ArrayRef,
) -> Option<bool> {
    let mut values = arrow_cast::cast(values, &ArrowType::Utf8).ok()?;
    if let Some(declared) = declared {
        values = padded(&values, declared, name).ok()?;
    }
    values.as_string_opt::<i32>()?;
    let null = StringArray::new_null(1);
    let column = concat(&[values.as_ref(), &null]).ok()?;
    let schema = Schema::new(vec![Field::new(name, ArrowType::Utf8, true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![column]).ok()?;
    Some(evaluate(part, &batch).ok()?.true_count() > 0)
}

fn chunk(file: &ParquetMetaData, group: usize, leaf: usize) -> Option<&ColumnChunkMetaData> {
    file.row_groups().get(group)?.columns().get(leaf)
}

/// Whether all values of a column chunk are dictionary-encoded.
fn is_all_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    let only = |encoding| {
        let pages = chunk.page_encoding_stats_mask();
        pages.is_some_and(|pages| pages.is_only(encoding))
    };
    chunk.dictionary_page_offset().is_some()
        && (only(Encoding::RLE_DICTIONARY) || only(Encoding::PLAIN_DICTIONARY))
}
