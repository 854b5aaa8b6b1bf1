//! The columns of a checkpoint that are the same for every table.
//!
//! Protocol: *Checkpoint Schema*. Every column is nullable, as in the checkpoints of other writers.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StructArray, new_null_array};
use arrow_json::ReaderBuilder;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde::Serialize;

pub(super) fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the actions cannot be converted to checkpoint columns: {error}"),
    )
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

fn long(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

fn int(name: &str) -> Field {
    Field::new(name, DataType::Int32, true)
}

fn flag(name: &str) -> Field {
    Field::new(name, DataType::Boolean, true)
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
    let fields = vec![
        text("storageType"),
        text("pathOrInlineDv"),
        int("offset"),
        int("sizeInBytes"),
        long("cardinality"),
    ];
    group("deletionVector", fields)
}

/// Schema of an add as in the log; `stats` is the last column.
pub(super) fn add_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
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
        // Views: most of the bytes of a checkpoint are not copied between the pages of its files.
        Field::new("stats", DataType::Utf8View, true),
    ]))
}

/// Schema of a tombstone, which has neither statistics nor tags.
pub(super) fn remove_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        text("path"),
        long("deletionTimestamp"),
        flag("dataChange"),
        flag("extendedFileMetadata"),
        map("partitionValues"),
        long("size"),
        vector(),
        long("baseRowId"),
        long("defaultRowCommitVersion"),
    ]))
}

/// Columns of the actions other than file actions.
fn table_columns() -> Vec<Field> {
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
    ]
}

/// Columns of the actions that only the V2 spec has.
fn v2_columns() -> Vec<Field> {
    let sidecar = vec![
        text("path"),
        long("sizeInBytes"),
        long("modificationTime"),
        map("tags"),
    ];
    vec![
        group("checkpointMetadata", vec![long("version"), map("tags")]),
        group("sidecar", sidecar),
    ]
}

/// Schemas of the files of a checkpoint; the columns of adds differ between tables.
#[derive(Clone, Debug)]
pub(super) struct FileSchemas {
    /// A single file with all actions of the V1 spec.
    pub(super) flat: SchemaRef,
    /// A top-level file of the V2 spec, with the file actions in sidecars.
    pub(super) top_level: SchemaRef,
    /// A sidecar.
    pub(super) sidecar: SchemaRef,
}

impl FileSchemas {
    pub(super) fn of(add: &Fields) -> Self {
        let file_columns = |add: Fields| {
            vec![
                Field::new("add", DataType::Struct(add), true),
                Field::new("remove", DataType::Struct(remove_schema().fields().clone()), true),
            ]
        };
        let is_plain = |field: &&FieldRef| !field.name().ends_with("_parsed");
        let plain: Fields = add.iter().filter(is_plain).cloned().collect();
        let schema = |parts: &[Vec<Field>]| Arc::new(Schema::new(parts.concat()));
        let files = file_columns(add.clone());
        Self {
            flat: schema(&[table_columns(), files.clone()]),
            // These columns are empty, but some readers require them.
            top_level: schema(&[table_columns(), v2_columns(), file_columns(plain)]),
            sidecar: schema(&[files]),
        }
    }
}

/// Creates rows with one action each, all of one kind, in the schema of a file.
pub(super) fn rows_of(schema: &SchemaRef, action: &str, actions: StructArray) -> Result<RecordBatch> {
    let rows = actions.len();
    let actions: ArrayRef = Arc::new(actions);
    let column = |field: &FieldRef| {
        if field.name() == action {
            Arc::clone(&actions)
        } else {
            new_null_array(field.data_type(), rows)
        }
    };
    let columns = schema.fields().iter().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(failed)
}

/// Creates rows from values; each value is an object with the name of its action.
pub(super) fn rows_of_values(schema: &SchemaRef, values: &[impl Serialize]) -> Result<RecordBatch> {
    let mut decoder = ReaderBuilder::new(Arc::clone(schema))
        .build_decoder()
        .map_err(failed)?;
    decoder.serialize(values).map_err(failed)?;
    let rows = decoder.flush().map_err(failed)?;
    Ok(rows.unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(schema))))
}
