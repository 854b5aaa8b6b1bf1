//! A task: one file to read, with everything needed to read it.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::Schema;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::expr::{BoundPredicate, Predicate, parse_predicate};
use deltaic_protocol::row_tracking::MaterializedColumns;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::location::StorageOptions;
use serde::{Deserialize, Serialize};

use super::rows::Rows;
use super::{Selection, StringsAs, VariantAs};

/// The state that all tasks of a scan share.
#[derive(Clone, Debug)]
pub struct ScanContext {
    pub(crate) location: Arc<TableLocation>,
    pub(crate) version: Version,
    /// The complete schema of the table: a predicate may use columns that are not in the output.
    pub(crate) table_schema: Arc<StructType>,
    pub(crate) partition_columns: Vec<String>,
    /// How columns are found in files.
    pub(crate) column_mapping: ColumnMappingMode,
    /// The output columns, in order.
    pub(crate) output: StructType,
    /// The columns in which files store row ids and row commit versions of copied rows; `None` if they are not
    /// requested.
    pub(crate) row_columns: Option<MaterializedColumns>,
    /// Whether the output has the columns with each row's file and its position there.
    pub(crate) positions: bool,
    pub(crate) predicate: Option<(Predicate, BoundPredicate)>,
    /// Rows for which this is not true need not be read.
    pub(crate) skips: Option<BoundPredicate>,
    pub(crate) batch_size: Option<usize>,
    pub(crate) variant: VariantAs,
    pub(crate) strings: StringsAs,
}

impl ScanContext {
    /// The Arrow schema of the output.
    pub(crate) fn arrow_schema(&self) -> Result<Schema> {
        Ok(self.strings.of_schema(self.output.to_arrow()?))
    }

    pub(crate) fn with_strings(&self, strings: StringsAs) -> Arc<Self> {
        Arc::new(Self {
            strings,
            ..self.clone()
        })
    }

    /// Whether data files contain columns: not every column of the table is a partition column.
    pub(crate) fn has_data_columns(&self) -> bool {
        let mut fields = self.table_schema.fields.iter();
        self.table_schema.fields.is_empty()
            || fields.any(|field| !self.partition_columns.contains(&field.name))
    }

    /// Returns `numRecords` of a file if its data file has no columns, so that its row count may be lost.
    pub(crate) fn without_data_columns(&self, num_records: Option<i64>) -> Option<u64> {
        let lost = num_records.filter(|_| !self.has_data_columns());
        lost.and_then(|rows| u64::try_from(rows).ok())
    }

    /// Returns the output columns with their types in the table, before any conversion for output.
    pub(crate) fn in_table(&self) -> Vec<StructField> {
        let in_table = |field: &StructField| match self.table_schema.field(&field.name) {
            Some(found) => StructField {
                data_type: of_shape(&found.data_type, &field.data_type),
                ..found.clone()
            },
            None => field.clone(),
        };
        self.output.fields.iter().map(in_table).collect()
    }
}

/// Returns a type of the table, with structs reduced to the fields in the output.
fn of_shape(table: &DataType, output: &DataType) -> DataType {
    let (DataType::Struct(all), DataType::Struct(chosen)) = (table, output) else {
        return table.clone();
    };
    let fields = chosen.fields.iter().map(|field| {
        let found = all.field(&field.name)?;
        Some(StructField {
            data_type: of_shape(&found.data_type, &field.data_type),
            ..found.clone()
        })
    });
    match fields.collect() {
        Some(fields) => DataType::Struct(StructType { fields }),
        None => table.clone(),
    }
}

/// One file to read. It is independent of the log and can be sent to another process.
#[derive(Clone, Debug)]
pub struct ScanTask {
    pub(crate) context: Arc<ScanContext>,
    pub(crate) path: String,
    pub(crate) size: i64,
    pub(crate) partition_values: BTreeMap<String, Option<String>>,
    pub(crate) selection: Selection,
    /// The row id of the file's first row.
    pub(crate) base_row_id: Option<i64>,
    /// The version that added the file.
    pub(crate) default_row_commit_version: Option<i64>,
    /// `numRecords` of the file, set only if every column of the table is a partition column.
    pub(crate) num_records: Option<u64>,
    /// The rows to read; `Rows::All` until the selection's deletion vectors have been read.
    pub(crate) rows: Rows,
}

