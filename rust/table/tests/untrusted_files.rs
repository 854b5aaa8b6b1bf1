//! Data files with random mutations of footers, page indexes, Bloom filters, dictionaries or pages: a scan returns rows
//! or a typed error, with proportional memory, for any options.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::expr::parse_predicate;
use deltaic_protocol::schema::schema_from_arrow;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_table::read::stream_scan;
use deltaic_table::scan::{Scan, ScanOptions};
use deltaic_testkit::data_file::data_file;
use deltaic_testkit::table_builder::{TableBuilder, add, far_footer};
use deltaic_testkit::test_seed::test_seed;
use deltaic_testkit::untrusted::executions;
use deltaic_testkit::untrusted::mutation::{Chance, Material};
use futures::StreamExt;
use object_store::ObjectStoreExt;
use parquet::file::properties::WriterProperties;
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Number of trials, unless `FUZZ_EXECUTIONS` is set.
const EXECUTIONS: u64 = 4_000;
/// Decoding a page may take 16 MiB, whatever it claims, and several are decoded at once.
const MOST_MEMORY: usize = 160 << 20;
const PREDICATES: [Option<&str>; 4] = [
    None,
    Some("id = 33"),
    Some("word = 'w3'"),
    Some("id > 20 AND word <> 'w1'"),
];

fn rows() -> RecordBatch {
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..64))),
        (
            "word",
            Arc::new(
                (0..64)
                    .map(|row| (row % 9 != 0).then(|| format!("w{}", row % 5)))
                    .collect::<StringArray>(),
            ),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .expect("they fit")
}

fn seed([dictionary, bloom]: [bool; 2]) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(32))
        .set_data_page_row_count_limit(8)
        .set_write_batch_size(8)
        .set_dictionary_enabled(dictionary)
        .set_bloom_filter_enabled(bloom)
        .set_bloom_filter_max_ndv(8)
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    data_file(&rows(), properties).expect("it is written")
}

async fn table(size: usize) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    let mut actions = TableBuilder::first_actions();
    actions[1]["metaData"]["schemaString"] = json!(schema_from_arrow(&rows().schema())?.to_json());
    let mut add = add("0.parquet", None);
    add["add"]["size"] = json!(size);
    actions.push(add);
    table.commit(actions).await?;
    let snapshot = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
    Ok((table, snapshot))
}

#[tokio::test]
async fn a_file_of_any_bytes_is_read_or_refused() -> Result<()> {
    let seeds = [seed([true, false]), seed([false, true]), seed([true, true])];
    let words: Vec<Vec<u8>> = [
        &[0xff, 0xff, 0xff, 0xff, 0x0f][..],
        &[0x19, 0xfc],
        &[0x15, 0x00],
        b"PAR1",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    let material = Material {
        seeds: &seeds,
        words: &words,
        most_bytes: 64 * 1024,
    };
    let (table, snapshot) = table(seeds[0].len()).await?;
    let folder = tempfile::tempdir().expect("there is a place for it");
    let local = table.copy_to(folder.path()).await?;
    let in_folder = Snapshot::load(Arc::clone(&local), None, LoadOptions::default()).await?;
    let mut read = [0u32; 2];
    let first = test_seed();
    for number in 0..executions(EXECUTIONS) {
        let bytes = material.changed(&mut Chance::from_number(first.wrapping_add(number)));
        let path = local.below("0.parquet")?;
        let larger = far_footer(&bytes);
        let put = local.store().put(&path, larger.clone().into()).await;
        put.expect("there is room for it");
        // Every second one is small enough to be in memory once its tail is read.
        table
            .put("0.parquet", if number % 2 == 0 { larger } else { bytes })
            .await?;
        let predicate = PREDICATES[usize::try_from(number).unwrap_or(0) % PREDICATES.len()];
        // A file in a folder is read page by page and one on a store by row groups. One may read a byte that the other
        // skips; if both return rows, they are the same.
        let on_store = rows_or_refusal(&snapshot, predicate, number).await?;
        let found = rows_or_refusal(&in_folder, predicate, number).await?;
        if let (Some(rows), Some(others)) = (on_store, found) {
            assert_eq!(rows, others, "{number}");
        }
        read[usize::from(found.is_none())] += 1;
    }
    // Both outcomes occur.
    assert!(read.iter().all(|count| *count > 0), "{read:?}");
    Ok(())
}

/// Number of rows; `None` if the file is rejected.
async fn rows_or_refusal(snapshot: &Snapshot, predicate: Option<&str>, number: u64) -> Result<Option<usize>> {
    let options = ScanOptions {
        predicate: predicate.map(|text| parse_predicate(text).expect("a predicate")),
        ..ScanOptions::default()
    };
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let mut batches = stream_scan(&Scan::try_new(snapshot.clone(), options)?).await?;
    let mut rows = Some(0);
    while let Some(batch) = batches.next().await {
        match batch {
            Ok(batch) => {
                assert!(batch.num_rows() > 0);
                rows = rows.map(|rows| rows + batch.num_rows());
            }
            Err(error) => {
                rows = None;
                assert_eq!(error.kind(), ErrorKind::CorruptData, "{number}: {error:?}");
                break;
            }
        }
    }
    let taken = MEMORY.peak_usage().saturating_sub(before);
    assert!(taken < MOST_MEMORY, "{number}: {taken} bytes were taken");
    Ok(rows)
}
