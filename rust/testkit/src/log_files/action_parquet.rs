//! Actions as Parquet, under the schema of a checkpoint.
//!
//! Protocol: *Checkpoint Schema*.

use std::sync::Arc;

use arrow_json::ReaderBuilder;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::checkpoint_form::{CheckpointForm, StatisticsForm};
use crate::oracle::State;

/// Columns and row group size of a Parquet file of actions.
pub(crate) struct ActionParquet {
    columns: Vec<Field>,
    is_sparse: bool,
    row_group_rows: usize,
}

impl ActionParquet {
    /// All columns that a checkpoint of this state and form may have.
    pub(crate) fn of(state: &State, form: &CheckpointForm) -> Result<Self> {
        let metadata = state.metadata.clone().unwrap_or_default();
        let schema = metadata["schemaString"].as_str().unwrap_or("{}");
        let schema: Value = serde_json::from_str(schema).map_err(failed)?;
        let (partition, data): (Vec<Field>, Vec<Field>) = schema["fields"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(column)
            .partition(|field| {
                let names = metadata["partitionColumns"].as_array().into_iter().flatten();
                names.into_iter().any(|name| name.as_str() == Some(field.name()))
            });
        let mut add = add_fields();
        if matches!(form.statistics, StatisticsForm::Text | StatisticsForm::Both) {
            add.push(text("stats"));
        }
        if matches!(form.statistics, StatisticsForm::Columns | StatisticsForm::Both) {
            add.push(group("stats_parsed", statistics_fields(&data)));
        }
        if form.partition_columns && !partition.is_empty() {
            add.push(group("partitionValues_parsed", partition));
        }
        let mut columns = vec![group("add", add), group("remove", remove_fields())];
        columns.extend(rare_columns());
        Ok(Self {
            columns,
            is_sparse: form.is_sparse,
            row_group_rows: form.row_group_rows,
        })
    }

    /// Columns of a V1 checkpoint.
    pub(crate) fn of_v1(&self) -> Self {
        self.only(|name| name != "sidecar" && name != "checkpointMetadata")
    }

    /// Columns of a V2 top level.
    pub(crate) fn of_v2(&self) -> Self {
        self.only(|_| true)
    }

    /// Columns of a sidecar.
    pub(crate) fn of_sidecar(&self) -> Self {
        self.only(|name| name == "add" || name == "remove")
    }

    fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self {
            columns: self
                .columns
                .iter()
                .filter(|field| keep(field.name()))
                .cloned()
                .collect(),
            is_sparse: self.is_sparse,
            row_group_rows: self.row_group_rows,
        }
    }
}

/// Writes the actions as Parquet; fields without a column are dropped.
pub(crate) fn write(kind: &ActionParquet, rows: &[Value]) -> Result<Vec<u8>> {
    let columns = match kind.is_sparse && !rows.is_empty() {
        true => filled(&kind.columns, &rows.iter().collect::<Vec<_>>()),
        false => kind.columns.clone(),
    };
    let schema: SchemaRef = Arc::new(Schema::new(columns));
    let mut decoder = ReaderBuilder::new(Arc::clone(&schema))
        .with_batch_size(rows.len().max(1))
        .build_decoder()
        .map_err(failed)?;
    decoder.serialize(rows).map_err(failed)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(kind.row_group_rows.max(1)))
        .build();
    // Other writers do not embed an Arrow schema, so this one does not either.
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), schema, options).map_err(failed)?;
    if let Some(batch) = decoder.flush().map_err(failed)? {
        writer.write(&batch).map_err(failed)?;
    }
    writer.into_inner().map_err(failed)
}

/// The columns with at least one value; of structs, the members with at least one.
fn filled(columns: &[Field], rows: &[&Value]) -> Vec<Field> {
    let filled = columns.iter().filter_map(|field| {
        let values: Vec<&Value> = rows
            .iter()
            .map(|row| &row[field.name()])
            .filter(|value| !value.is_null())
            .collect();
        match field.data_type() {
            _ if values.is_empty() => None,
            DataType::Struct(members) => {
                let members: Vec<Field> = members.iter().map(|member| member.as_ref().clone()).collect();
                let members = self::filled(&members, &values);
                (!members.is_empty()).then(|| group(field.name(), members))
            }
            _ => Some(field.clone()),
        }
    });
    filled.collect()
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the test's actions cannot be converted to a checkpoint: {error}"),
    )
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

fn long(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

fn flag(name: &str) -> Field {
    Field::new(name, DataType::Boolean, true)
}

fn int(name: &str) -> Field {
    Field::new(name, DataType::Int32, true)
}

fn texts(name: &str) -> Field {
    Field::new_list(name, Field::new("element", DataType::Utf8, true), true)
}

fn group(name: &str, fields: Vec<Field>) -> Field {
    Field::new(name, DataType::Struct(Fields::from(fields)), true)
}

fn map(name: &str) -> Field {
    let (key, value) = (Field::new("key", DataType::Utf8, false), text("value"));
    Field::new_map(name, "key_value", key, value, false, true)
}

fn vector() -> Field {
    group(
        "deletionVector",
        vec![
            text("storageType"),
            text("pathOrInlineDv"),
            int("offset"),
            int("sizeInBytes"),
            long("cardinality"),
        ],
    )
}

fn add_fields() -> Vec<Field> {
    vec![
        text("path"),
        map("partitionValues"),
        long("size"),
        long("modificationTime"),
        flag("dataChange"),
        map("tags"),
        vector(),
        long("baseRowId"),
        long("defaultRowCommitVersion"),
        text("clusteringProvider"),
    ]
}

fn remove_fields() -> Vec<Field> {
    vec![
        text("path"),
        long("deletionTimestamp"),
        flag("dataChange"),
        flag("extendedFileMetadata"),
        map("partitionValues"),
        long("size"),
        vector(),
        long("baseRowId"),
        long("defaultRowCommitVersion"),
    ]
}

fn rare_columns() -> Vec<Field> {
    let format = group("format", vec![text("provider"), map("options")]);
    vec![
        group("txn", vec![text("appId"), long("version"), long("lastUpdated")]),
        group(
            "metaData",
            vec![
                text("id"),
                text("name"),
                text("description"),
                format,
                text("schemaString"),
                texts("partitionColumns"),
                map("configuration"),
                long("createdTime"),
            ],
        ),
        group(
            "protocol",
            vec![
                int("minReaderVersion"),
                int("minWriterVersion"),
                texts("readerFeatures"),
                texts("writerFeatures"),
            ],
        ),
        group(
            "domainMetadata",
            vec![text("domain"), text("configuration"), flag("removed")],
        ),
        group("checkpointMetadata", vec![long("version"), map("tags")]),
        group(
            "sidecar",
            vec![
                text("path"),
                long("sizeInBytes"),
                long("modificationTime"),
                map("tags"),
            ],
        ),
    ]
}

/// A column of the table, or `None` if the tests' tables do not use its type.
fn column(field: &Value) -> Option<Field> {
    let name = field["name"].as_str()?;
    let data_type = match field["type"].as_str()? {
        "long" => DataType::Int64,
        "integer" => DataType::Int32,
        "double" => DataType::Float64,
        "string" => DataType::Utf8,
        "date" => DataType::Date32,
        _ => return None,
    };
    Some(Field::new(name, data_type, true))
}

fn statistics_fields(data: &[Field]) -> Vec<Field> {
    let counts = data.iter().map(|field| long(field.name())).collect();
    vec![
        long("numRecords"),
        flag("tightBounds"),
        group("minValues", data.to_vec()),
        group("maxValues", data.to_vec()),
        group("nullCount", counts),
    ]
}
