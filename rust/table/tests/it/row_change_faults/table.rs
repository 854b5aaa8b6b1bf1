//! Tables of some forms, and what they contain.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, NewTable, create};
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::{Descriptor, VectorLocation};
use deltaic_protocol::schema::{ColumnName, PrimitiveType, StructField, StructType};
use deltaic_storage::store_error;
use deltaic_table::changes::{ChangeOptions, Changes, stream_changes};
use deltaic_table::operations::{Append, run};
use deltaic_table::read::stream_scan;
use deltaic_table::scan::{Scan, ScanOptions};
use deltaic_table::transaction::{NewRows, SchemaMode};
use deltaic_testkit::table_builder::TableBuilder;
use futures::TryStreamExt;
use serde_json::Value;

/// The properties of a table, and whether it is partitioned or clustered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    properties: &'static [&'static str],
    is_partitioned: bool,
    is_clustered: bool,
}

const VECTORS: &str = "delta.enableDeletionVectors";
const FEED: &str = "delta.enableChangeDataFeed";
const TRACKING: &str = "delta.enableRowTracking";
const MAPPING: &str = "delta.columnMapping.mode";

impl Form {
    pub(super) const PLAIN: Self = Self::of(&[]);
    pub(super) const VECTORS: Self = Self::of(&[VECTORS]);
    pub(super) const TRACKED: Self = Self::of(&[FEED, TRACKING]);
    pub(super) const MAPPED_WITH_FEED: Self = Self::of(&[FEED, MAPPING]);
    pub(super) const VECTORS_WITH_FEED: Self = Self::of(&[FEED, VECTORS, MAPPING]);
    pub(super) const PARTITIONED: Self = Self::by_partition(&[FEED]);
    pub(super) const PARTITIONED_VECTORS: Self = Self::by_partition(&[VECTORS, MAPPING]);
    pub(super) const CLUSTERED: Self = Self {
        is_clustered: true,
        ..Self::of(&[FEED, TRACKING, VECTORS])
    };
    pub(super) const ALL: [Self; 6] = [
        Self::PLAIN,
        Self::VECTORS,
        Self::TRACKED,
        Self::MAPPED_WITH_FEED,
        Self::VECTORS_WITH_FEED,
        Self::PARTITIONED,
    ];

    const fn of(properties: &'static [&'static str]) -> Self {
        Self {
            properties,
            is_partitioned: false,
            is_clustered: false,
        }
    }

    const fn by_partition(properties: &'static [&'static str]) -> Self {
        Self {
            is_partitioned: true,
            ..Self::of(properties)
        }
    }

    pub(super) fn has_feed(self) -> bool {
        self.properties.contains(&FEED)
    }
}

/// The number of rows of each of the three files of a table.
pub(super) const ROWS_OF_FILE: i64 = 40;

/// The files of a table with the ids 0 to 119 in three files.
pub(super) struct Template {
    pub(super) form: Form,
    files: Vec<(String, Vec<u8>)>,
}

impl Template {
    pub(super) async fn of(form: Form) -> Result<Self> {
        let table = TableBuilder::new();
        let properties = form.properties.iter().map(|name| {
            let value = if *name == MAPPING { "name" } else { "true" };
            ((*name).to_owned(), value.to_owned())
        });
        let cluster_by = form.is_clustered.then_some(["part", "id"]);
        let cluster_by = cluster_by.iter().flatten().map(|name| ColumnName::parse(name));
        let new = NewTable {
            cluster_by: cluster_by.collect::<Result<_>>()?,
            properties: properties.collect(),
            partition_columns: form
                .is_partitioned
                .then(|| "part".to_owned())
                .into_iter()
                .collect(),
            ..new_table()
        };
        create(&table.location(), new, &CommitOptions::default()).await?;
        for file in 0..3 {
            let first = file * ROWS_OF_FILE;
            let (snapshot, options) = (open(&table).await?, CommitOptions::default());
            let append = Append {
                rows: NewRows::of(rows(first..first + ROWS_OF_FILE)),
                schema_mode: SchemaMode::Keep,
            };
            run(&snapshot, &append, options).await?;
        }
        let mut files = Vec::new();
        for path in stored_files(&table).await? {
            let read = table.location().read(&path).await;
            files.push((
                path,
                read.map_err(|error| store_error(&error, "a file"))?.to_vec(),
            ));
        }
        Ok(Self { form, files })
    }

