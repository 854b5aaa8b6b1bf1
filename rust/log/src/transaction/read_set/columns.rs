//! The columns of the version that a transaction read, with their names in the log.

use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::skipping::columns_of;
use deltaic_protocol::statistics::StatisticsSchema;
use deltaic_protocol::{Result, TableConfiguration};

/// The columns of a table.
#[derive(Debug)]
pub(super) struct Columns {
    /// The partition columns, each with its logical name and with its name in `partitionValues`.
    pub(super) of_partitions: Vec<(StructField, StructField)>,
    /// The other columns.
    of_data: StructType,
    mode: ColumnMappingMode,
}

impl Columns {
    pub(super) fn try_new(table: &TableConfiguration) -> Result<Self> {
        let mode = table.column_mapping()?;
        let partition_columns = &table.metadata().partition_columns;
        let (of_partitions, fields): (Vec<_>, Vec<_>) = table
            .schema()?
            .fields
            .iter()
            .cloned()
            .partition(|field| partition_columns.contains(&field.name));
        let named = |field: StructField| {
            let in_log = StructField {
                name: name_in_log(&field, mode).to_owned(),
                ..field.clone()
            };
            (field, in_log)
        };
        Ok(Self {
            of_partitions: of_partitions.into_iter().map(named).collect(),
            of_data: StructType { fields },
            mode,
        })
    }

    /// The statistics that can show that a file has no row of a predicate.
    pub(super) fn statistics_for(&self, predicate: &BoundPredicate) -> StatisticsSchema {
        let name_of = |field: &StructField| name_in_log(field, self.mode).to_owned();
        StatisticsSchema::of_columns(&self.of_data, &name_of, &columns_of(predicate))
    }
}
