//! Generated rows, the values of their columns, and data files with the layouts of various writers.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray, new_null_array,
};
use arrow_schema::{DataType, Field, Schema};
use deltaic_testkit::data_file::data_file;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use proptest::prelude::*;

use super::condition::Cell;

pub(crate) const TEXTS: [&str; 8] = ["", "a", "ab", "b", "é", "🚋", "x'y", "a%_b"];

/// A row; if `null`, NULL in all columns except the id and the number.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) number: i32,
    pub(crate) double: f64,
    pub(crate) text: usize,
    pub(crate) null: bool,
}

/// How a file is written.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) group_rows: usize,
    pub(crate) page_rows: usize,
    pub(crate) dictionary: bool,
    pub(crate) bloom: bool,
    pub(crate) statistics: EnabledStatistics,
    pub(crate) second_version: bool,
    /// A file from before the column `later` was added and `id` was widened.
    pub(crate) old: bool,
    pub(crate) deleted: Vec<u64>,
}

pub(crate) fn row() -> impl Strategy<Value = Row> {
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

pub(crate) fn form() -> impl Strategy<Value = Form> {
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

/// The rows as Arrow; if `old`, the id has 32 bits and the column `later` is missing.
pub(crate) fn batch(rows: &[Row], old: bool) -> RecordBatch {
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

pub(crate) fn file(rows: &[Row], form: &Form) -> Vec<u8> {
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
    data_file(&batch, properties).expect("it is written")
}

impl Row {
    /// The value of a table column in the row.
    pub(crate) fn cell(&self, column: &str, old: bool) -> Cell {
        let number = |value: i64| Cell::Number(value as f64);
        match column {
            "id" => number(self.id),
            "number" => Cell::Number(f64::from(self.number)),
            _ if self.null => Cell::Null,
            "double" => Cell::Number(self.double),
            "text" | "nested.t" => Cell::Text(TEXTS[self.text].to_owned()),
            "long" => Cell::Text(format!("{}{}", TEXTS[self.text], "ü".repeat(40))),
            "flag" => Cell::Flag(self.id > 0),
            "date" => Cell::Number(f64::from(self.number.clamp(-9, 9))),
            "time" => number(self.id * 1_000_001),
            "money" => Cell::Number(self.id as f64 * 0.25),
            "nested" => Cell::Struct,
            "nested.n" if self.number % 2 == 0 => number(self.id),
            "later" if !old => number(self.id * 2),
            _ => Cell::Null,
        }
    }
}

/// Rows of one file as read from the table: in an old file the last column is NULL.
pub(crate) fn as_read(rows: &[Row], old: bool, schema: &Arc<Schema>) -> RecordBatch {
    let mut columns = batch(rows, false).columns().to_vec();
    if old && let Some(later) = columns.last_mut() {
        *later = new_null_array(&DataType::Int64, rows.len());
    }
    RecordBatch::try_new(Arc::clone(schema), columns).expect("they fit")
}
