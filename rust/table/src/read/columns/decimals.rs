//! Reads decimals that a file stores as bytes of fixed length.
//!
//! The Parquet reader extends the sign of each byte by byte; here a value is one load and two shifts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, Decimal128Array, FixedSizeBinaryArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Schema};
use deltaic_protocol::Error;
use parquet::basic::Type as PhysicalType;
use parquet::errors::Result;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::file_columns::Roots;
use super::unfit::unfit;

/// The bytes of a decimal in Arrow.
const BYTES: usize = 16;

/// What it costs to copy the metadata of a column chunk, in values that are converted.
const CHUNK: usize = 32;

/// The root columns of a file that are such decimals: their Arrow types, and the number of bytes.
#[derive(Debug, Default)]
pub(crate) struct Decimals(BTreeMap<usize, (DataType, i32)>);

impl Decimals {
    /// Finds those among the root columns of these leaves; none if copying the metadata would take longer.
    pub(crate) fn find(metadata: &ParquetMetaData, schema: &Schema, leaves: &[usize]) -> Self {
        let columns = metadata.file_metadata().schema_descr();
        let found = leaves.iter().filter_map(|leaf| {
            let root = columns.get_column_root_idx(*leaf);
            let (column, field) = (columns.get_column_root(*leaf), schema.fields().get(root)?);
            match (column, field.data_type()) {
                (
                    Type::PrimitiveType {
                        physical_type: PhysicalType::FIXED_LEN_BYTE_ARRAY,
                        type_length,
                        ..
                    },
                    decimal @ DataType::Decimal128(..),
                ) if column.name() == field.name() => Some((root, (decimal.clone(), *type_length))),
                _ => None,
            }
        });
        let found = Self(found.collect());
        let chunks = metadata.num_row_groups().saturating_mul(columns.num_columns());
        let rows = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        match rows.saturating_mul(found.0.len()) > chunks.saturating_mul(CHUNK) {
            true => found,
            false => Self::default(),
        }
    }

    /// Returns the metadata of a file without the meaning of these columns, so that the Parquet reader returns bytes.
    pub(crate) fn as_bytes(&self, metadata: &Arc<ParquetMetaData>) -> Result<Arc<ParquetMetaData>> {
        if self.0.is_empty() {
            return Ok(Arc::clone(metadata));
        }
        let about = metadata.file_metadata();
        let root = about.schema_descr().root_schema();
        let fields = root.get_fields().iter().enumerate();
        let fields = fields.map(|(index, field)| match self.0.get(&index) {
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

    /// Returns the type in which the Parquet reader returns a root column.
    pub(crate) fn decoded_as(&self, root: usize) -> Option<DataType> {
        let (_, length) = self.0.get(&root)?;
        Some(DataType::FixedSizeBinary(*length))
    }

    /// Converts the columns of a batch of the Parquet reader, which has these root columns.
    pub(crate) fn of_batch<'a>(
        &self,
        batch: &'a RecordBatch,
        roots: &Roots,
    ) -> deltaic_protocol::Result<Cow<'a, RecordBatch>> {
        if self.0.is_empty() {
            return Ok(Cow::Borrowed(batch));
        }
        let mut columns = batch.columns().to_vec();
        let mut fields: Vec<FieldRef> = batch.schema_ref().fields().iter().cloned().collect();
        let mut is_changed = false;
        for (root, (decimal, _)) in &self.0 {
            let place = roots.place(*root).unwrap_or(usize::MAX);
            if let (Some(column), Some(field)) = (columns.get_mut(place), fields.get_mut(place))
                && let Some(bytes) = column.as_fixed_size_binary_opt()
            {
                *column = Arc::new(decimals_of(bytes, decimal).ok_or_else(short)?);
                *field = Arc::new(field.as_ref().clone().with_data_type(decimal.clone()));
                is_changed = true;
            }
        }
        if !is_changed {
            return Ok(Cow::Borrowed(batch));
        }
        let schema = Arc::new(Schema::new(fields));
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema, columns, &options)
            .map(Cow::Owned)
            .map_err(unfit)
    }
}

fn short() -> Error {
    Error::internal("a decimal is outside of the bytes of its column")
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

/// Converts values of 1 to 16 bytes, the lengths of `Decimal128`, in two's complement with the highest byte first.
fn decimals_of(bytes: &FixedSizeBinaryArray, decimal: &DataType) -> Option<Decimal128Array> {
    let length = bytes.value_size();
    let shift = u32::try_from(8 * BYTES.checked_sub(length)?).ok()?;
    let data = bytes.value_data();
    // A value is loaded with the bytes before it, of which the first values have too few.
    let few = BYTES.div_ceil(length.max(1)).min(bytes.len());
    let mut begin = vec![0; BYTES];
    begin.extend_from_slice(data.get(..few * length)?);
    let value = |data: &[u8], end: usize| {
        let word = data.get(end.checked_sub(BYTES)?..end)?.first_chunk()?;
        Some(i128::from_be_bytes(*word).checked_shl(shift)? >> shift)
    };
    let first = (1..=few).map(|row| value(&begin, BYTES + row * length));
    let others = (few + 1..=bytes.len()).map(|row| value(data, row * length));
    let values = first.chain(others).collect::<Option<Vec<i128>>>()?;
    let decimals = Decimal128Array::new(values.into(), bytes.nulls().cloned());
    Some(decimals.with_data_type(decimal.clone()))
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
            let found = decimals_of(&bytes.slice(begin, rows.len() - begin), &decimal).expect("complete");
            proptest::prop_assert_eq!(found.data_type(), &decimal);
            proptest::prop_assert_eq!(found.iter().collect::<Vec<_>>(), rows[begin..].to_vec());
        }
    }
}
