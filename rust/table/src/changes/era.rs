//! The columns of files as they were at a version, seen through the schema of the range's last version.

use deltaic_log::changes::TableForm;
use deltaic_protocol::column_mapping::{ColumnMappingMode, physical_name};
use deltaic_protocol::features::ensure_readable;
use deltaic_protocol::schema::{DataType, StructField, StructType, is_widening};
use deltaic_protocol::{Error, ErrorKind, Result, Version};

/// What holds from one change of metadata or protocol to the next.
#[derive(Clone, Debug)]
pub(super) struct Era {
    form: TableForm,
    /// The columns of the last schema that files of the era are partitioned by.
    pub(super) partition_columns: Vec<String>,
    /// How columns are found in files of the era.
    pub(super) column_mapping: ColumnMappingMode,
    /// Whether the table keeps a change feed.
    pub(super) keeps_feed: bool,
}

impl Era {
    /// Proves that files of the era can be read through the last schema.
    ///
    /// Errors: `UnsupportedFeature` where its protocol asks for what is not implemented, `SchemaMismatch` where a column
    /// had a type that the last one does not hold.
    pub(super) fn try_new(form: &TableForm, last: &StructType, version: Version) -> Result<Self> {
        let (protocol, metadata) = (&form.protocol, &form.metadata);
        let schema = metadata.schema()?;
        ensure_readable(protocol, metadata, &schema)?;
        let column_mapping = ColumnMappingMode::of(protocol, metadata)?;
        ensure_fits(&schema, last, column_mapping, "").map_err(|error| {
            error.with("version", version).hint(format!(
                "ask for changes up to the version before {version}, and from it on, by themselves"
            ))
        })?;
        let of_era = metadata
            .partition_columns
            .iter()
            .filter_map(|name| schema.field(name));
        let partition_columns = of_era
            .filter_map(|field| same_column(last, field, column_mapping))
            .map(|field| field.name.clone())
            .collect();
        let keeps_feed = metadata
            .property("delta.enableChangeDataFeed")
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        Ok(Self {
            form: form.clone(),
            partition_columns,
            column_mapping,
            keeps_feed,
        })
    }

    /// Whether it still holds.
    pub(super) fn holds(&self, form: &TableForm) -> bool {
        self.form.is(form)
    }
}

/// The column of another schema that is the same one: mapped columns keep their physical names, others their names.
fn same_column<'a>(
    schema: &'a StructType,
    field: &StructField,
    mode: ColumnMappingMode,
) -> Option<&'a StructField> {
    if !mode.is_mapped() {
        return schema.field(&field.name);
    }
    let name = physical_name(field);
    schema.fields.iter().find(|other| physical_name(other) == name)
}

fn ensure_fits(era: &StructType, last: &StructType, mode: ColumnMappingMode, above: &str) -> Result<()> {
    for field in &era.fields {
        let path = if above.is_empty() {
            field.name.clone()
        } else {
            format!("{above}.{}", field.name)
        };
        // A column that was dropped is not in the last schema, and so not asked for.
        if let Some(newer) = same_column(last, field, mode) {
            ensure_type_fits(&field.data_type, &newer.data_type, mode, &path)?;
        }
    }
    Ok(())
}

fn ensure_type_fits(era: &DataType, last: &DataType, mode: ColumnMappingMode, path: &str) -> Result<()> {
    match (era, last) {
        (DataType::Struct(era), DataType::Struct(last)) => ensure_fits(era, last, mode, path),
        (DataType::Array(era), DataType::Array(last)) => ensure_type_fits(
            &era.element_type,
            &last.element_type,
            mode,
            &format!("{path}.element"),
        ),
        (DataType::Map(era), DataType::Map(last)) => {
            ensure_type_fits(&era.key_type, &last.key_type, mode, &format!("{path}.key"))?;
            ensure_type_fits(&era.value_type, &last.value_type, mode, &format!("{path}.value"))
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
