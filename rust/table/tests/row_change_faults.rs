//! Verbs that change rows, on a store where any request fails: the table is as before or as after, the outcome that is
//! reported is true, and no file remains that no version names.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, Committed, NewTable, create};
use deltaic_protocol::expr::{ValueExpr, parse_predicate};
use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_storage::store_error;
use deltaic_table::read::stream_scan;
use deltaic_table::scan::{Scan, ScanOptions};
use deltaic_table::transaction::{Assignment, Replaced, append_stream, delete, overwrite_stream, update};
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::table_builder::TableBuilder;
use futures::TryStreamExt;

const PROPERTIES: [&[(&str, &str)]; 3] = [
    &[],
    &[("delta.enableDeletionVectors", "true")],
    &[
        ("delta.enableChangeDataFeed", "true"),
        ("delta.enableRowTracking", "true"),
    ],
];

/// The faults of requests: lost before or after the store received them, refused, and cut off.
const FAULTS: [Fault; 5] = [
    Fault::RequestLost,
    Fault::AnswerLost,
    Fault::ServerError,
    Fault::PermissionDenied,
    Fault::Reset,
];

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(work)
}

/// A table of three files with the ids 0 to 9, 10 to 19 and 20 to 29.
async fn made(properties: &[(&str, &str)]) -> Result<TableBuilder> {
    let table = TableBuilder::new();
    let schema = StructType {
        fields: vec![StructField::new("id", PrimitiveType::Long.into(), true)],
    };
    let properties = properties
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let new = NewTable {
        properties: properties.collect(),
        ..NewTable::of(schema)
    };
    create(&table.location(), new, &CommitOptions::default()).await?;
    for first in [0, 10, 20] {
        append_stream(
            &open(&table).await?,
            rows(first..first + 10),
            CommitOptions::default(),
        )
        .await?;
    }
    Ok(table)
}

fn rows(ids: std::ops::Range<i64>) -> Box<dyn RecordBatchReader + Send> {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
    let batch = RecordBatch::try_from_iter([("id", column)]).expect("one column");
    let schema = batch.schema();
    Box::new(RecordBatchIterator::new([Ok(batch)], schema))
}

async fn open(table: &TableBuilder) -> Result<Snapshot> {
    Snapshot::load(table.location(), None, LoadOptions::default()).await
}

async fn ids(table: &TableBuilder) -> Result<Vec<i64>> {
    let scan = Scan::try_new(open(table).await?, ScanOptions::default())?;
    let batches: Vec<RecordBatch> = stream_scan(&scan).await?.try_collect().await?;
    let mut ids: Vec<i64> = batches
        .iter()
        .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

/// The files outside of the log folder that no commit names.
async fn unnamed_files(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let location = table.location();
    let (mut stored, mut named) = (BTreeSet::new(), BTreeSet::new());
    let failed = |error| store_error(&error, "a listing");
    let found: Vec<_> = location.store().list(None).try_collect().await.map_err(failed)?;
    for file in found {
        let relative = file.location.as_ref().trim_start_matches("t/").to_owned();
        if !relative.starts_with("_delta_log/") {
            stored.insert(relative);
        } else if relative.ends_with(".json") {
            let text = location.read(&relative).await.map_err(failed)?;
            named.insert(String::from_utf8_lossy(&text).into_owned());
        }
    }
    let all = named.iter().map(String::as_str).collect::<Vec<_>>().concat();
    let is_vector = |file: &String| file.ends_with(".bin");
    let has_vector = all.contains("\"storageType\":\"u\"");
    let unnamed = stored.iter().filter(|file| {
        if is_vector(file) {
            !has_vector
        } else {
            !all.contains(file.as_str())
        }
    });
    Ok(unnamed.cloned().collect())
}

/// A verb that changes the rows 3, 4, 15 and from 20 on.
#[derive(Clone, Copy, Debug)]
enum Verb {
    Delete,
    Update,
    Overwrite,
}

const WHERE: &str = "id IN (3, 4, 15) OR id >= 20";

impl Verb {
    async fn run(self, table: &TableBuilder) -> Result<Committed> {
        let (snapshot, options) = (open(table).await?, CommitOptions::default());
        let predicate = parse_predicate(WHERE)?;
        match self {
            Self::Delete => delete(&snapshot, Some(predicate), options, Vec::new()).await,
            Self::Update => {
                let assignment = Assignment {
                    column: "id".to_owned(),
                    value: ValueExpr::parse("id + 100")?,
                };
                update(&snapshot, vec![assignment], Some(predicate), options, Vec::new()).await
            }
            Self::Overwrite => {
                let replaced = Replaced::Where(predicate);
                overwrite_stream(&snapshot, rows(50..52), replaced, options, Vec::new()).await
            }
        }
    }

    /// The ids after it.
    fn after(self) -> Vec<i64> {
        let is_changed = |id: &i64| [3, 4, 15].contains(id) || *id >= 20;
        let (changed, kept): (Vec<i64>, Vec<i64>) = (0..30).partition(is_changed);
        let new: Vec<i64> = match self {
            Self::Delete => Vec::new(),
            Self::Update => changed.iter().map(|id| id + 100).collect(),
            Self::Overwrite => vec![50, 51],
        };
        [kept, new].concat()
    }
}

fn hold(verb: Verb) -> Result<()> {
    let (before, after): (Vec<i64>, _) = ((0..30).collect(), verb.after());
    for properties in PROPERTIES {
        let mut outcomes = BTreeSet::new();
        for fault in FAULTS {
            for number in 0.. {
                let how = format!("{verb:?}, {properties:?}, {fault:?} at request {number}");
                let table = block_on(made(properties))?;
                let met = table.scripted().faults_met();
                table
                    .scripted()
                    .fail(Rule::new(fault).requests(number..number + 1));
                let outcome = block_on(verb.run(&table));
                let was_met = table.scripted().faults_met() > met;
                table.scripted().heal();
                let found = block_on(ids(&table))?;
                let unnamed = block_on(unnamed_files(&table))?;
                match outcome {
                    Ok(committed) => {
                        assert_eq!(found, after, "{how}");
                        assert!(!committed.skipped, "{how}");
                        assert!(unnamed.is_empty(), "{how}: {unnamed:?}");
                        outcomes.insert("committed");
                    }
                    Err(error) if error.kind() == ErrorKind::CommitUnknown => {
                        assert!(found == before || found == after, "{how}: {error}");
                        outcomes.insert("unknown");
                    }
                    Err(error) => {
                        assert_eq!(found, before, "{how}: {error}");
                        assert!(unnamed.is_empty(), "{how}: {error}: {unnamed:?}");
                        outcomes.insert("failed");
                    }
                }
                if !was_met {
                    assert!(number > 5, "{verb:?} makes requests");
                    break;
                }
            }
        }
        assert!(
            outcomes.contains("failed") && outcomes.contains("committed"),
            "{outcomes:?}"
        );
    }
    Ok(())
}

#[test]
fn a_deletion_on_a_store_that_fails_is_whole_or_nothing() -> Result<()> {
    hold(Verb::Delete)
}

#[test]
fn an_update_on_a_store_that_fails_is_whole_or_nothing() -> Result<()> {
    hold(Verb::Update)
}

#[test]
fn an_overwrite_on_a_store_that_fails_is_whole_or_nothing() -> Result<()> {
    hold(Verb::Overwrite)
}
