//! Converts a folder of Parquet files to a table in place: its first commit adds the files.
//!
//! Protocol: *Data Files*, *Partition Value Serialization*, *Per-file Statistics*.

mod folder_files;
mod merged_schema;
mod partition_folders;

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::progress::Stage;
use deltaic_log::snapshot::{LoadOptions, exists};
use deltaic_log::transaction::{
    CommitOptions, Committed, IfExists, NewContents, NewTable, Operation, OperationDetails, already_done,
    create_with_files,
};
use deltaic_protocol::actions::Add;
use deltaic_protocol::path_encoding::encode_path;
use deltaic_protocol::schema::{StructType, schema_from_arrow};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::{TableLocation, start};
use futures::{StreamExt, TryStreamExt};
use serde_json::json;

use self::folder_files::{FolderFile, files_of};
use self::merged_schema::{ensure_stored_as_delta, merge, nullable};
use self::partition_folders::PartitionFolders;
use crate::read::{Footer, int96_as_instants};
use crate::write::footer_statistics::footer_statistics;

/// The number of footers that are read concurrently from a network store. Each takes the memory of one footer.
const IN_FLIGHT: usize = 32;

const EXISTS: &str = "a Delta table already exists at this location, so there is nothing to convert";

/// A folder to convert.
#[derive(Clone, Debug)]
pub struct ConvertRequest {
    /// The folder.
    pub location: Arc<TableLocation>,
    /// The partition columns, outermost first; empty if the folder has no partition folders.
    pub partition_schema: StructType,
    /// Whether the footers' statistics become those of the table.
    pub statistics: bool,
}

/// What a conversion does.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertSummary {
    /// The schema of the table.
    pub schema: StructType,
    /// The number of files.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: i64,
    /// The number of their rows.
    pub rows: u64,
}

/// Creates a table of the Parquet files in a folder, in one commit. Reads only their footers, and writes no data file.
/// Returns a skipped commit if the folder is a table that records the application transaction of `options`.
///
/// Must be called inside a runtime.
///
/// # Errors
///
/// `TableExists` if the folder is a table; `InvalidArgument` if it contains no file or another table, or if its folders
/// are not those of the partition columns; `CorruptData` with the `path` of a file that is not Parquet; `SchemaMismatch`
/// with the `path` and the `field` if a column differs between files, or has a type that Delta does not have; errors of
/// a commit.
pub async fn convert(request: &ConvertRequest, options: &CommitOptions) -> Result<Committed> {
    if let Some(app) = &options.app_transaction
        && exists(&request.location).await?
    {
        let table = Snapshot::load(Arc::clone(&request.location), None, LoadOptions::default()).await?;
        if let Some(done) = already_done(&table, app) {
            return Ok(done);
        }
    }
    let found = contents(request, options).await?;
    let partitions = &found.table.partition_columns;
    let count = i64::try_from(found.adds.len()).unwrap_or(i64::MAX);
    let contents = NewContents {
        configuration: configuration_of(&found.table, &request.location)?,
        operation: Operation::Convert,
        details: OperationDetails {
            parameters: vec![
                ("numFiles", count.to_string()),
                ("partitionedBy", json!(partitions).to_string()),
                ("collectStats", request.statistics.to_string()),
                ("sourceFormat", "parquet".to_owned()),
            ],
            metrics: vec![("numConvertedFiles", count)],
        },
        adds: found.adds,
        if_exists: IfExists::Error,
    };
    let committed = create_with_files(&request.location, &contents, options).await?;
    committed.ok_or_else(|| Error::internal("a conversion was neither made nor refused"))
}

/// Returns what [`convert`] would do. Nothing is written.
///
/// # Errors
///
/// Those of [`convert`], except for those of its commit.
pub async fn preview_convert(request: &ConvertRequest, options: &CommitOptions) -> Result<ConvertSummary> {
    let found = contents(request, options).await?;
    let configuration = configuration_of(&found.table, &request.location)?;
    Ok(ConvertSummary {
        schema: Arc::unwrap_or_clone(configuration.schema()?),
        files: found.adds.len(),
        bytes: found.adds.iter().map(|add| add.size).fold(0, i64::saturating_add),
        rows: found.rows,
    })
}

