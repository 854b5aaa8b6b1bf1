//! The schema of a data file: physical names and field ids, if the table maps columns, and the groups of variants.
//!
//! Protocol: *Column Mapping*, *Writer Requirements for Column Mapping*, *Variant Data Type*, *Writer Requirements for
//! IcebergCompatV2*.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, FieldRef, Schema, SchemaRef};
use deltaic_protocol::Result;
use deltaic_protocol::column_mapping::{ColumnMappingMode, field_id, nested_ids, physical_schema};
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

/// Returns the schema under which columns are written: that of the columns, which may have other names.
pub(in crate::write) fn file_schema(columns: &StructType, mode: ColumnMappingMode) -> Result<SchemaRef> {
    let physical = match mode.is_mapped() {
        true => physical_schema(columns, mode),
        false => columns.clone(),
    };
    let arrow = physical.to_arrow()?;
    let fields = physical.fields.iter().zip(arrow.fields());
    let fields = fields.map(|(field, arrow)| column(field, arrow, mode));
    Ok(Arc::new(Schema::new(fields.collect::<Vec<FieldRef>>())))
}

/// The field ids of elements, keys and values in a column, by their path below it.
struct NestedIds<'f> {
    mode: ColumnMappingMode,
    ids: BTreeMap<&'f str, i32>,
}

fn column(field: &StructField, arrow: &Field, mode: ColumnMappingMode) -> FieldRef {
    let is_mapped = mode.is_mapped();
    let nested = NestedIds {
        mode,
        ids: if is_mapped {
            nested_ids(field)
        } else {
            BTreeMap::new()
        },
    };
    let data_type = nested.data_type(&field.data_type, arrow.data_type(), "");
    with_id(
        arrow.clone().with_data_type(data_type),
        field_id(field).filter(|_| is_mapped),
    )
}

/// Only the group is NULL: readers require its parts.
fn variant_in_file() -> ArrowType {
    let part = |name: &str| Field::new(name, ArrowType::Binary, false);
    ArrowType::Struct(vec![part("metadata"), part("value")].into())
}

fn with_id(field: Field, id: Option<i32>) -> FieldRef {
    let Some(id) = id else {
        return Arc::new(field);
    };
    let mut metadata = field.metadata().clone();
    metadata.insert(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string());
    Arc::new(field.with_metadata(metadata))
}

impl NestedIds<'_> {
    fn data_type(&self, data_type: &DataType, arrow: &ArrowType, path: &str) -> ArrowType {
        match (data_type, arrow) {
            (DataType::Struct(fields), ArrowType::Struct(arrow)) => {
                let fields = fields.fields.iter().zip(arrow);
                let fields = fields.map(|(field, arrow)| column(field, arrow, self.mode));
                ArrowType::Struct(fields.collect())
            }
            (DataType::Primitive(PrimitiveType::Variant), _) => variant_in_file(),
            (DataType::Array(array), ArrowType::List(element)) => {
                ArrowType::List(self.part(&array.element_type, element, path, "element"))
            }
            (DataType::Map(map), ArrowType::Map(entries, is_sorted)) => {
                let ArrowType::Struct(parts) = entries.data_type() else {
                    return arrow.clone();
                };
                let types = [(&map.key_type, "key"), (&map.value_type, "value")];
                let parts = types.iter().zip(parts);
                let parts = parts.map(|((data_type, name), part)| self.part(data_type, part, path, name));
                let entries = entries
                    .as_ref()
                    .clone()
                    .with_data_type(ArrowType::Struct(parts.collect()));
                ArrowType::Map(Arc::new(entries), *is_sorted)
            }
            _ => arrow.clone(),
        }
    }

    fn part(&self, data_type: &DataType, arrow: &Field, path: &str, name: &str) -> FieldRef {
        let path = match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let inner = self.data_type(data_type, arrow.data_type(), &path);
        let id = self.ids.get(path.as_str()).copied();
        with_id(arrow.clone().with_data_type(inner), id)
    }
}
