//! A scan with a predicate gives the rows that one without it gives, and that match: files as many writers cut them,
//! predicates and deletion vectors at random.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::{Bitmap, z85};
use deltaic_protocol::expr::{evaluate, parse_predicate};
use deltaic_protocol::schema::schema_from_arrow;
use deltaic_table::read::{count, stream_scan};
use deltaic_table::scan::{Scan, ScanOptions};
use deltaic_testkit::table_builder::{TableBuilder, add};
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use proptest::prelude::*;
use serde_json::json;

const TEXTS: [&str; 8] = ["", "a", "ab", "b", "é", "🚋", "x'y", "a%_b"];

/// A row; NULL in all columns but the id and the number where `null`.
#[derive(Clone, Debug)]
struct Row {
    id: i64,
    number: i32,
    double: f64,
    text: usize,
    null: bool,
}

/// How a file is written.
#[derive(Clone, Debug)]
struct Form {
    group_rows: usize,
    page_rows: usize,
    dictionary: bool,
    bloom: bool,
    statistics: EnabledStatistics,
    second_version: bool,
    /// A file from before the column `later` came and `id` was widened.
    old: bool,
    deleted: Vec<u64>,
}

fn row() -> impl Strategy<Value = Row> {
    let double = proptest::sample::select(vec![f64::NAN, -0.0, 0.0, 1.5, -7.25, f64::INFINITY, 1e300]);
    let number = prop_oneof![-3i32..4, Just(i32::MAX), Just(i32::MIN)];
    (
        -20i64..20,
        number,
        double,
        0..TEXTS.len(),
        proptest::bool::weighted(0.2),
    )
        .prop_map(|(id, number, double, text, null)| Row {
            id,
            number,
            double,
            text,
            null,
        })
}

fn form() -> impl Strategy<Value = Form> {
    let statistics = proptest::sample::select(vec![
        EnabledStatistics::None,
        EnabledStatistics::Chunk,
        EnabledStatistics::Page,
        EnabledStatistics::Page,
    ]);
    let deleted = prop_oneof![
        Just(vec![]),
        proptest::collection::btree_set(0u64..60, 0..30).prop_map(|set| set.into_iter().collect())
    ];
    (1usize..40, 1usize..12, any::<[bool; 4]>(), statistics, deleted).prop_map(
        |(group_rows, page_rows, [dictionary, bloom, second_version, old], statistics, deleted)| Form {
            group_rows,
            page_rows,
            dictionary,
            bloom,
            statistics,
            second_version,
            old,
            deleted,
        },
    )
}

/// The rows as Arrow: by `old` the id has 32 bits, and a column is not there.
fn batch(rows: &[Row], old: bool) -> RecordBatch {
    let some = |row: &Row| !row.null;
    let ids = rows.iter().map(|row| Some(row.id));
    let id: ArrayRef = match old {
        true => Arc::new(
            ids.map(|id| id.and_then(|id| i32::try_from(id).ok()))
                .collect::<Int32Array>(),
        ),
        false => Arc::new(ids.collect::<Int64Array>()),
    };
    let number: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.number)));
    let double: ArrayRef = Arc::new(
        rows.iter()
            .map(|row| some(row).then_some(row.double))
            .collect::<Float64Array>(),
    );
    let texts = || rows.iter().map(|row| some(row).then(|| TEXTS[row.text]));
    let text: ArrayRef = Arc::new(texts().collect::<StringArray>());
    let long: ArrayRef = Arc::new(
        texts()
            .map(|text| text.map(|text| format!("{text}{}", "ü".repeat(40))))
            .collect::<StringArray>(),
    );
    let flag: ArrayRef = Arc::new(
        rows.iter()
            .map(|row| some(row).then_some(row.id > 0))
            .collect::<BooleanArray>(),
    );
    let date: ArrayRef = Arc::new(
        rows.iter()
            .map(|row| some(row).then_some(row.number.clamp(-9, 9)))
            .collect::<Date32Array>(),
    );
    let time: ArrayRef = Arc::new(
        rows.iter()
            .map(|row| some(row).then_some(row.id * 1_000_001))
            .collect::<TimestampMicrosecondArray>()
            .with_timezone("UTC"),
    );
    let money: ArrayRef = Arc::new(
        rows.iter()
            .map(|row| some(row).then_some(i128::from(row.id) * 25))
            .collect::<Decimal128Array>()
            .with_data_type(DataType::Decimal128(10, 2)),
    );
    let inner = Field::new("n", DataType::Int64, true);
    let below = Field::new("t", DataType::Utf8, true);
    let nested: ArrayRef = Arc::new(StructArray::new(
        vec![inner, below].into(),
        vec![
            Arc::new(
                rows.iter()
                    .map(|row| (row.number % 2 == 0).then_some(row.id))
                    .collect::<Int64Array>(),
            ),
            Arc::clone(&text),
        ],
        Some(rows.iter().map(some).collect::<Vec<bool>>().into()),
    ));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", id),
        ("number", number),
        ("double", double),
        ("text", text),
        ("long", long),
        ("flag", flag),
        ("date", date),
        ("time", time),
        ("money", money),
        ("nested", nested),
    ];
    if !old {
        let later = rows.iter().map(|row| some(row).then_some(row.id * 2));
        columns.push(("later", Arc::new(later.collect::<Int64Array>())));
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("they fit")
}

