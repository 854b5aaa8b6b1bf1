//! Finds the columns of a predicate in a file, and checks whether its bounds of them are usable.

use arrow_schema::{DataType as ArrowType, Field, Fields};
use deltaic_protocol::Result;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::basic::{ColumnOrder, SortOrder, Type as PhysicalType};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use crate::read::columns::find::find;
use crate::read::columns::leaves::{in_file, on_paths};
use crate::read::parquet::footer::Footer;

/// A column of the table in a file.
pub(crate) enum InChunks {
    /// Missing: the file is older than the column, so the column is NULL in each row.
    Nothing,
    /// The type does not match the table's; reading the column raises an error.
    Misfit,
    Column(Column),
}

impl InChunks {
    pub(crate) fn column(&self) -> Option<&Column> {
        match self {
            Self::Column(column) => Some(column),
            Self::Nothing | Self::Misfit => None,
        }
    }
}

/// A column of the file.
pub(crate) struct Column {
    pub(crate) leaf: usize,
    pub(crate) field: Field,
    physical: PhysicalType,
}

impl Column {
    pub(crate) fn converter<'a>(&'a self, file: &'a ParquetMetaData) -> Option<StatisticsConverter<'a>> {
        let schema = file.file_metadata().schema_descr();
        let converter = StatisticsConverter::from_column_index(self.leaf, &self.field, schema).ok()?;
        Some(converter.with_missing_null_counts_as_zero(false))
    }

    /// Whether the file orders the column's bounds as the table does. The order of INT96 is undefined, and strings were
    /// ordered by signed bytes before files specified a column order.
    pub(crate) fn are_ordered(&self, file: &ParquetMetaData) -> bool {
        let order = file.file_metadata().column_order(self.leaf);
        match self.physical {
            PhysicalType::INT96 => false,
            PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                let wanted = match self.field.data_type() {
                    ArrowType::Decimal128(..) | ArrowType::Decimal256(..) => SortOrder::SIGNED,
                    _ => SortOrder::UNSIGNED,
                };
                order == ColumnOrder::TYPE_DEFINED_ORDER(wanted)
            }
            _ => true,
        }
    }

    pub(crate) fn has_bounds(&self, file: &ParquetMetaData, group: &RowGroupMetaData) -> bool {
        let is_bytes = matches!(
            self.physical,
            PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY
        );
        let statistics = group
            .columns()
            .get(self.leaf)
            .and_then(|column| column.statistics());
        self.are_ordered(file)
            && statistics.is_some_and(|statistics| !(is_bytes && statistics.is_min_max_deprecated()))
    }
}

/// Returns the column of the file at a path of the table's schema.
pub(crate) fn column_at(
    table: &StructType,
    path: &[String],
    footer: &Footer,
    mode: ColumnMappingMode,
) -> Result<InChunks> {
    let wanted = on_paths(table, &[path.to_vec()]);
    let Some(wanted) = wanted.first() else {
        return Ok(InChunks::Misfit);
    };
    let leaves = in_file(footer.schema.fields(), wanted, mode)?.leaves;
    let schema = footer.metadata.file_metadata().schema_descr();
    // A struct without any of the requested fields is read by a leaf of another column.
    Ok(
        match (field_at(footer.schema.fields(), wanted, mode)?, leaves.as_slice()) {
            (FieldAt::Nowhere, _) => InChunks::Nothing,
            (FieldAt::Here(field), [leaf]) => InChunks::Column(Column {
                leaf: *leaf,
                field,
                physical: schema.column(*leaf).physical_type(),
            }),
            _ => InChunks::Misfit,
        },
    )
}

/// The location of the only leaf of a requested field.
enum FieldAt {
    Nowhere,
    Misfit,
    Here(Field),
}

fn field_at(file: &Fields, wanted: &StructField, mode: ColumnMappingMode) -> Result<FieldAt> {
    let Some(field) = find(file, wanted, mode)?.and_then(|index| file.get(index)) else {
        return Ok(FieldAt::Nowhere);
    };
    match (field.data_type(), &wanted.data_type) {
        (ArrowType::Struct(below), DataType::Struct(fields)) => match fields.fields.first() {
            Some(inner) => field_at(below, inner, mode),
            None => Ok(FieldAt::Misfit),
        },
        (ArrowType::Struct(_), _) | (_, DataType::Struct(_)) => Ok(FieldAt::Misfit),
        _ => Ok(FieldAt::Here(field.as_ref().clone())),
    }
}
