//! The invariants of columns.

use crate::Result;
use crate::schema::{ColumnName, DataType, StructType};

/// The invariants of the columns and nested struct fields of a table: the column and the SQL expression
/// that must be true for every row.
///
/// # Errors
///
/// Returns `CorruptLog` with the column as `field` if an invariant cannot be parsed.
pub fn invariants(schema: &StructType) -> Result<Vec<(ColumnName, String)>> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn collect(
    fields: &StructType,
    above: &mut Vec<String>,
    found: &mut Vec<(ColumnName, String)>,
) -> Result<()> {
    for field in &fields.fields {
        above.push(field.name.clone());
        if let Some(expression) = field.invariant()? {
            found.push((ColumnName::from_parts(above.clone()), expression));
        }
        if let DataType::Struct(below) = &field.data_type {
            collect(below, above, found)?;
        }
        above.pop();
    }
    Ok(())
}