fn file(rows: &[Row], form: &Form) -> Vec<u8> {
    let batch = batch(rows, form.old);
    let version = match form.second_version {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    };
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(form.group_rows))
        .set_data_page_row_count_limit(form.page_rows)
        .set_write_batch_size(form.page_rows.min(1_000))
        .set_dictionary_enabled(form.dictionary)
        .set_bloom_filter_enabled(form.bloom)
        .set_statistics_enabled(form.statistics)
        .set_writer_version(version)
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("it is written");
    writer.write(&batch).expect("it is written");
    writer.close().expect("it is written");
    bytes
}

/// Conditions that hit now and then.
fn condition() -> impl Strategy<Value = String> {
    let compare = proptest::sample::select(vec!["=", "<>", "<", "<=", ">", ">=", "<=>"]);
    let text = (0..TEXTS.len()).prop_map(|index| TEXTS[index].replace('\'', "\\'"));
    let number = -21i64..21;
    let double = proptest::sample::select(vec!["0", "1.5", "-7.25", "CAST('NaN' AS DOUBLE)", "1E300"]);
    let with_number = (
        proptest::sample::select(vec!["id", "number", "nested.n", "later", "money", "double"]),
        compare.clone(),
        number.clone(),
    )
        .prop_map(|(column, op, value)| format!("{column} {op} {value}"));
    let with_double = (compare.clone(), double).prop_map(|(op, value)| format!("double {op} {value}"));
    let with_text = (
        proptest::sample::select(vec!["text", "long", "nested.t"]),
        compare.clone(),
        text.clone(),
    )
        .prop_map(|(column, op, value)| format!("{column} {op} '{value}'"));
    let with_time = (compare.clone(), number.clone()).prop_map(|(op, value)| {
        format!(
            "time {op} TIMESTAMP '1970-01-01 00:00:{:02}Z'",
            value.unsigned_abs()
        )
    });
    let with_date =
        (compare.clone(), 1u32..9).prop_map(|(op, day)| format!("date {op} DATE '1970-01-0{day}'"));
    let with_column = (
        compare,
        proptest::sample::select(vec![("id", "number"), ("later", "id"), ("text", "nested.t")]),
    )
        .prop_map(|(op, (left, right))| format!("{left} {op} {right}"));
    let is_null = (
        proptest::sample::select(vec![
            "text", "double", "nested", "nested.n", "later", "id", "flag",
        ]),
        any::<bool>(),
    )
        .prop_map(|(column, not)| format!("{column} IS {}NULL", if not { "NOT " } else { "" }));
    let among = proptest::collection::vec(number, 1..4).prop_map(|values| {
        let values: Vec<String> = values.iter().map(i64::to_string).collect();
        format!("id IN ({})", values.join(", "))
    });
    let begins = text.prop_map(|text| format!("startswith(text, '{text}')"));
    let like = (0..TEXTS.len(), 0usize..4).prop_map(|(index, form)| {
        let text = TEXTS[index].replace('\'', "\\'");
        match form {
            0 => format!("text LIKE '%{text}%'"),
            1 => format!("text NOT LIKE '{text}_'"),
            2 => format!("endswith(text, '{text}')"),
            _ => format!("contains(long, '{text}')"),
        }
    });
    let words = (
        proptest::collection::vec(0..TEXTS.len(), 1..4),
        any::<[bool; 2]>(),
    )
        .prop_map(|(texts, [not, null])| {
            let texts = texts
                .into_iter()
                .map(|index| format!("'{}'", TEXTS[index].replace('\'', "\\'")));
            let texts: Vec<String> = texts.chain(null.then(|| "NULL".to_owned())).collect();
            format!("text {}IN ({})", if not { "NOT " } else { "" }, texts.join(", "))
        });
    let simple = prop_oneof![
        like,
        words,
        with_number,
        with_double,
        with_text,
        with_time,
        with_date,
        with_column,
        is_null,
        among,
        begins,
        Just("flag".to_owned()),
    ];
    simple.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} AND {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} OR {b})")),
            inner.prop_map(|a| format!("NOT ({a})")),
        ]
    })
}

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

