//! Requests of a scan: no byte twice, few sequential requests, and no more than necessary.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_protocol::expr::parse_predicate;
use deltaic_protocol::schema::schema_from_arrow;
use deltaic_table::read::stream_scan;
use deltaic_table::scan::{Scan, ScanOptions};
use deltaic_testkit::data_file::data_file;
use deltaic_testkit::requests::{Report, RequestKind};
use deltaic_testkit::table_builder::{TableBuilder, add};
use futures::TryStreamExt;
use parquet::file::properties::WriterProperties;
use serde_json::json;

/// Latency of a request, on a paused clock.
const LATENCY: Duration = Duration::from_millis(30);
const ROWS: i64 = 40_000;

/// Ascending numbers, and incompressible text.
fn rows(first: i64, rows: i64) -> RecordBatch {
    let ids = first..first + rows;
    let text = |id: i64| {
        let digits = (0..4).map(|part| {
            let seed = (id * 4 + part)
                .cast_unsigned()
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("{:016x}", seed ^ (seed >> 29))
        });
        digits.collect::<String>()
    };
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
        ("text", Arc::new(StringArray::from_iter_values(ids.map(text)))),
    ];
    let columns = columns.map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("they fit")
}

/// A table with this number of files and rows per file, in pages of a thousand and row groups of ten pages.
async fn table(files: i64, rows_each: i64) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    let mut actions = TableBuilder::first_actions();
    actions[1]["metaData"]["schemaString"] = json!(schema_from_arrow(&rows(0, 0).schema())?.to_json());
    for number in 0..files {
        let batch = rows(number * rows_each, rows_each);
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(10_000))
            .set_data_page_row_count_limit(1_000)
            .set_write_batch_size(1_000)
            .set_dictionary_enabled(false)
            .build();
        let bytes = data_file(&batch, properties)?;
        let path = format!("{number}.parquet");
        let mut add = add(&path, None);
        add["add"]["size"] = json!(bytes.len());
        table.put(&path, bytes).await?;
        actions.push(add);
    }
    table.commit(actions).await?;
    let snapshot = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
    table.scripted().set_latency(LATENCY);
    Ok((table, snapshot))
}

/// Reads a scan to its end, and returns its number of rows and its requests.
async fn read(table: &TableBuilder, snapshot: &Snapshot, options: ScanOptions) -> Result<(usize, Report)> {
    table.scripted().forget();
    let scan = Scan::try_new(snapshot.clone(), options)?;
    let batches: Vec<RecordBatch> = stream_scan(&scan).await?.try_collect().await?;
    let report = table.scripted().report();
    assert_eq!(report.fetched_twice(), []);
    assert_eq!(
        report.count(RequestKind::Get),
        report.requests.len(),
        "{report:?}"
    );
    Ok((batches.iter().map(RecordBatch::num_rows).sum(), report))
}

fn asked(columns: &[&str], predicate: Option<&str>, limit: Option<usize>) -> ScanOptions {
    ScanOptions {
        columns: Some(columns.iter().map(|name| (*name).to_owned()).collect()),
        predicate: predicate.map(|text| parse_predicate(text).expect("a predicate")),
        limit,
        ..ScanOptions::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_small_file_is_one_request() -> Result<()> {
    let (table, snapshot) = table(1, 100).await?;
    let (rows, report) = read(&table, &snapshot, ScanOptions::default()).await?;
    assert_eq!((rows, report.requests.len()), (100, 1));
    let (rows, report) = read(&table, &snapshot, asked(&["text"], Some("id = 7"), None)).await?;
    assert_eq!((rows, report.requests.len()), (1, 1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_file_is_its_footer_and_its_row_groups() -> Result<()> {
    let (table, snapshot) = table(1, ROWS).await?;
    let (rows, report) = read(&table, &snapshot, ScanOptions::default()).await?;
    assert_eq!(rows, ROWS as usize);
    // The footer, and the adjacent columns of each of four row groups; all of these concurrently.
    assert_eq!(report.requests.len(), 1 + 4);
    assert_eq!(report.depth(), 2);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn pages_that_cannot_match_are_not_fetched() -> Result<()> {
    let (table, snapshot) = table(1, ROWS).await?;
    let (_, all) = read(&table, &snapshot, ScanOptions::default()).await?;
    let (rows, some) = read(
        &table,
        &snapshot,
        asked(&["text", "id"], Some("id = 12345"), None),
    )
    .await?;
    assert_eq!(rows, 1);
    // The footer, the page of numbers, and the page of texts.
    assert_eq!(some.depth(), 3);
    assert!(
        some.bytes() < 64 * 1024 + all.bytes() / 20,
        "{} of {}",
        some.bytes(),
        all.bytes()
    );
    let (rows, none) = read(&table, &snapshot, asked(&["text"], Some("id < 0"), None)).await?;
    assert_eq!((rows, none.requests.len()), (0, 1));
    Ok(())
}

/// Rows that need not be read are skipped by pages, and the rows of the other pages are not filtered.
#[tokio::test(start_paused = true)]
async fn pages_are_skipped_without_filtering_rows() -> Result<()> {
    let (table, snapshot) = table(1, ROWS).await?;
    for (text, expected) in [
        ("id = 12345", 1_000),
        ("id >= 12345 AND id < 13500", 2_000),
        ("id IN (5, 39999)", 2_000),
        ("id < 0", 0),
        ("id >= 0", ROWS as usize),
    ] {
        let options = ScanOptions {
            skips: Some(parse_predicate(text)?.bind(snapshot.schema())?),
            ..asked(&["id"], None, None)
        };
        let (rows, _) = read(&table, &snapshot, options.clone()).await?;
        assert_eq!(rows, expected, "{text}");
        let filtered = ScanOptions {
            predicate: asked(&[], Some("id <= 12345"), None).predicate,
            ..options
        };
        let (rows, _) = read(&table, &snapshot, filtered).await?;
        assert!(rows <= expected && (rows > 0) == (expected > 0), "{text}: {rows}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn files_are_fetched_side_by_side() -> Result<()> {
    let (table, snapshot) = table(32, 2_000).await?;
    let (rows, report) = read(&table, &snapshot, ScanOptions::default()).await?;
    assert_eq!(rows, 32 * 2_000);
    assert!(report.requests.len() <= 64, "{}", report.requests.len());
    // Sixteen at a time, each a footer and the rest of its data.
    assert!(report.depth() <= 8, "{}", report.depth());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_limit_fetches_the_first_file_alone() -> Result<()> {
    let (table, snapshot) = table(8, ROWS).await?;
    let (rows, report) = read(&table, &snapshot, asked(&["text", "id"], None, Some(10))).await?;
    assert_eq!(rows, 10);
    assert!(report.at(RequestKind::Get, "7.parquet").next().is_none());
    // Two files may have been opened, and some pages of the first were decoded.
    assert!(report.bytes() < 2 * 64 * 1024 + 300 * 1024, "{}", report.bytes());
    Ok(())
}
