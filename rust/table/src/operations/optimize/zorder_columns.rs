//! Verifies the columns of a Z-order.

use arrow_row::{RowConverter, SortField};
use deltaic_log::Snapshot;
use deltaic_protocol::file_columns::statistics_columns;
use deltaic_protocol::schema::{ColumnName, DataType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// Returns the columns with these names: columns with statistics that are no partition columns, because another order of
/// the rows would not help to skip files.
pub(super) fn zorder_columns(snapshot: &Snapshot, names: &[String]) -> Result<Vec<ColumnName>> {
    let partition_columns = &snapshot.metadata().partition_columns;
    let data = StructType {
        fields: snapshot
            .schema()
            .fields
            .iter()
            .filter(|field| !partition_columns.contains(&field.name))
            .cloned()
            .collect(),
    };
    let indexed = statistics_columns(snapshot.configuration())?;
    let indexed = indexed.leaves(&data);
    let mut columns: Vec<ColumnName> = Vec::with_capacity(names.len());
    for name in names {
        let wrong = |why: &str| {
            let what = format!("zorder_by may not have the column {name:?}: {why}");
            Error::new(ErrorKind::InvalidArgument, what).with("field", name.as_str())
        };
        let parsed = ColumnName::parse(name)?;
        let path = path_of(snapshot.schema(), &parsed).ok_or_else(|| wrong("the table does not have it"))?;
        let column = ColumnName::from_parts(path.iter().map(|field| field.name.clone()).collect());
        if partition_columns
            .iter()
            .any(|partition| partition == column.column())
        {
            return Err(wrong("it is a partition column"));
        }
        if columns.contains(&column) {
            return Err(wrong("it is there twice"));
        }
        let has_statistics = indexed.iter().any(|leaf| {
            let names = leaf.iter().map(|field| field.name.as_str());
            names.eq(column.parts().iter().map(String::as_str))
        });
        if !has_statistics || !is_ordered(path.last()) {
            return Err(wrong("files have no statistics of it").hint(
                "the properties delta.dataSkippingNumIndexedCols and …StatsColumns select the columns",
            ));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The fields of a path, which is resolved as by Spark.
pub(super) fn path_of<'a>(schema: &'a StructType, name: &ColumnName) -> Option<Vec<&'a StructField>> {
    let mut fields = Some(schema);
    let mut path = Vec::new();
    for part in name.parts() {
        let field = fields?.field_ignoring_case(part)?;
        fields = match &field.data_type {
            DataType::Struct(fields) => Some(fields),
            _ => None,
        };
        path.push(field);
    }
    Some(path)
}

/// Whether the values of a field can be compared.
pub(super) fn is_ordered(field: Option<&&StructField>) -> bool {
    let arrow = field.and_then(|field| field.to_arrow().ok());
    arrow.is_some_and(|field| RowConverter::supports_fields(&[SortField::new(field.data_type().clone())]))
}