/// The serialized form of a task.
#[derive(Serialize, Deserialize)]
struct Wire {
    format: u32,
    uri: String,
    /// The options of the store, including secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    storage_options: BTreeMap<String, String>,
    allowed_roots: Vec<String>,
    version: i64,
    schema: String,
    partition_columns: Vec<String>,
    column_mapping: ColumnMappingMode,
    /// The output columns, as a schema.
    output: String,
    /// The columns of a file that store row ids and row commit versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    row_columns: Option<(String, String)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    positions: bool,
    predicate: Option<String>,
    batch_size: Option<usize>,
    #[serde(default, skip_serializing_if = "VariantAs::is_default")]
    variant: VariantAs,
    #[serde(default, skip_serializing_if = "StringsAs::is_default")]
    strings: StringsAs,
    path: String,
    size: i64,
    partition_values: BTreeMap<String, Option<String>>,
    selection: Selection,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_row_id: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default_row_commit_version: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    num_records: Option<u64>,
}

const FORMAT: u32 = 3;

impl ScanTask {
    /// The path of the file, as in the log.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The size of the file in bytes, as in the log.
    #[must_use]
    pub fn size_in_bytes(&self) -> i64 {
        self.size
    }

    /// The residual predicate on the file's rows, as SQL text: the part of the scan's predicate that partition values
    /// do not decide. `None` if every row matches.
    pub fn predicate(&self) -> Result<Option<String>> {
        Ok(self.residual()?.predicate.map(|predicate| predicate.to_string()))
    }

    /// The output columns.
    #[must_use]
    pub fn schema(&self) -> &StructType {
        &self.context.output
    }

    /// The Arrow schema of the output.
    ///
    /// # Errors
    ///
    /// None that the scan did not return.
    pub fn arrow_schema(&self) -> Result<Schema> {
        self.context.arrow_schema()
    }

    /// The same task with another form of strings.
    #[must_use]
    pub fn with_strings(&self, strings: StringsAs) -> Self {
        Self {
            context: self.context.with_strings(strings),
            ..self.clone()
        }
    }

    /// Serializes the task, for another process that can reach the same store. The bytes contain the storage options,
    /// including secrets.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let context = &self.context;
        let wire = Wire {
            format: FORMAT,
            uri: context.location.uri().to_owned(),
            storage_options: context.location.options().as_map().clone(),
            allowed_roots: context.location.allowed_roots().to_vec(),
            version: context.version.as_i64(),
            schema: context.table_schema.to_json(),
            partition_columns: context.partition_columns.clone(),
            column_mapping: context.column_mapping,
            output: context.output.to_json(),
            row_columns: context
                .row_columns
                .as_ref()
                .map(|columns| (columns.row_id.clone(), columns.row_commit_version.clone())),
            positions: context.positions,
            predicate: context
                .predicate
                .as_ref()
                .map(|(predicate, _)| predicate.text().to_owned()),
            batch_size: context.batch_size,
            variant: context.variant,
            strings: context.strings,
            path: self.path.clone(),
            size: self.size,
            partition_values: self.partition_values.clone(),
            selection: self.selection.clone(),
            base_row_id: self.base_row_id,
            default_row_commit_version: self.default_row_commit_version,
            num_records: self.num_records,
        };
        serde_json::to_vec(&wire).map_err(|error| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("the task cannot be sent: {error}"),
            )
        })
    }

    /// Deserializes a task.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = |why: String| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("these bytes are not a scan task: {why}"),
            )
            .hint("both processes need the same version of deltaic")
        };
        let wire: Wire = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if wire.format != FORMAT {
            return Err(wrong(format!("their format is {}, not {FORMAT}", wire.format)));
        }
        let table_schema = Arc::new(StructType::from_json(&wire.schema)?);
        let predicate = match wire.predicate {
            Some(text) => {
                let predicate = parse_predicate(&text)?;
                let bound = predicate.bind(&table_schema)?;
                Some((predicate, bound))
            }
            None => None,
        };
        Ok(Self {
            context: Arc::new(ScanContext {
                location: Arc::new(TableLocation::with_options(
                    &wire.uri,
                    StorageOptions::from(wire.storage_options),
                    wire.allowed_roots,
                )?),
                version: Version::try_new(wire.version)?,
                table_schema,
                partition_columns: wire.partition_columns,
                column_mapping: wire.column_mapping,
                output: StructType::from_json(&wire.output)?,
                row_columns: wire
                    .row_columns
                    .map(|(row_id, row_commit_version)| MaterializedColumns {
                        row_id,
                        row_commit_version,
                    }),
                positions: wire.positions,
                predicate,
                skips: None,
                batch_size: wire.batch_size,
                variant: wire.variant,
                strings: wire.strings,
            }),
            path: wire.path,
            size: wire.size,
            partition_values: wire.partition_values,
            selection: wire.selection,
            base_row_id: wire.base_row_id,
            default_row_commit_version: wire.default_row_commit_version,
            num_records: wire.num_records,
            rows: Rows::All,
        })
    }
}
