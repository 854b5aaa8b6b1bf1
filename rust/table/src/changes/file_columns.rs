//! The columns of files as of a version, read through the schema of the last version of a range.

use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::features::{ensure_readable, supports_for_writers};
use deltaic_protocol::row_tracking::{MaterializedColumns, RowTracking};
use deltaic_protocol::schema::{ArrayType, DataType, MapType, StructField, StructType, is_widening};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};

/// How files written under one table configuration are read through the last schema of a range.
#[derive(Clone, Debug)]
pub(super) struct FileColumns {
    table: TableConfiguration,
    /// The columns of the last schema by which the files are partitioned.
    pub(super) partition_columns: Vec<String>,
    /// The column mapping mode of the files.
    pub(super) column_mapping: ColumnMappingMode,
    /// The last schema with the column names of these files; `None` if it has these names itself.
    pub(super) schema: Option<StructType>,
    /// Whether the table records a change feed.
    pub(super) keeps_feed: bool,
    /// The columns in which its files store row ids, if they have any.
    pub(super) row_columns: Option<MaterializedColumns>,
}

impl FileColumns {
    /// Verifies that files written under a configuration can be read through the last schema.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature` if its protocol requires an unsupported feature, `SchemaMismatch` if a column had a
    /// type that does not widen to the last one.
    pub(super) fn try_new(table: &TableConfiguration, last: &Last<'_>, version: Version) -> Result<Self> {
        let (protocol, metadata) = (table.protocol(), table.metadata());
        let schema = table.schema()?;
        ensure_readable(table)?;
        let names = Names {
            older: table.column_mapping()?,
            last: last.column_mapping,
        };
        ensure_fits(&schema, last.schema, names, "").map_err(|error| {
            error.with("version", version).hint(format!(
                "request changes up to the version before {version}, or from the one after it on"
            ))
        })?;
        let shared = schema
            .fields
            .iter()
            .any(|field| names.same(last.schema, field).is_some());
        if !shared && !schema.fields.is_empty() && !last.schema.fields.is_empty() {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                "the table had none of its present columns: it was replaced",
            )
            .with("version", version)
            .hint(format!("request changes from a version after {version} on")));
        }
        let of_files = metadata
            .partition_columns
            .iter()
            .filter_map(|name| schema.field(name));
        let partition_columns = of_files
            .filter_map(|field| names.same(last.schema, field))
            .map(|field| field.name.clone())
            .collect();
        // Writers respect the property only if the protocol supports the feature.
        let keeps_feed = supports_for_writers(protocol, "changeDataFeed")
            && metadata
                .property("delta.enableChangeDataFeed")
                .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        Ok(Self {
            table: table.clone(),
            partition_columns,
            column_mapping: names.in_files(),
            schema: match names.last.is_mapped() {
                false if names.older.is_mapped() => Some(under_names_of(last.schema, &schema)),
                _ => None,
            },
            keeps_feed,
            row_columns: match RowTracking::of(table)? {
                RowTracking::Enabled(columns) => Some(columns),
                _ => None,
            },
        })
    }

    /// Whether files of this configuration have the same columns.
    pub(super) fn applies_to(&self, table: &TableConfiguration) -> bool {
        self.table.is_same(table)
    }
}

/// The last schema of the range, in which changes are returned.
pub(super) struct Last<'a> {
    pub(super) schema: &'a StructType,
    pub(super) column_mapping: ColumnMappingMode,
}

/// Matches columns of older files with those of the last schema.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) older: ColumnMappingMode,
    pub(super) last: ColumnMappingMode,
}

impl Names {
    /// Returns the column of the last schema that a column of older files corresponds to. Mapped columns keep their
    /// physical names, and columns of a table that was mapped later have their old names as physical names. If the
    /// mapping was dropped, logical names are compared.
    pub(super) fn same<'a>(self, last: &'a StructType, field: &StructField) -> Option<&'a StructField> {
        if !self.last.is_mapped() {
            return last.field_ignoring_case(&field.name);
        }
        let name = name_in_log(field, self.older);
        let is_same = |other: &&StructField| name_in_log(other, self.last) == name;
        last.fields.iter().find(is_same)
    }

    /// How to find the columns of the last schema in the older files.
    fn in_files(self) -> ColumnMappingMode {
        match (self.older, self.last.is_mapped()) {
            // Files written before column mapping have no field ids.
            (ColumnMappingMode::None, true) => ColumnMappingMode::Name,
            (older, _) => older,
        }
    }
}

/// Returns an unmapped schema whose columns have the physical names and ids of older files.
fn under_names_of(last: &StructType, older: &StructType) -> StructType {
    let fields = last.fields.iter().map(|field| {
        let Some(field_of_files) = older.field_ignoring_case(&field.name) else {
            return field.clone();
        };
        StructField {
            metadata: field_of_files.metadata.clone(),
            data_type: under_type_of(&field.data_type, &field_of_files.data_type),
            ..field.clone()
        }
    });
    StructType {
        fields: fields.collect(),
    }
}

fn under_type_of(last: &DataType, older: &DataType) -> DataType {
    match (last, older) {
        (DataType::Struct(last), DataType::Struct(older)) => DataType::Struct(under_names_of(last, older)),
        (DataType::Array(last), DataType::Array(older)) => DataType::Array(Box::new(ArrayType {
            element_type: under_type_of(&last.element_type, &older.element_type),
            contains_null: last.contains_null,
        })),
        (DataType::Map(last), DataType::Map(older)) => DataType::Map(Box::new(MapType {
            key_type: under_type_of(&last.key_type, &older.key_type),
            value_type: under_type_of(&last.value_type, &older.value_type),
            value_contains_null: last.value_contains_null,
        })),
        (last, _) => last.clone(),
    }
}

fn ensure_fits(older: &StructType, last: &StructType, names: Names, above: &str) -> Result<()> {
    for field in &older.fields {
        let path = if above.is_empty() {
            field.name.clone()
        } else {
            format!("{above}.{}", field.name)
        };
        // A column that was dropped is not in the last schema, and so is not read.
        if let Some(newer) = names.same(last, field) {
            ensure_type_fits(&field.data_type, &newer.data_type, names, &path)?;
        }
    }
    Ok(())
}

fn ensure_type_fits(older: &DataType, last: &DataType, names: Names, path: &str) -> Result<()> {
    match (older, last) {
        (DataType::Struct(older), DataType::Struct(last)) => ensure_fits(older, last, names, path),
        (DataType::Array(older), DataType::Array(last)) => ensure_type_fits(
            &older.element_type,
            &last.element_type,
            names,
            &format!("{path}.element"),
        ),
        (DataType::Map(older), DataType::Map(last)) => {
            ensure_type_fits(&older.key_type, &last.key_type, names, &format!("{path}.key"))?;
            ensure_type_fits(
                &older.value_type,
                &last.value_type,
                names,
                &format!("{path}.value"),
            )
        }
        (older, last) => {
            let widens = matches!(
                (older.as_primitive(), last.as_primitive()),
                (Some(from), Some(to)) if from == to || is_widening(from, to)
                    || from == deltaic_protocol::schema::PrimitiveType::Void
            );
            if widens {
                return Ok(());
            }
            Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!("the column {path} was {older} and is now {last}: no single schema fits its changes"),
            )
            .with("field", path))
        }
    }
}