    pub(super) async fn copy(&self) -> Result<TableBuilder> {
        let table = TableBuilder::new();
        for (path, bytes) in &self.files {
            table.put(path, bytes.clone()).await?;
        }
        Ok(table)
    }
}

pub(super) fn new_table() -> NewTable {
    let long = |name: &str| StructField::new(name, PrimitiveType::Long.into(), true);
    NewTable::of(StructType {
        fields: vec![long("id"), long("part")],
    })
}

/// Rows with these ids; `part` is the number of the file.
pub(super) fn rows(ids: impl IntoIterator<Item = i64>) -> Box<dyn RecordBatchReader + Send> {
    let ids = Int64Array::from_iter_values(ids);
    let parts: ArrayRef = Arc::new(ids.unary::<_, Int64Type>(|id| id / ROWS_OF_FILE));
    let ids: ArrayRef = Arc::new(ids);
    let batch = RecordBatch::try_from_iter([("id", ids), ("part", parts)]).expect("two columns");
    let schema = batch.schema();
    Box::new(RecordBatchIterator::new([Ok(batch)], schema))
}

pub(super) async fn open(table: &TableBuilder) -> Result<Snapshot> {
    Snapshot::load(table.location(), None, LoadOptions::default()).await
}

pub(super) async fn ids(table: &TableBuilder) -> Result<Vec<i64>> {
    let scan = Scan::try_new(open(table).await?, ScanOptions::default())?;
    let batches: Vec<RecordBatch> = stream_scan(&scan).await?.try_collect().await?;
    let mut ids: Vec<i64> = batches.iter().flat_map(ids_of).collect();
    ids.sort_unstable();
    Ok(ids)
}

fn ids_of(batch: &RecordBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

/// The changes of the newest version: types and ids.
pub(super) async fn changes(table: &TableBuilder) -> Result<Vec<(String, i64)>> {
    let options = ChangeOptions {
        first: open(table).await?.version(),
        last: None,
        columns: None,
        infer: false,
    };
    let changes = Changes::plan(&table.location(), options, LoadOptions::default()).await?;
    let batches: Vec<RecordBatch> = stream_changes(&changes).try_collect().await?;
    let mut found = Vec::new();
    for batch in &batches {
        let types = batch.column_by_name("_change_type").expect("change types");
        let types = types.as_string::<i32>().iter().flatten().map(str::to_owned);
        found.extend(types.zip(ids_of(batch)));
    }
    found.sort_unstable();
    Ok(found)
}

async fn stored_files(table: &TableBuilder) -> Result<Vec<String>> {
    let listed: Vec<_> = table
        .location()
        .store()
        .list(None)
        .try_collect()
        .await
        .map_err(|error| store_error(&error, "a listing"))?;
    let paths = listed
        .iter()
        .map(|file| file.location.as_ref().trim_start_matches("t/"));
    Ok(paths.map(str::to_owned).collect())
}

/// The files outside of the log folder that no commit names.
pub(super) async fn unnamed_files(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let (mut stored, mut named) = (BTreeSet::new(), BTreeSet::new());
    for path in stored_files(table).await? {
        if !path.starts_with("_delta_log/") {
            stored.insert(path);
        } else if path.ends_with(".json") {
            let text = table.location().read(&path).await;
            let text = text.map_err(|error| store_error(&error, "a commit"))?;
            for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let action: Value = serde_json::from_slice(line).expect("an action");
                for file in [&action["add"], &action["cdc"]] {
                    named.extend(file["path"].as_str().map(str::to_owned));
                }
                if let Ok(vector) =
                    serde_json::from_value::<Descriptor>(action["add"]["deletionVector"].clone())
                    && let VectorLocation::File(path) = vector.validate()?
                {
                    named.insert(path.into_owned());
                }
            }
        }
    }
    Ok(stored.difference(&named).cloned().collect())
}
