//! A scan returns the matching generated rows: random file layouts, predicates and deletion vectors. The expected rows
//! are derived from the generated ones by an independent evaluation, never from a read.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

mod condition;
mod files;

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Int32Array, RecordBatch};
use arrow_schema::Schema;
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::{Bitmap, z85};
use deltaic_protocol::expr::parse_predicate;
use deltaic_protocol::schema::schema_from_arrow;
use deltaic_table::read::{count, stream_scan};
use deltaic_table::scan::{Scan, ScanOptions};
use deltaic_testkit::table_builder::{TableBuilder, add};
use futures::TryStreamExt;
use parquet::file::properties::EnabledStatistics;
use proptest::prelude::*;
use serde_json::json;

use self::condition::{Condition, condition};
use self::files::{Form, Row, TEXTS, as_read, batch, file, form, row};

async fn table(files: &[(Vec<Row>, Form)]) -> Result<TableBuilder> {
    let schema = schema_from_arrow(&batch(&[], false).schema())?;
    let mut actions = TableBuilder::first_actions_with_vectors();
    actions[1]["metaData"]["schemaString"] = json!(schema.to_json());
    let mut table = TableBuilder::new();
    for (number, (rows, form)) in files.iter().enumerate() {
        let path = format!("{number}.parquet");
        let bytes = file(rows, form);
        let mut add = add(&path, None);
        add["add"]["size"] = json!(bytes.len());
        let gone: Vec<u64> = form
            .deleted
            .iter()
            .copied()
            .filter(|row| (*row as usize) < rows.len())
            .collect();
        if !gone.is_empty() {
            let vector = Bitmap::from_positions(gone.iter().copied())?.encode()?;
            add["add"]["deletionVector"] = json!({"storageType": "i", "pathOrInlineDv": z85::encode(&vector),
                "sizeInBytes": vector.len(), "cardinality": gone.len()});
            add["add"]["stats"] = json!(json!({"numRecords": rows.len(), "tightBounds": false}).to_string());
        }
        table.put(&path, bytes).await?;
        actions.push(add);
    }
    table.commit(actions).await?;
    Ok(table)
}

async fn read(snapshot: &Snapshot, options: ScanOptions) -> Result<Vec<RecordBatch>> {
    stream_scan(&Scan::try_new(snapshot.clone(), options)?)
        .await?
        .try_collect()
        .await
}

fn together(batches: &[RecordBatch], schema: &Arc<Schema>) -> RecordBatch {
    arrow_select::concat::concat_batches(schema, batches).expect("they are of one schema")
}

/// The table with small files, which are in memory once their tail is read; with larger ones in a folder; and with
/// larger ones on a store.
async fn ways(table: TableBuilder) -> Result<(tempfile::TempDir, [Snapshot; 3])> {
    let folder = tempfile::tempdir().expect("there is a place for it");
    let small = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
    let local = table.copy_to(folder.path()).await?;
    let in_folder = Snapshot::load(local, None, LoadOptions::default()).await?;
    let larger = table.copy().await?;
    let on_store = Snapshot::load(larger.location(), None, LoadOptions::default()).await?;
    Ok((folder, [small, in_folder, on_store]))
}

async fn agrees(
    files: &[(Vec<Row>, Form)],
    condition: &Condition,
    columns: &[&str],
    batch_size: usize,
) -> Result<()> {
    let (_folder, snapshots) = ways(table(files).await?).await?;
    for snapshot in snapshots {
        one_agrees(&snapshot, files, condition, columns, batch_size).await?;
    }
    Ok(())
}