/// The configuration of the new table; the names of its columns are those of the files.
fn configuration_of(table: &NewTable, location: &TableLocation) -> Result<TableConfiguration> {
    table.configuration().map_err(|error| {
        let error = error.with("table", location.uri());
        match error.context().iter().any(|(key, _)| *key == "field") {
            true => error.hint("rename the column in the files, or append their rows to a new table"),
            false => error,
        }
    })
}

/// The table and its files.
struct Contents {
    table: NewTable,
    adds: Vec<Add>,
    rows: u64,
}

async fn contents(request: &ConvertRequest, options: &CommitOptions) -> Result<Contents> {
    let location = &request.location;
    let located = |error: Error| error.with("table", location.uri());
    if exists(location).await? {
        return Err(located(
            Error::new(ErrorKind::TableExists, EXISTS).hint("open it with deltaic.Table"),
        ));
    }
    let files = files_of(location).await.map_err(located)?;
    let total = u64::try_from(files.len()).unwrap_or(u64::MAX);
    options.progress.begin(Stage::Files, total);
    let folders = Arc::new(PartitionFolders::try_new(&request.partition_schema).map_err(located)?);
    let mut schema = StructType { fields: Vec::new() };
    let mut adds = Vec::with_capacity(files.len());
    let mut rows = 0u64;
    let converted = files
        .into_iter()
        .map(|file| start(converted(request.clone(), Arc::clone(&folders), file)));
    let mut converted = futures::stream::iter(converted).buffered(location.at_once(IN_FLIGHT));
    while let Some(of_file) = converted.try_next().await.map_err(located)? {
        merge(&mut schema, &of_file.schema)
            .map_err(|error| located(error.with("path", of_file.relative.as_str())))?;
        rows = rows.saturating_add(of_file.rows);
        adds.push(of_file.add);
        options.progress.step();
    }
    drop(converted);
    let partition_columns = folders.add_columns(&mut schema);
    Ok(Contents {
        table: NewTable {
            partition_columns,
            ..NewTable::of(schema)
        },
        adds,
        rows,
    })
}

/// What the footer of a file says.
struct OfFile {
    relative: String,
    add: Add,
    schema: StructType,
    rows: u64,
}

/// Reads the footer of a file.
async fn converted(
    request: ConvertRequest,
    folders: Arc<PartitionFolders>,
    file: FolderFile,
) -> Result<OfFile> {
    let located = |error: Error| error.with("path", file.relative.as_str());
    let location = &request.location;
    let partition_values = folders.values_of(&file.relative).map_err(located)?;
    let place = location.below(&file.relative)?;
    let store = Arc::clone(location.store());
    let footer = Footer::fetch(store, place, file.size, &file.relative)
        .await
        .map_err(located)?;
    ensure_stored_as_delta(footer.schema.fields()).map_err(located)?;
    let about = footer.metadata.file_metadata();
    let arrow = int96_as_instants(&footer.schema, about.schema_descr());
    let mut schema = schema_from_arrow(&arrow).map_err(located)?;
    // A file may have a column like that of a partition; the values of the folders apply.
    schema.fields.retain(|field| !folders.has(&field.name));
    nullable(&mut schema);
    let rows = u64::try_from(about.num_rows()).unwrap_or(0);
    let stats = match request.statistics {
        true => footer_statistics(&footer, &schema).map_err(located)?,
        false => format!("{{\"numRecords\":{rows}}}"),
    };
    let add = Add {
        path: encode_path(&file.relative),
        partition_values,
        size: file.size,
        modification_time: file.modified_ms,
        data_change: true,
        stats: Some(stats),
        ..Add::default()
    };
    Ok(OfFile {
        relative: file.relative,
        add,
        schema,
        rows,
    })
}
