//! The columns of data files: those of the table, of copied rows, and partition columns if files contain them.
//!
//! Protocol: *Materialize Partition Columns*, *Writer Requirements for IcebergCompatV3*.

use deltaic_protocol::column_mapping::COLUMN_ID;
use deltaic_protocol::file_columns::has_partition_columns_in_files;
use deltaic_protocol::iceberg_compat::{IcebergCompat, ROW_TRACKING_FIELD_IDS};
use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
use deltaic_protocol::{Result, TableConfiguration};

use crate::write::file_contents::FileContents;

/// The positions of the columns of data files in the columns of rows, in the order in which files have them: partition
/// columns are the last.
pub(in crate::write) fn positions_in_files(
    table: &TableConfiguration,
    rows: &StructType,
) -> Result<Vec<usize>> {
    let partition_columns = &table.metadata().partition_columns;
    let is_partition = |field: &StructField| partition_columns.contains(&field.name);
    let positions = |wanted: &dyn Fn(&StructField) -> bool| -> Vec<usize> {
        let fields = rows.fields.iter().enumerate();
        fields
            .filter(|(_, field)| wanted(field))
            .map(|(index, _)| index)
            .collect()
    };
    let mut found = positions(&|field| !is_partition(field));
    if has_partition_columns_in_files(table)? {
        // Parquet has no type for void.
        let has_type = |field: &StructField| field.data_type.as_primitive() != Some(PrimitiveType::Void);
        found.extend(positions(&|field| is_partition(field) && has_type(field)));
    }
    Ok(found)
}

/// The columns at these positions, with the field ids that Iceberg reserves.
pub(in crate::write) fn columns_in_files(
    table: &TableConfiguration,
    contents: &FileContents,
    rows: &StructType,
    positions: &[usize],
) -> Result<StructType> {
    let fields = positions.iter().filter_map(|position| rows.fields.get(*position));
    let mut columns = StructType {
        fields: fields.cloned().collect(),
    };
    if IcebergCompat::active(table)?.contains(&IcebergCompat::V3) {
        for (own, id) in contents
            .row_tracking_columns()
            .into_iter()
            .zip(ROW_TRACKING_FIELD_IDS)
        {
            for field in columns.fields.iter_mut().filter(|field| field.name == own) {
                field.metadata.insert(COLUMN_ID.to_owned(), id.into());
            }
        }
    }
    Ok(columns)
}