async fn one_agrees(
    snapshot: &Snapshot,
    files: &[(Vec<Row>, Form)],
    condition: &Condition,
    columns: &[&str],
    batch_size: usize,
) -> Result<()> {
    let everything = Arc::new(snapshot.schema().to_arrow()?);
    let surviving = |matches: &dyn Fn(&Row, bool) -> bool| {
        let of_file = |(rows, form): &(Vec<Row>, Form)| {
            let survives = |number: usize| !form.deleted.contains(&(number as u64));
            let rows: Vec<Row> = rows
                .iter()
                .enumerate()
                .filter(|(number, row)| survives(*number) && matches(row, form.old))
                .map(|(_, row)| row.clone())
                .collect();
            as_read(&rows, form.old, &everything)
        };
        together(&files.iter().map(of_file).collect::<Vec<_>>(), &everything)
    };
    let all = together(&read(snapshot, ScanOptions::default()).await?, &everything);
    assert_eq!(all, surviving(&|_, _| true));

    let text = condition.to_string();
    let expected = surviving(&|row, old| condition.holds(row, old) == Some(true));
    let places: Vec<usize> = columns
        .iter()
        .map(|name| everything.index_of(name).expect("it is there"))
        .collect();
    let expected = expected.project(&places).expect("they are there");
    let options = ScanOptions {
        columns: Some(columns.iter().map(|name| (*name).to_owned()).collect()),
        predicate: Some(parse_predicate(&text)?),
        batch_size: Some(batch_size),
        ..ScanOptions::default()
    };
    let scan = Scan::try_new(snapshot.clone(), options.clone())?;
    let found = together(&read(snapshot, options.clone()).await?, &expected.schema());
    assert_eq!(found, expected, "{text}");
    assert_eq!(count(&scan).await?, expected.num_rows() as i64, "{text}");
    assert!(scan.explain().await?.contains("scan of"));

    for limit in [0, 1, 3] {
        let options = ScanOptions {
            limit: Some(limit),
            ..options.clone()
        };
        let found = together(&read(snapshot, options).await?, &expected.schema());
        assert_eq!(
            found,
            expected.slice(0, limit.min(expected.num_rows())),
            "{text} LIMIT {limit}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_that_match(
        files in proptest::collection::vec((proptest::collection::vec(row(), 0..60), form(), any::<bool>()), 1..4),
        condition in condition(),
        columns in proptest::sample::subsequence(
            vec!["text", "id", "nested", "double", "later", "long", "date", "money", "time", "flag"], 0..8),
        batch_size in 1usize..30,
    ) {
        let files: Vec<(Vec<Row>, Form)> = files
            .into_iter()
            .map(|(mut rows, form, sorted)| {
                if sorted {
                    rows.sort_by_key(|row| row.id);
                }
                (rows, form)
            })
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        let done = runtime.block_on(agrees(&files, &condition, &columns, batch_size));
        prop_assert!(done.is_ok(), "{condition}: {done:?}");
    }
}

/// A row group large enough to be read by several tasks at once.
///
/// The clock is paused: it advances only when every task waits, so the timeout detects a read that waits for what never
/// comes, and no other, however slow the machine is.
#[tokio::test(start_paused = true)]
async fn a_large_row_group_is_read_in_parts() -> Result<()> {
    const ROWS: usize = 600_000;
    let rows: Vec<Row> = (0..ROWS)
        .map(|row| Row {
            id: (row % 1000) as i64,
            number: row as i32,
            double: 0.5,
            text: row % TEXTS.len(),
            null: row % 11 == 0,
        })
        .collect();
    let form = Form {
        group_rows: ROWS,
        page_rows: 20_000,
        dictionary: true,
        bloom: false,
        statistics: EnabledStatistics::Page,
        second_version: false,
        old: false,
        deleted: vec![],
    };
    for deleted in [
        vec![],
        (0..ROWS as u64)
            .filter(|row| row % 3 == 1 || *row > 500_000)
            .collect(),
    ] {
        let is_left = |row: usize| deleted.binary_search(&(row as u64)).is_err();
        let form = Form {
            deleted: deleted.clone(),
            ..form.clone()
        };
        let (_folder, snapshots) = ways(table(&[(rows.clone(), form)]).await?).await?;
        for (text, matches) in [
            (None, Box::new(|_: usize| true) as Box<dyn Fn(usize) -> bool>),
            (Some("id < 10"), Box::new(|row| row % 1000 < 10)),
            (
                Some("number >= 250000 AND text = 'ab'"),
                Box::new(|row| row >= 250_000 && row % 8 == 2 && row % 11 != 0),
            ),
        ] {
            // A single batch exceeds the limit of buffered bytes.
            let options = ScanOptions {
                columns: Some(vec!["number".to_owned(), "nested".to_owned(), "long".to_owned()]),
                predicate: text.map(|text| parse_predicate(text).expect("a predicate")),
                batch_size: Some(500_000),
                ..ScanOptions::default()
            };
            for snapshot in &snapshots {
                let reading = read(snapshot, options.clone());
                let batches = tokio::time::timeout(Duration::from_secs(1), reading).await;
                let batches = batches.expect("it does not wait for what never comes")?;
                let found = batches.iter().flat_map(|batch| {
                    let numbers = batch.column(0).as_any().downcast_ref::<Int32Array>();
                    numbers.expect("they are numbers").values().to_vec()
                });
                let expected = (0..ROWS)
                    .filter(|row| is_left(*row) && matches(*row))
                    .map(|row| row as i32);
                assert!(found.eq(expected), "{text:?}");
            }
        }
    }
    Ok(())
}

/// An index is an optimization: an invalid one is ignored, and no memory is allocated for what it claims.
#[tokio::test]
async fn an_index_of_pages_that_makes_no_sense_is_passed_over() -> Result<()> {
    let rows: Vec<Row> = (0..200)
        .map(|row| Row {
            id: row,
            number: 0,
            double: 0.5,
            text: 1,
            null: false,
        })
        .collect();
    let form = Form {
        group_rows: 200,
        page_rows: 10,
        dictionary: false,
        bloom: false,
        statistics: EnabledStatistics::Page,
        second_version: false,
        old: false,
        deleted: vec![],
    };
    let sound = file(&rows, &form);
    let metadata = parquet::file::metadata::ParquetMetaDataReader::new()
        .parse_and_finish(&bytes::Bytes::from(sound.clone()))
        .expect("it is a file");
    let column = metadata.row_group(0).column(0);
    let start = column.offset_index_offset().expect("there is an index") as usize;
    for claim in [
        // A list of 268,435,455 pages.
        [0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f],
        [0x00; 6],
        [0xff; 6],
    ] {
        let mut damaged = sound.clone();
        damaged[start..start + claim.len()].copy_from_slice(&claim);
        let schema = schema_from_arrow(&batch(&[], false).schema())?;
        let mut table = TableBuilder::new();
        let mut actions = TableBuilder::first_actions();
        actions[1]["metaData"]["schemaString"] = json!(schema.to_json());
        let mut add = add("0.parquet", None);
        add["add"]["size"] = json!(damaged.len());
        table.put("0.parquet", damaged).await?;
        actions.push(add);
        table.commit(actions).await?;
        let (_folder, snapshots) = ways(table).await?;
        for snapshot in snapshots {
            let options = ScanOptions {
                predicate: Some(parse_predicate("id BETWEEN 50 AND 60")?),
                ..ScanOptions::default()
            };
            let batches = read(&snapshot, options).await?;
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 11);
        }
    }
    Ok(())
}
