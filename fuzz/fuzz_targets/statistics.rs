//! Any bytes as statistics: the quick way and the general way read the same, and neither panics.

#![no_main]

use deltaic_protocol::schema::StructType;
use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsColumns, StatisticsSchema, StatisticsText};
use libfuzzer_sys::fuzz_target;

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

fn read(wanted: &StatisticsSchema, texts: &[StatisticsText<'_>]) -> StatisticsColumns {
    let mut builder = StatisticsBuilder::with_capacity(wanted, texts.len());
    texts.iter().for_each(|text| builder.push(*text));
    builder.finish().expect("what cannot be used is NULL")
}

fuzz_target!(|bytes: &[u8]| {
    let schema = StructType::from_json(SCHEMA).expect("a schema");
    let wanted = StatisticsSchema::all(&schema, &|field| field.name.clone());
    // White space in front is left to the general way, and says nothing.
    let spaced: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| [b" ", line].concat())
        .collect();
    for form in [
        StatisticsText::Plain as fn(_) -> _,
        StatisticsText::Escaped as fn(_) -> _,
    ] {
        let quick: Vec<_> = spaced.iter().map(|line| form(&line[1..])).collect();
        let general: Vec<_> = spaced.iter().map(|line| form(line)).collect();
        let (quick, general) = (read(&wanted, &quick), read(&wanted, &general));
        assert_eq!(&quick.num_records, &general.num_records);
        assert_eq!(&quick.tight_bounds, &general.tight_bounds);
        assert_eq!(&quick.min, &general.min);
        assert_eq!(&quick.max, &general.max);
        assert_eq!(&quick.null_count, &general.null_count);
    }
});
