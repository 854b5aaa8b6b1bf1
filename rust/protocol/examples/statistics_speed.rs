//! How many bytes of statistics are read in a second on one thread: `cargo run --release --example statistics_speed`.
//! An argument measures only what has it in its name.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures time, and nothing depends on it"
)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use deltaic_protocol::Result;
use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsSchema, StatisticsText};

const FILES: usize = 20_000;
const REPEATS: usize = 7;

/// Twenty columns of every ordinary type; with minimum, maximum and NULL count they make sixty.
fn schema() -> StructType {
    let decimal = PrimitiveType::Decimal {
        precision: 18,
        scale: 2,
    };
    let kinds = [
        PrimitiveType::Long,
        PrimitiveType::Integer,
        PrimitiveType::Double,
        PrimitiveType::String,
        PrimitiveType::Timestamp,
        PrimitiveType::Date,
        decimal,
    ];
    let fields = kinds.iter().cycle().take(20).enumerate();
    StructType {
        fields: fields
            .map(|(at, kind)| StructField::new(format!("column_{at}"), (*kind).into(), true))
            .collect(),
    }
}

fn value(kind: PrimitiveType, seed: usize) -> String {
    match kind {
        PrimitiveType::Long => (seed * 7_919 % 1_000_000_007).to_string(),
        PrimitiveType::Integer => (seed % 100_000).to_string(),
        PrimitiveType::Double => format!("{}.{:06}", seed % 1_000, seed * 31 % 1_000_000),
        PrimitiveType::String => format!("\"customer-{:012}\"", seed * 104_729 % 1_000_000_000),
        PrimitiveType::Timestamp => format!(
            "\"2024-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z\"",
            seed % 12 + 1,
            seed % 28 + 1,
            seed % 24,
            seed % 60,
            seed * 7 % 60,
            seed % 1_000
        ),
        PrimitiveType::Date => format!("\"2024-{:02}-{:02}\"", seed % 12 + 1, seed % 28 + 1),
        _ => format!("{}.{:02}", seed % 1_000_000, seed % 100),
    }
}

fn text(schema: &StructType, row: usize) -> String {
    let mut text = format!("{{\"numRecords\":{}", 100_000 + row);
    for (kind, shift) in [("minValues", 0), ("maxValues", 977)] {
        let bounds: Vec<String> = schema
            .fields
            .iter()
            .enumerate()
            .filter_map(|(at, field)| {
                let bound = value(field.data_type.as_primitive()?, row * 31 + at * 17 + shift);
                Some(format!("\"{}\":{bound}", field.name))
            })
            .collect();
        let _ = write!(text, ",\"{kind}\":{{{}}}", bounds.join(","));
    }
    let counts: Vec<String> = schema
        .fields
        .iter()
        .map(|field| format!("\"{}\":{}", field.name, row % 3))
        .collect();
    let _ = write!(text, ",\"nullCount\":{{{}}}}}", counts.join(","));
    text
}

fn measure(name: &str, wanted: &StatisticsSchema, texts: &[StatisticsText<'_>]) -> Result<()> {
    if std::env::args().nth(1).is_some_and(|only| !name.contains(&only)) {
        return Ok(());
    }
    let bytes: usize = texts
        .iter()
        .map(|text| match text {
            StatisticsText::Absent => 0,
            StatisticsText::Plain(bytes) | StatisticsText::Escaped(bytes) => bytes.len(),
        })
        .sum();
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        let mut builder = StatisticsBuilder::with_capacity(wanted, texts.len());
        texts.iter().for_each(|text| builder.push(*text));
        black_box(builder.finish()?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let (gigabytes, files) = (bytes as f64 / best / 1e9, best * 1e9 / texts.len() as f64);
    println!("{name:<28} {gigabytes:6.2} GB/s  {files:6.0} ns a file");
    Ok(())
}

fn main() -> Result<()> {
    let schema = schema();
    let plain: Vec<String> = (0..FILES).map(|row| text(&schema, row)).collect();
    let escaped: Vec<String> = plain.iter().map(|text| text.replace('"', "\\\"")).collect();
    let spaced: Vec<String> = plain.iter().map(|text| text.replace("\":", "\": ")).collect();
    let texts: [(&str, Vec<StatisticsText<'_>>); 3] = [
        (
            "plain",
            plain
                .iter()
                .map(|text| StatisticsText::Plain(text.as_bytes()))
                .collect(),
        ),
        (
            "escaped",
            escaped
                .iter()
                .map(|text| StatisticsText::Escaped(text.as_bytes()))
                .collect(),
        ),
        (
            "general way",
            spaced
                .iter()
                .map(|text| StatisticsText::Plain(text.as_bytes()))
                .collect(),
        ),
    ];
    let name_of = |field: &StructField| field.name.clone();
    let one = [vec!["column_6".to_owned()]];
    for (form, texts) in &texts {
        measure(
            &format!("{form}, 60 columns"),
            &StatisticsSchema::all(&schema, &name_of),
            texts,
        )?;
        measure(
            &format!("{form}, 1 column"),
            &StatisticsSchema::of_columns(&schema, &name_of, &one),
            texts,
        )?;
        measure(
            &format!("{form}, rows only"),
            &StatisticsSchema::num_records_only(),
            texts,
        )?;
    }
    Ok(())
}