/// The table with small files, which are in memory when their end is read; with larger ones in a folder; and with larger
/// ones on a store.
async fn ways(table: TableBuilder) -> Result<(tempfile::TempDir, [Snapshot; 3])> {
    let folder = tempfile::tempdir().expect("there is a place for it");
    let small = Snapshot::load(table.location(), None, LoadOptions::default()).await?;
    let local = table.copy_to(folder.path()).await?;
    let in_folder = Snapshot::load(local, None, LoadOptions::default()).await?;
    let larger = table.copy().await?;
    let on_store = Snapshot::load(larger.location(), None, LoadOptions::default()).await?;
    Ok((folder, [small, in_folder, on_store]))
}

async fn agrees(files: &[(Vec<Row>, Form)], text: &str, columns: &[&str], batch_size: usize) -> Result<()> {
    let (_folder, snapshots) = ways(table(files).await?).await?;
    for snapshot in snapshots {
        one_agrees(&snapshot, files, text, columns, batch_size).await?;
    }
    Ok(())
}

async fn one_agrees(
    snapshot: &Snapshot,
    files: &[(Vec<Row>, Form)],
    text: &str,
    columns: &[&str],
    batch_size: usize,
) -> Result<()> {
    let all = read(snapshot, ScanOptions::default()).await?;
    let everything = Arc::new(snapshot.schema().to_arrow()?);
    let all = together(&all, &everything);
    let left: usize = files
        .iter()
        .map(|(rows, form)| {
            (0..rows.len() as u64)
                .filter(|row| !form.deleted.contains(row))
                .count()
        })
        .sum();
    assert_eq!(all.num_rows(), left);

    let answer = evaluate(&parse_predicate(text)?.bind(snapshot.schema())?, &all)?;
    let expected = arrow_select::filter::filter_record_batch(&all, &answer).expect("they fit");
    let places: Vec<usize> = columns
        .iter()
        .map(|name| everything.index_of(name).expect("it is there"))
        .collect();
    let expected = expected.project(&places).expect("they are there");
    let options = ScanOptions {
        columns: Some(columns.iter().map(|name| (*name).to_owned()).collect()),
        predicate: Some(text.to_owned()),
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
        text in condition(),
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
        let done = runtime.block_on(agrees(&files, &text, &columns, batch_size));
        prop_assert!(done.is_ok(), "{text}: {done:?}");
    }
}

/// A row group that is so large that several read it at once.
#[tokio::test]
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
            // So large that a batch by itself is more than may wait.
            let options = ScanOptions {
                columns: Some(vec!["number".to_owned(), "nested".to_owned(), "long".to_owned()]),
                predicate: text.map(str::to_owned),
                batch_size: Some(500_000),
                ..ScanOptions::default()
            };
            for snapshot in &snapshots {
                let reading = read(snapshot, options.clone());
                let batches = tokio::time::timeout(Duration::from_secs(120), reading).await;
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

/// An index is a help and no truth: one that makes no sense is not gone by, and no room is made for what it claims.
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
                predicate: Some("id BETWEEN 50 AND 60".to_owned()),
                ..ScanOptions::default()
            };
            let batches = read(&snapshot, options).await?;
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 11);
        }
    }
    Ok(())
}
