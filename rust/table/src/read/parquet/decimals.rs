//! Reads decimals that a file stores as bytes of fixed length.
//!
//! The Parquet reader extends the sign of each byte by byte; here a value is one load and two shifts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Decimal128Array, FixedSizeBinaryArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use parquet::basic::Type as PhysicalType;
use parquet::errors::Result;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder};
use parquet::schema::types::{SchemaDescriptor, Type};

/// The bytes of a decimal in Arrow.
const BYTES: usize = 16;

/// The root columns of a file that are such decimals, by name: their Arrow types, and the number of bytes.
#[derive(Debug, Default)]
pub(crate) struct Decimals(BTreeMap<String, (DataType, i32)>);

impl Decimals {
    /// Finds those among the root columns of these leaves.
    pub(crate) fn find(metadata: &ParquetMetaData, schema: &Schema, leaves: &[usize]) -> Self {
        let columns = metadata.file_metadata().schema_descr();
        let in_file = leaves.iter().filter(|leaf| **leaf < columns.num_columns());
        let found = in_file.filter_map(|leaf| {
            let Type::PrimitiveType {
                physical_type,
                type_length,
                ..
            } = columns.get_column_root(*leaf)
            else {
                return None;
            };
            let field = schema
                .field_with_name(columns.get_column_root(*leaf).name())
                .ok()?;
            let is_bytes = *physical_type == PhysicalType::FIXED_LEN_BYTE_ARRAY
                && matches!(field.data_type(), DataType::Decimal128(..));
            is_bytes.then(|| (field.name().clone(), (field.data_type().clone(), *type_length)))
        });
        Self(found.collect())
    }

    /// Returns the metadata of a file without the meaning of these columns, so that the Parquet reader returns bytes.
    pub(crate) fn as_bytes(&self, metadata: &Arc<ParquetMetaData>) -> Result<Arc<ParquetMetaData>> {
        if self.0.is_empty() {
            return Ok(Arc::clone(metadata));
        }
        let about = metadata.file_metadata();
        let root = about.schema_descr().root_schema();
        let fields = root.get_fields().iter();
        let fields = fields.map(|field| match self.0.get(field.name()) {
            Some((_, length)) => bytes_of(field, *length).map(Arc::new),
            None => Ok(Arc::clone(field)),
        });
        let root = Type::group_type_builder(root.name()).with_fields(fields.collect::<Result<Vec<_>>>()?);
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(root.build()?)));
        let about = FileMetaData::new(about.version(), about.num_rows(), None, None, schema, None);
        let changed = ParquetMetaDataBuilder::new(about)
            .set_row_groups(metadata.row_groups().to_vec())
            .set_page_index(metadata.page_index().cloned());
        Ok(Arc::new(changed.build()))
    }

    /// Returns the type in which the Parquet reader returns a column.
    pub(crate) fn decoded_as(&self, field: &Field) -> Option<DataType> {
        let (_, length) = self.0.get(field.name())?;
        Some(DataType::FixedSizeBinary(*length))
    }

    /// Converts the columns of a batch of the Parquet reader.
    pub(crate) fn of_batch<'a>(
        &self,
        batch: &'a RecordBatch,
    ) -> std::result::Result<Cow<'a, RecordBatch>, ArrowError> {
        if self.0.is_empty() {
            return Ok(Cow::Borrowed(batch));
        }
        let schema = batch.schema_ref();
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            match (self.0.get(field.name()), column.as_fixed_size_binary_opt()) {
                (Some((decimal, _)), Some(bytes)) => {
                    fields.push(Arc::new(field.as_ref().clone().with_data_type(decimal.clone())));
                    columns.push(Arc::new(decimals_of(bytes, decimal)));
                }
                _ => {
                    fields.push(Arc::clone(field));
                    columns.push(Arc::clone(column));
                }
            }
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema, columns, &options).map(Cow::Owned)
    }
}

/// Returns a column of the same bytes that is no decimal.
fn bytes_of(column: &Type, length: i32) -> Result<Type> {
    let about = column.get_basic_info();
    Type::primitive_type_builder(column.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
        .with_repetition(about.repetition())
        .with_length(length)
        .with_id(about.has_id().then(|| about.id()))
        .build()
}

/// Converts values of at most 16 bytes in two's complement, the highest byte first.
fn decimals_of(bytes: &FixedSizeBinaryArray, decimal: &DataType) -> Decimal128Array {
    let length = bytes.value_size();
    let shift = u32::try_from(8 * BYTES.saturating_sub(length)).unwrap_or(0);
    let data = bytes.value_data();
    // A value is loaded with the bytes before it, of which the first values have too few.
    let few = BYTES.div_ceil(length.max(1)).min(bytes.len());
    let mut begin = vec![0; BYTES];
    begin.extend_from_slice(data.get(..few * length).unwrap_or_default());
    let value = |data: &[u8], end: usize| {
        let word = data.get(end - BYTES..end).and_then(<[u8]>::first_chunk);
        word.map_or(0, |word| i128::from_be_bytes(*word) << shift >> shift)
    };
    let mut values: Vec<i128> = Vec::with_capacity(bytes.len());
    values.extend((1..=few).map(|row| value(&begin, BYTES + row * length)));
    values.extend((few + 1..=bytes.len()).map(|row| value(data, row * length)));
    Decimal128Array::new(values.into(), bytes.nulls().cloned()).with_data_type(decimal.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn values_are_those_of_the_bytes(
            length in 1usize..=BYTES,
            rows in proptest::collection::vec(proptest::option::weighted(0.9, proptest::num::i128::ANY), 0..40),
            begin in 0usize..40,
        ) {
            let shift = 8 * (BYTES - length);
            let rows: Vec<Option<i128>> = rows.into_iter().map(|row| Some(row? >> shift)).collect();
            let bytes = rows.iter().map(|row| row.map(|row| row.to_be_bytes()));
            let bytes: Vec<Option<Vec<u8>>> = bytes.map(|row| Some(row?[BYTES - length..].to_vec())).collect();
            let size = i32::try_from(length).expect("small");
            let bytes = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes.iter().cloned(), size).expect("bytes");
            let begin = begin.min(rows.len());
            let decimal = DataType::Decimal128(38, 3);
            let found = decimals_of(&bytes.slice(begin, rows.len() - begin), &decimal);
            proptest::prop_assert_eq!(found.data_type(), &decimal);
            proptest::prop_assert_eq!(found.iter().collect::<Vec<_>>(), rows[begin..].to_vec());
        }
    }
}
