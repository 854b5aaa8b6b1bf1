//! Requests for deletion vectors: each file once, adjacent ranges merged, and no byte twice.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test states what it expects by failing"
)]

use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, VectorFile, VectorLocation, z85};
use deltaic_table::read::{VectorOf, list_vectors, read_vectors};
use deltaic_testkit::requests::{Report, RequestKind};
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::json;

/// Latency of a request, on a paused clock.
const LATENCY: Duration = Duration::from_millis(30);

/// Ranges with larger gaps are fetched separately.
const GAP: u64 = 64 * 1024;

/// A deletion vector file in the table, each vector with this number of positions from its own number on; returns what
/// to read.
async fn vectors(table: &TableBuilder, file: u8, positions: &[u64]) -> Result<Vec<VectorOf>> {
    let mut bytes = VectorFile::new();
    let text = z85::encode(&[file; 16]);
    let mut wanted = Vec::new();
    for (number, count) in (0u64..).zip(positions) {
        // Every second row: neither a run nor few bytes.
        let bitmap = Bitmap::from_positions((number..).step_by(2).take(*count as usize))?;
        let (offset, size_in_bytes) = bytes.push(&bitmap)?;
        let descriptor = Descriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: text.clone(),
            offset: Some(offset),
            size_in_bytes,
            cardinality: *count as i64,
        };
        let path = format!("{file}-{number}.parquet");
        wanted.push(VectorOf { path, descriptor });
    }
    let first = wanted.first().expect("there are vectors");
    let VectorLocation::File(path) = first.descriptor.validate()? else {
        panic!("it is in a file")
    };
    table.put(&path, bytes.into_bytes()).await?;
    table.scripted().set_latency(LATENCY);
    table.scripted().forget();
    Ok(wanted)
}

/// Reads vectors, verifies that each is the requested one, and returns the requests.
async fn read(table: &TableBuilder, wanted: Vec<VectorOf>) -> Result<Report> {
    table.scripted().forget();
    let found = read_vectors(&table.location(), wanted.clone()).await?;
    assert_eq!(found.len(), wanted.len());
    for (vector, bitmap) in wanted.iter().zip(&found) {
        let number = vector.path.trim_end_matches(".parquet").rsplit('-').next();
        let first = number.and_then(|number| number.parse().ok());
        assert_eq!(
            (bitmap.min(), bitmap.len() as i64),
            (first, vector.descriptor.cardinality)
        );
    }
    let report = table.scripted().report();
    assert_eq!(report.fetched_twice(), []);
    assert_eq!(
        report.count(RequestKind::Get),
        report.requests.len(),
        "{report:?}"
    );
    Ok(report)
}

#[tokio::test(start_paused = true)]
async fn many_deletion_vectors_of_a_file_are_one_request() -> Result<()> {
    let table = TableBuilder::new();
    let mut wanted = vectors(&table, 1, &[3; 400]).await?;
    // In another order than the file's.
    wanted.sort_by_key(|vector| vector.path.chars().rev().collect::<String>());
    let report = read(&table, wanted).await?;
    assert_eq!((report.count(RequestKind::Get), report.depth()), (1, 1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_vector_of_many_files_is_one_request() -> Result<()> {
    let table = TableBuilder::new();
    let wanted = vectors(&table, 1, &[3]).await?;
    let report = read(&table, vec![wanted; 50].concat()).await?;
    assert_eq!(report.count(RequestKind::Get), 1);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn files_are_read_side_by_side() -> Result<()> {
    let table = TableBuilder::new();
    let mut wanted = Vec::new();
    for file in 0..20 {
        wanted.extend(vectors(&table, file, &[3; 50]).await?);
    }
    let report = read(&table, wanted).await?;
    assert_eq!(report.count(RequestKind::Get), 20);
    // At most eight at a time, which bounds the memory.
    assert_eq!(report.depth(), 3);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn unrequested_columns_are_not_fetched() -> Result<()> {
    let table = TableBuilder::new();
    let wide = 20 * 65_536;
    let all = vectors(&table, 1, &[3, wide, 3, wide, 3, 3]).await?;
    let some = |which: &[usize]| which.iter().map(|at| all[*at].clone()).collect::<Vec<_>>();
    let asked = |which: &[usize]| -> u64 {
        let sizes = which
            .iter()
            .map(|at| all[*at].descriptor.size_in_bytes as u64 + 8);
        sizes.sum()
    };
    assert!(asked(&[1]) > 2 * GAP);

    // After a gap there is another request; the file's version byte precedes the first vector.
    let report = read(&table, some(&[0, 2, 4, 5])).await?;
    assert_eq!(
        (report.count(RequestKind::Get), report.bytes()),
        (3, 1 + asked(&[0, 2, 4, 5]))
    );
    // Far from the beginning, the version byte is fetched separately.
    let report = read(&table, some(&[2])).await?;
    assert_eq!(
        (report.count(RequestKind::Get), report.bytes()),
        (2, 1 + asked(&[2]))
    );
    // All of them together are one request again.
    let report = read(&table, all.clone()).await?;
    assert_eq!(report.count(RequestKind::Get), 1);
    Ok(())
}

/// As for listing a snapshot's vectors, from the log on.
#[tokio::test(start_paused = true)]
async fn the_deletion_vectors_of_a_snapshot_are_one_request_a_file() -> Result<()> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions_with_vectors()).await?;
    let wanted = vectors(&table, 7, &[5; 400]).await?;
    let adds = wanted.iter().map(|vector| {
        let mut add = add(&vector.path, None);
        add["add"]["deletionVector"] = json!(vector.descriptor);
        add["add"]["stats"] = json!(json!({"numRecords": 1000, "tightBounds": false}).to_string());
        add
    });
    table.commit(adds.collect()).await?;
    let snapshot = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
    table.scripted().forget();
    let (_, batches) = list_vectors(&snapshot).await?;
    let report = table.scripted().report();
    assert_eq!(report.at(RequestKind::Get, "deletion_vector_").count(), 1);
    assert_eq!(report.at(RequestKind::Get, ".parquet").count(), 0);
    let cardinality = |batch: &arrow_array::RecordBatch| {
        let column = batch.column(1).as_primitive::<Int64Type>();
        column.values().iter().sum::<i64>()
    };
    assert_eq!(batches.iter().map(cardinality).sum::<i64>(), 5 * 400);
    Ok(())
}

/// An inline vector takes no request.
#[tokio::test(start_paused = true)]
async fn a_vector_in_the_log_requests_nothing() -> Result<()> {
    let table = TableBuilder::new();
    let bytes = Bitmap::from_positions([0, 5])?.encode()?;
    let descriptor = Descriptor {
        storage_type: "i".to_owned(),
        path_or_inline_dv: z85::encode(&bytes),
        offset: None,
        size_in_bytes: bytes.len() as i32,
        cardinality: 2,
    };
    let path = "0-0.parquet".to_owned();
    let report = read(&table, vec![VectorOf { path, descriptor }; 400]).await?;
    assert_eq!(report.requests, []);
    Ok(())
}
