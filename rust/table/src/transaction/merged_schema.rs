//! The changes of the schema of a table for rows that have more columns or wider types.
//!
//! Protocol: *Type Widening*. A type that the table may not widen stays: the values are assigned to it, and each must be
//! kept.

use deltaic_protocol::change::{TableChange, may_widen};
use deltaic_protocol::schema::{
    ArrayType, ColumnName, DataType, MapType, PrimitiveType, StructField, StructType,
};
use deltaic_protocol::{Result, TableConfiguration};

/// The changes of types that rows make, where the table allows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Widens {
    /// All: those of a merge, as in Spark.
    All,
    /// Not from integers to fractions: those of appended rows.
    NoIntegerToFraction,
}

/// New columns and fields, and wider types if the table allows them.
///
/// # Errors
///
/// `CorruptLog` if the schema or the properties of the table are invalid.
pub(crate) fn merged_schema(
    table: &TableConfiguration,
    rows: &StructType,
    widens: Widens,
) -> Result<Vec<TableChange>> {
    let known = table.schema()?;
    let mut changes = vec![TableChange::MergeSchema(with_types_of(&known, rows))];
    // Rows do not widen partition columns; a change of the table does.
    let is_wider = |field: &&StructField| !table.metadata().partition_columns.contains(&field.name);
    for field in known.fields.iter().filter(is_wider) {
        if let Some(given) = rows.field_ignoring_case(&field.name) {
            let (types, path) = ((&field.data_type, &given.data_type), [field.name.clone()]);
            add_wider((table, widens), types, &path, &mut changes)?;
        }
    }
    Ok(changes)
}

/// The columns of a source, with the types of the table where it has them.
fn with_types_of(table: &StructType, source: &StructType) -> StructType {
    let fields = source.fields.iter().map(|field| {
        let known = table.field_ignoring_case(&field.name);
        known.map_or_else(
            || field.clone(),
            |known| StructField {
                data_type: with_type_of(&known.data_type, &field.data_type),
                ..field.clone()
            },
        )
    });
    StructType {
        fields: fields.collect(),
    }
}

fn with_type_of(known: &DataType, given: &DataType) -> DataType {
    match (known, given) {
        (DataType::Struct(known), DataType::Struct(given)) => DataType::Struct(with_types_of(known, given)),
        (DataType::Array(known), DataType::Array(given)) => DataType::Array(Box::new(ArrayType {
            element_type: with_type_of(&known.element_type, &given.element_type),
            ..known.as_ref().clone()
        })),
        (DataType::Map(known), DataType::Map(given)) => DataType::Map(Box::new(MapType {
            key_type: with_type_of(&known.key_type, &given.key_type),
            value_type: with_type_of(&known.value_type, &given.value_type),
            ..known.as_ref().clone()
        })),
        // A column without a type takes that of the rows.
        (DataType::Primitive(PrimitiveType::Void), given) => given.clone(),
        (known, _) => known.clone(),
    }
}

/// Adds the changes to wider types of the source, if the table allows them.
fn add_wider(
    (table, widens): (&TableConfiguration, Widens),
    (known, given): (&DataType, &DataType),
    above: &[String],
    changes: &mut Vec<TableChange>,
) -> Result<()> {
    let below = |name: &str| [above, &[name.to_owned()]].concat();
    match (known, given) {
        (DataType::Primitive(from), DataType::Primitive(to))
            if from != to
                && (widens == Widens::All || !is_fraction_of_integer(*from, *to))
                && may_widen(table, *from, *to)? =>
        {
            let column = ColumnName::from_parts(above.to_vec());
            changes.push(TableChange::ChangeType(column, *to));
        }
        (DataType::Struct(known), DataType::Struct(given)) => {
            for field in &known.fields {
                if let Some(given) = given.field_ignoring_case(&field.name) {
                    let types = (&field.data_type, &given.data_type);
                    add_wider((table, widens), types, &below(&field.name), changes)?;
                }
            }
        }
        (DataType::Array(known), DataType::Array(given)) => {
            let types = (&known.element_type, &given.element_type);
            add_wider((table, widens), types, &below("element"), changes)?;
        }
        (DataType::Map(known), DataType::Map(given)) => {
            add_wider(
                (table, widens),
                (&known.key_type, &given.key_type),
                &below("key"),
                changes,
            )?;
            add_wider(
                (table, widens),
                (&known.value_type, &given.value_type),
                &below("value"),
                changes,
            )?;
        }
        _ => {}
    }
    Ok(())
}

/// Whether a change is from integers to fractions.
fn is_fraction_of_integer(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType::{Byte, Decimal, Double, Integer, Long, Short};
    matches!(
        (from, to),
        (Byte | Short | Integer | Long, Double | Decimal { .. })
    )
}
