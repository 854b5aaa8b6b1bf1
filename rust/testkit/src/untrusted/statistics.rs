//! Arbitrary bytes as statistics: the fast decoder and the general decoder agree, and neither panics.

use std::sync::LazyLock;

use deltaic_protocol::schema::StructType;
use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsColumns, StatisticsSchema, StatisticsText};

use super::memory::{Bound, bounded};

/// Each line becomes a row of all columns: a line of one byte takes hundreds of bytes.
const BOUND: Bound = Bound {
    per_byte: 4096,
    spare: 256 * 1024,
};

const SCHEMA: &str = r#"{"type":"struct","fields":[
    {"name":"a","type":"long","nullable":true,"metadata":{}},
    {"name":"b","type":"double","nullable":true,"metadata":{}},
    {"name":"c","type":"decimal(20,4)","nullable":true,"metadata":{}},
    {"name":"d","type":"string","nullable":true,"metadata":{}},
    {"name":"e","type":"date","nullable":true,"metadata":{}},
    {"name":"f","type":"timestamp","nullable":true,"metadata":{}},
    {"name":"g","type":"float","nullable":true,"metadata":{}},
    {"name":"h","type":"byte","nullable":true,"metadata":{}},
    {"name":"s","type":{"type":"struct","fields":[
        {"name":"a","type":"timestamp_ntz","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}}]}"#;

static WANTED: LazyLock<StatisticsSchema> = LazyLock::new(|| {
    let schema = StructType::from_json(SCHEMA).expect("a schema");
    StatisticsSchema::all(&schema, &|field| field.name.clone())
});

fn text(bytes: &[u8], is_escaped: bool) -> StatisticsText<'_> {
    if is_escaped {
        StatisticsText::Escaped(bytes)
    } else {
        StatisticsText::Plain(bytes)
    }
}

fn read(texts: &[StatisticsText<'_>]) -> StatisticsColumns {
    let mut builder = StatisticsBuilder::with_capacity(&WANTED, texts.len());
    texts.iter().for_each(|text| builder.push(*text));
    builder.finish().expect("unusable statistics are NULL")
}

pub(super) fn check_invariants(bytes: &[u8]) {
    LazyLock::force(&WANTED);
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    // Leading white space selects the general decoder, and has no meaning.
    let spaced: Vec<Vec<u8>> = lines.iter().map(|line| [b" ", *line].concat()).collect();
    // One of the two forms depending on the length, since both take twice the time.
    let is_escaped = bytes.len() % 2 == 1;
    let quick: Vec<_> = lines.iter().map(|line| text(line, is_escaped)).collect();
    let general: Vec<_> = spaced.iter().map(|line| text(line, is_escaped)).collect();
    let quick = bounded(BOUND, bytes.len(), || read(&quick));
    let general = bounded(BOUND, bytes.len(), || read(&general));
    assert_eq!(quick.num_records.len(), lines.len());
    assert_eq!(&quick.num_records, &general.num_records);
    assert_eq!(&quick.tight_bounds, &general.tight_bounds);
    assert_eq!(&quick.min, &general.min);
    assert_eq!(&quick.max, &general.max);
    assert_eq!(&quick.null_count, &general.null_count);
}
