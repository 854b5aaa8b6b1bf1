//! Arbitrary bytes as a data file: rows or a typed error, the same in both forms of strings, and never invalid arrays.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a panic reports a violated invariant"
)]

use std::sync::{Arc, LazyLock};

use arrow_array::{Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::schema::schema_from_arrow;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_table::read::stream_scan;
use deltaic_table::scan::{Scan, ScanOptions, StringsAs};
use deltaic_testkit::untrusted::panics;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_thread_start(panics::watch_too())
        .build();
    runtime.expect("a runtime can be created")
});

/// Panics if the bytes violate the invariant.
pub(crate) fn check_invariants(bytes: &[u8]) {
    let file = bytes.to_vec();
    let work = async move {
        let snapshot = table_of(file).await?;
        Ok::<_, Error>([
            read(&snapshot, StringsAs::Utf8).await,
            read(&snapshot, StringsAs::View).await,
        ])
    };
    let read = RUNTIME.block_on(async { RUNTIME.spawn(work).await.expect("reading does not panic") });
    match read.expect("the log of the table is valid") {
        [Ok(texts), Ok(views)] => {
            let [texts, views] = [texts, views].map(|rows| comparable(&rows));
            assert!(texts == views, "{texts:?}\n{views:?}");
        }
        [Err(texts), Err(views)] => [texts, views].iter().for_each(is_typed),
        [texts, views] => panic!("{:?}\n{:?}", texts.map(|_| ()), views.map(|_| ())),
    }
}

/// The columns of the table, of which a file may have others.
fn columns() -> Schema {
    let item = Arc::new(Field::new("element", DataType::Utf8, true));
    Schema::new(vec![
        Field::new("t", DataType::Utf8, true),
        Field::new("b", DataType::Binary, true),
        Field::new("n", DataType::Int64, true),
        Field::new("x", DataType::Float64, true),
        Field::new("f", DataType::Boolean, true),
        Field::new("d", DataType::Decimal128(20, 2), true),
        Field::new("l", DataType::List(item), true),
    ])
}

/// A table with one data file.
async fn table_of(file: Vec<u8>) -> Result<Snapshot> {
    let schema = schema_from_arrow(&columns())?.to_json();
    let lines = [
        serde_json::json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}),
        serde_json::json!({"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}},
            "schemaString": schema, "partitionColumns": [], "configuration": {}, "createdTime": 0}}),
        serde_json::json!({"add": {"path": "a.parquet", "partitionValues": {}, "size": file.len(),
            "modificationTime": 0, "dataChange": true}}),
    ];
    let commit: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let store = Arc::new(InMemory::new());
    let log = Path::from("t/_delta_log/00000000000000000000.json");
    let put = store.put(&log, commit.join("\n").into_bytes().into()).await;
    put.expect("the log is written");
    let put = store.put(&Path::from("t/a.parquet"), file.into()).await;
    put.expect("the file is written");
    let store: Arc<dyn ObjectStore> = store;
    let location = TableLocation::on_store("memory://t/".to_owned(), store, Path::from("t"));
    Snapshot::load(Arc::new(location), None, LoadOptions::default()).await
}

/// All rows, whose arrays must be valid.
async fn read(snapshot: &Snapshot, strings: StringsAs) -> Result<Vec<RecordBatch>> {
    let options = ScanOptions {
        strings,
        ..ScanOptions::default()
    };
    let scan = Scan::try_new(snapshot.clone(), options)?;
    let batches: Vec<RecordBatch> = stream_scan(&scan).await?.try_collect().await?;
    for column in batches.iter().flat_map(RecordBatch::columns) {
        column.to_data().validate_full().expect("the array is valid");
    }
    Ok(batches)
}

/// The rows with strings in one form.
fn comparable(batches: &[RecordBatch]) -> Option<RecordBatch> {
    let schema = Arc::new(columns());
    let batches = batches.iter().map(|batch| {
        let columns = batch.columns().iter().zip(schema.fields());
        let columns =
            columns.map(|(column, field)| cast(column, field.data_type()).expect("views become strings"));
        RecordBatch::try_new(Arc::clone(&schema), columns.collect()).expect("the columns of the table")
    });
    let batches: Vec<RecordBatch> = batches.filter(|batch| batch.num_rows() > 0).collect();
    (!batches.is_empty()).then(|| concat_batches(&schema, &batches).expect("few rows"))
}

fn is_typed(error: &Error) {
    let kinds = [
        ErrorKind::CorruptData,
        ErrorKind::SchemaMismatch,
        ErrorKind::UnsupportedFeature,
        ErrorKind::InvalidArgument,
        ErrorKind::StorageError,
    ];
    assert!(kinds.contains(&error.kind()), "{error:?}");
}
