//! Slices of arrays with 64-bit offsets, and values below NULLs.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Decimal256Array, LargeBinaryArray, LargeListArray, NullArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, i256};
use arrow_schema::{DataType as ArrowType, Field};
use deltaic_protocol::schema::{ArrayType, DataType, PrimitiveType};

use deltaic_protocol::ErrorKind;

use super::*;

/// Converts the first row of a column that follows 2 GiB of other rows.
fn conformed(column: ArrayRef, to: DataType) -> Result<ArrayRef> {
    let field = StructField::new("c", to, true);
    let table = Arc::new(StructType { fields: vec![field] });
    let schema = Schema::new(vec![Field::new("c", column.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![column]).expect("a batch");
    let rows = Incoming::try_new(&schema, &table, &[])?.conform(&batch.slice(1, 1))?;
    Ok(Arc::clone(rows.column(0)))
}

const BEHIND: usize = 1 << 31;

#[test]
fn bytes_after_2_gib_are_converted() -> Result<()> {
    // The memory is never touched, so it is not allocated.
    let values = Buffer::from(vec![0; BEHIND + 3]);
    let offsets = OffsetBuffer::from_lengths([BEHIND, 3]);
    let column = Arc::new(LargeBinaryArray::new(offsets, values, None));
    let rows = conformed(column, DataType::Primitive(PrimitiveType::Binary))?;
    assert_eq!(rows.as_binary::<i32>().value(0), [0; 3]);
    Ok(())
}

#[test]
fn lists_after_2_gib_are_converted() -> Result<()> {
    let item = Arc::new(Field::new("item", ArrowType::Null, true));
    let offsets = OffsetBuffer::from_lengths([BEHIND, 3]);
    let column = Arc::new(LargeListArray::new(
        item,
        offsets,
        Arc::new(NullArray::new(BEHIND + 3)),
        None,
    ));
    let element = ArrayType {
        element_type: DataType::Primitive(PrimitiveType::Long),
        contains_null: true,
    };
    let rows = conformed(column, DataType::Array(Box::new(element)))?;
    assert_eq!(rows.as_list::<i32>().value(0).len(), 3);
    Ok(())
}

#[test]
fn a_value_of_2_gib_is_refused_by_column() {
    let values = Buffer::from(vec![0; BEHIND]);
    let column = Arc::new(LargeBinaryArray::new(
        OffsetBuffer::from_lengths([0, BEHIND]),
        values,
        None,
    ));
    let error = conformed(column, DataType::Primitive(PrimitiveType::Binary)).expect_err("too long");
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(error.to_string().contains("a value of 2 GiB or more"), "{error}");
}

/// Arrow converts what is below NULLs, and panics if it has more digits than the type.
#[test]
fn what_is_below_a_null_decimal_is_not_converted() -> Result<()> {
    let nulls = NullBuffer::from(vec![true, false]);
    let column = Decimal256Array::new(vec![i256::ONE, i256::MAX].into(), Some(nulls));
    let column = column
        .with_precision_and_scale(20, 2)
        .map_err(|error| failed(&error, "c"))?;
    let column: ArrayRef = Arc::new(column);
    for (precision, scale) in [(20, 2), (38, 4), (10, 2)] {
        let to = DataType::Primitive(PrimitiveType::Decimal { precision, scale });
        let found = conformed(Arc::clone(&column), to)?;
        assert!(found.is_null(0), "decimal({precision},{scale})");
    }
    Ok(())
}
