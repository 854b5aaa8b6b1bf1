//! The columns of files as of a version, read through the schema of the last version of a range.

use deltaic_log::changes::TableForm;
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::features::{ensure_readable, supports_for_writers};
use deltaic_protocol::row_tracking::{MaterializedColumns, RowTracking};
use deltaic_protocol::schema::{ArrayType, DataType, MapType, StructField, StructType, is_widening};
use deltaic_protocol::{Error, ErrorKind, Result, Version};

/// The state that is constant between two changes of metadata or protocol.
#[derive(Clone, Debug)]
pub(super) struct Era {
    form: TableForm,
    /// The columns of the last schema by which files of the era are partitioned.
    pub(super) partition_columns: Vec<String>,
    /// The column mapping mode of files of the era.
    pub(super) column_mapping: ColumnMappingMode,
    /// The last schema with the column names of the era's files; `None` if it has these names itself.
    pub(super) schema: Option<StructType>,
    /// Whether the table records a change feed.
    pub(super) keeps_feed: bool,
    /// The columns in which its files store row ids, if they have any.
    pub(super) row_columns: Option<MaterializedColumns>,
}

impl Era {
    /// Verifies that files of the era can be read through the last schema.
    ///
    /// Errors: `UnsupportedFeature` if its protocol requires an unsupported feature, `SchemaMismatch` if a column had a
    /// type that does not widen to the last one.
    pub(super) fn try_new(form: &TableForm, last: &Last<'_>, version: Version) -> Result<Self> {
        let (protocol, metadata) = (&form.protocol, &form.metadata);
        let schema = metadata.schema()?;
        ensure_readable(protocol, metadata, &schema)?;
        let names = Names {
            era: ColumnMappingMode::of(protocol, metadata)?,
            last: last.column_mapping,
        };
        ensure_fits(&schema, last.schema, names, "").map_err(|error| {
            error.with("version", version).hint(format!(
                "ask for changes up to the version before {version}, or from the one after it on"
            ))
        })?;
        let shared = schema
            .fields
            .iter()
            .any(|field| names.same(last.schema, field).is_some());
        if !shared && !schema.fields.is_empty() && !last.schema.fields.is_empty() {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                "the table had none of the columns that it has by now: it was replaced",
            )
            .with("version", version)
            .hint(format!("ask for changes from a version after {version} on")));
        }
        let of_era = metadata
            .partition_columns
            .iter()
            .filter_map(|name| schema.field(name));
        let partition_columns = of_era
            .filter_map(|field| names.same(last.schema, field))
            .map(|field| field.name.clone())
            .collect();
        // Writers respect the property only if the protocol supports the feature.
        let keeps_feed = supports_for_writers(protocol, "changeDataFeed")
            && metadata
                .property("delta.enableChangeDataFeed")
                .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        Ok(Self {
            form: form.clone(),
            partition_columns,
            column_mapping: names.in_files(),
            schema: match names.last.is_mapped() {
                false if names.era.is_mapped() => Some(under_names_of(last.schema, &schema)),
                _ => None,
            },
            keeps_feed,
            row_columns: match RowTracking::of(protocol, metadata)? {
                RowTracking::Enabled(columns) => Some(columns),
                _ => None,
            },
        })
    }

    /// Whether this era still applies.
    pub(super) fn holds(&self, form: &TableForm) -> bool {
        self.form.is(form)
    }
}

/// The last schema of the range, in which changes are returned.
pub(super) struct Last<'a> {
    pub(super) schema: &'a StructType,
    pub(super) column_mapping: ColumnMappingMode,
}

/// Matches columns of an era with those of the last schema.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) era: ColumnMappingMode,
    pub(super) last: ColumnMappingMode,
}

impl Names {
    /// Returns the column of the last schema that a column of the era corresponds to. Mapped columns keep their
    /// physical names, and columns of a table that was mapped later have their old names as physical names. If the
    /// mapping was dropped, logical names are compared.
    pub(super) fn same<'a>(self, last: &'a StructType, field: &StructField) -> Option<&'a StructField> {
        if !self.last.is_mapped() {
            return last.field_ignoring_case(&field.name);
        }
        let name = name_in_log(field, self.era);
        let is_same = |other: &&StructField| name_in_log(other, self.last) == name;
        last.fields.iter().find(is_same)
    }

    /// How to find the columns of the last schema in files of the era.
    fn in_files(self) -> ColumnMappingMode {
        match (self.era, self.last.is_mapped()) {
            // Files written before column mapping have no field ids.
            (ColumnMappingMode::None, true) => ColumnMappingMode::Name,
            (era, _) => era,
        }
    }
}

/// Returns an unmapped schema whose columns have the physical names and ids of the era.
fn under_names_of(last: &StructType, era: &StructType) -> StructType {
    let fields = last.fields.iter().map(|field| {
        let older = era.field_ignoring_case(&field.name);
        let Some(older) = older else {
            return field.clone();
        };
        StructField {
            metadata: older.metadata.clone(),
            data_type: under_type_of(&field.data_type, &older.data_type),
            ..field.clone()
        }
    });
    StructType {
        fields: fields.collect(),
    }
}

fn under_type_of(last: &DataType, era: &DataType) -> DataType {
    match (last, era) {
        (DataType::Struct(last), DataType::Struct(era)) => DataType::Struct(under_names_of(last, era)),
        (DataType::Array(last), DataType::Array(era)) => DataType::Array(Box::new(ArrayType {
            element_type: under_type_of(&last.element_type, &era.element_type),
            contains_null: last.contains_null,
        })),
        (DataType::Map(last), DataType::Map(era)) => DataType::Map(Box::new(MapType {
            key_type: under_type_of(&last.key_type, &era.key_type),
            value_type: under_type_of(&last.value_type, &era.value_type),
            value_contains_null: last.value_contains_null,
        })),
        (last, _) => last.clone(),
    }
}

fn ensure_fits(era: &StructType, last: &StructType, names: Names, above: &str) -> Result<()> {
    for field in &era.fields {
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

fn ensure_type_fits(era: &DataType, last: &DataType, names: Names, path: &str) -> Result<()> {
    match (era, last) {
        (DataType::Struct(era), DataType::Struct(last)) => ensure_fits(era, last, names, path),
        (DataType::Array(era), DataType::Array(last)) => ensure_type_fits(
            &era.element_type,
            &last.element_type,
            names,
            &format!("{path}.element"),
        ),
        (DataType::Map(era), DataType::Map(last)) => {
            ensure_type_fits(&era.key_type, &last.key_type, names, &format!("{path}.key"))?;
            ensure_type_fits(&era.value_type, &last.value_type, names, &format!("{path}.value"))
        }
        (era, last) => {
            let widens = matches!(
                (era.as_primitive(), last.as_primitive()),
                (Some(from), Some(to)) if from == to || is_widening(from, to)
                    || from == deltaic_protocol::schema::PrimitiveType::Void
            );
            if widens {
                return Ok(());
            }
            Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!("the column {path} was {era}, and is {last} by now: its changes fit no one schema"),
            )
            .with("field", path))
        }
    }
}
