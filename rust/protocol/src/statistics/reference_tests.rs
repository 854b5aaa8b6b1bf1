//! The fast and the general parser return the same columns for any text.

use arrow_array::Int64Array;
use arrow_array::cast::AsArray;
use proptest::prelude::*;

use super::{StatisticsBuilder, StatisticsColumns, StatisticsSchema, StatisticsText};
use crate::schema::{ArrayType, DataType, PrimitiveType, StructField, StructType};

fn schema() -> StructType {
    let field = |name: &str, kind: PrimitiveType| StructField::new(name, kind.into(), true);
    let mut once_float = field("was", PrimitiveType::Double);
    let changes = serde_json::json!([{"fromType": "float", "toType": "double"}]);
    once_float
        .metadata
        .insert("delta.typeChanges".to_owned(), changes);
    let list = ArrayType {
        element_type: PrimitiveType::Long.into(),
        contains_null: true,
    };
    let below = StructType {
        fields: vec![
            field("long", PrimitiveType::Long),
            field("a longer name: é", PrimitiveType::String),
        ],
    };
    StructType {
        fields: vec![
            field("byte", PrimitiveType::Byte),
            field("integer", PrimitiveType::Integer),
            field("long", PrimitiveType::Long),
            field("float", PrimitiveType::Float),
            field("double", PrimitiveType::Double),
            once_float,
            field(
                "small",
                PrimitiveType::Decimal {
                    precision: 6,
                    scale: 2,
                },
            ),
            field(
                "large",
                PrimitiveType::Decimal {
                    precision: 38,
                    scale: 18,
                },
            ),
            field("text", PrimitiveType::String),
            field("date", PrimitiveType::Date),
            field("time", PrimitiveType::Timestamp),
            field("wall", PrimitiveType::TimestampNtz),
            field("flag", PrimitiveType::Boolean),
            StructField::new("list", DataType::Array(Box::new(list)), true),
            StructField::new("s", DataType::Struct(below), true),
        ],
    }
}

const KEYS: [&str; 23] = [
    "byte",
    "integer",
    "long",
    "float",
    "double",
    "was",
    "small",
    "large",
    "text",
    "date",
    "time",
    "wall",
    "flag",
    "list",
    "s",
    "a longer name: é",
    "unknown",
    "numRecords",
    "minValues",
    "nullCount",
    "nullCounts",
    "by\\u0074e",
    "",
];

/// JSON values at the limits of every type.
const VALUES: [&str; 80] = [
    "123456789012345.1234567",
    "99999999.9999999",
    "0",
    "-0",
    "1",
    "-1",
    "7",
    "127",
    "128",
    "-128",
    "-129",
    "32768",
    "2147483647",
    "2147483648",
    "-2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "999999999999999999",
    "1000000000000000000",
    "18446744073709551616",
    "12345678",
    "123456789",
    "0.1",
    "6.1",
    "-6.1",
    "1.5",
    "1.50",
    "-0.0",
    "0.0",
    "1E-2",
    "1e2",
    "1.5E+3",
    "1e400",
    "1E-18",
    "16777217",
    "16777217.0",
    "9007199254740993",
    "3.4028236e38",
    "0.30000000000000004",
    "1.7976931348623157e308",
    "5e-324",
    "9999.99",
    "10000",
    "9999.995",
    "12345678901234567890.123456789012345678",
    "99999999999999999999.999999999999999999",
    "01",
    "1.",
    ".5",
    "-",
    "+1",
    "1e",
    "NaN",
    "\"NaN\"",
    "\"Infinity\"",
    "\"-Infinity\"",
    "\"1.5\"",
    "\"\"",
    "\"text\"",
    "\"é🚋\"",
    "\"a\\\"b\\\\c\"",
    "\"\\u0041\\ud83d\\ude8b\"",
    "\"\\ud83d\"",
    "\"{\\\"numRecords\\\":1}\"",
    "\"{},:\"",
    "\"2024-02-29\"",
    "\"2023-02-29\"",
    "\"+12024-01-01\"",
    "\"2024-01-01T00:00:00.000Z\"",
    "\"2024-01-01T23:59:60.999Z\"",
    "\"2024-01-01T05:06:07.123\"",
    "\"2024-01-01 05:06:07.123456\"",
    "\"2024-01-01T05:06:07.123+02:00\"",
    "true",
    "false",
    "null",
    "[1]",
    "{}",
    "{\"long\":1}",
];

fn key() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(KEYS.to_vec())
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => proptest::sample::select(VALUES.to_vec()).prop_map(str::to_owned),
        2 => any::<i64>().prop_map(|value| value.to_string()),
        1 => any::<f64>().prop_map(|value| format!("{value:?}")),
        1 => any::<f32>().prop_map(|value| format!("{value}")),
        1 => "\\PC{0,20}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ]
}

fn object(members: Vec<(&str, String)>) -> String {
    let members: Vec<String> = members
        .into_iter()
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// The columns of one kind, in schema order with some omitted, or in any order.
fn columns() -> impl Strategy<Value = String> {
    let some = (prop::collection::vec(value(), 14), any::<u16>()).prop_map(|(values, left_out)| {
        let members = KEYS.into_iter().zip(values).enumerate();
        object(
            members
                .filter(|(at, _)| left_out & 0x1111 & (1 << at) == 0)
                .map(|(_, member)| member)
                .collect(),
        )
    });
    prop_oneof![
        4 => some,
        2 => prop::collection::vec((key(), value()), 0..6).prop_map(object),
        1 => value(),
    ]
    .prop_flat_map(|text| {
        (Just(text), proptest::option::weighted(0.3, value())).prop_map(|(text, nested)| match nested {
            Some(nested) if text.ends_with('}') && text.len() > 2 => {
                let inner = object(vec![("long", nested), ("a longer name: é", "\"x\"".to_owned())]);
                format!("{},\"s\":{inner}}}", text.trim_end_matches('}'))
            }
            _ => text,
        })
    })
}

/// Mostly statistics as writers write them.
fn ordinary() -> impl Strategy<Value = String> {
    (
        value(),
        columns(),
        columns(),
        columns(),
        proptest::option::weighted(0.3, value()),
    )
        .prop_map(|(rows, min, max, nulls, tight)| {
            let mut members = vec![("numRecords", rows)];
            members.extend(tight.map(|tight| ("tightBounds", tight)));
            members.extend([("minValues", min), ("maxValues", max), ("nullCount", nulls)]);
            object(members)
        })
}

/// At most one change of a text.
#[derive(Clone, Debug)]
enum Change {
    None,
    Cut,
    Insert(u8),
    Replace(u8),
    Remove(usize),
    Repeat(usize),
}

fn changed(text: &[u8], change: &Change, at: usize) -> Vec<u8> {
    let at = at % (text.len() + 1);
    let (before, after) = text.split_at(at);
    let skip = |bytes: usize| after.get(bytes..).unwrap_or_default();
    match change {
        Change::None => text.to_vec(),
        Change::Cut => before.to_vec(),
        Change::Insert(byte) => [before, &[*byte], after].concat(),
        Change::Replace(byte) => [before, &[*byte], skip(1)].concat(),
        Change::Remove(bytes) => [before, skip(*bytes)].concat(),
        Change::Repeat(bytes) => [before, &after[..(*bytes).min(after.len())], after].concat(),
    }
}

fn changes() -> impl Strategy<Value = (Change, usize)> {
    let byte =
        || prop_oneof![4 => proptest::sample::select(b" \n\"\\{}[]:,-.0eE9u\0".to_vec()), 1 => any::<u8>()];
    let change = prop_oneof![
        8 => Just(Change::None),
        1 => Just(Change::Cut),
        2 => byte().prop_map(Change::Insert),
        2 => byte().prop_map(Change::Replace),
        1 => (1..30usize).prop_map(Change::Remove),
        1 => (1..30usize).prop_map(Change::Repeat),
    ];
    (change, 0..600usize)
}

fn texts() -> impl Strategy<Value = Vec<(Vec<u8>, bool)>> {
    let text = prop_oneof![8 => ordinary(), 1 => value(), 1 => "\\PC{0,30}"];
    let one = (text, changes(), any::<bool>()).prop_map(|(text, (change, at), escaped)| {
        let text = if escaped {
            let quoted = serde_json::to_string(&text).unwrap();
            quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
        } else {
            text
        };
        (changed(text.as_bytes(), &change, at), escaped)
    });
    prop::collection::vec(one, 1..6)
}

fn assert_same(quick: &StatisticsColumns, slow: &StatisticsColumns, rows: &[(Vec<u8>, bool)]) {
    let shown: Vec<_> = rows
        .iter()
        .map(|(text, _)| String::from_utf8_lossy(text))
        .collect();
    for (name, quick, slow) in [
        ("num_records", &quick.num_records, &slow.num_records),
        ("tight_bounds", &quick.tight_bounds, &slow.tight_bounds),
        ("min", &quick.min, &slow.min),
        ("max", &quick.max, &slow.max),
        ("null_count", &quick.null_count, &slow.null_count),
    ] {
        assert_eq!(quick, slow, "{name}: {shown:#?}");
    }
}

fn both_ways(schema: &StatisticsSchema, rows: &[(Vec<u8>, bool)]) -> [StatisticsColumns; 2] {
    let mut quick = StatisticsBuilder::with_capacity(schema, 1);
    let mut slow = StatisticsBuilder::with_capacity(schema, 1);
    for (text, escaped) in rows {
        let text = if *escaped {
            StatisticsText::Escaped(text)
        } else {
            StatisticsText::Plain(text)
        };
        quick.push(text);
        slow.push_slowly(text);
    }
    [quick.finish().unwrap(), slow.finish().unwrap()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_quick_way_reads_what_the_general_way_reads(rows in texts()) {
        let table = schema();
        let name_of = |field: &StructField| field.name.clone();
        let some = [vec!["was".to_owned()], vec!["s".to_owned(), "a longer name: é".to_owned()]];
        for wanted in [
            StatisticsSchema::all(&table, &name_of),
            StatisticsSchema::of_columns(&table, &name_of, &some),
            StatisticsSchema::num_records_only(),
        ] {
            let [quick, slow] = both_ways(&wanted, &rows);
            assert_same(&quick, &slow, &rows);
        }
    }
}

/// Ordinary statistics are parsed by the fast parser, escaped or not.
#[test]
fn common_schemas_take_the_fast_path() {
    use super::leaf_builders::Columns;
    use super::one_pass::OnePass;
    let table = schema();
    let wanted = StatisticsSchema::all(&table, &|field| field.name.clone());
    let text = concat!(
        r#"{"numRecords":3,"tightBounds":true,"minValues":{"byte":-1,"double":"NaN","text":"é","s":{"long":1}},"#,
        r#""maxValues":{"byte":1,"large":1E-18,"date":"2024-01-01"},"nullCount":{"byte":null,"s":{"long":0}}}"#
    );
    let mut columns = Columns::new(&wanted, 1);
    assert_eq!(
        OnePass::<false>::new(&wanted).read(text.as_bytes(), &mut columns, 0),
        Some(true)
    );
    let escaped = text.replace('"', "\\\"");
    let mut columns = Columns::new(&wanted, 1);
    assert_eq!(
        OnePass::<true>::new(&wanted).read(escaped.as_bytes(), &mut columns, 0),
        Some(true)
    );
}

/// An example in the protocol uses another name for the counts; with both names, no count is used.
#[test]
fn counts_have_two_names() {
    let table = schema();
    let wanted = StatisticsSchema::all(&table, &|field| field.name.clone());
    let rows = [
        (br#"{"nullCounts":{"byte":3}}"#.to_vec(), false),
        (br#"{"nullCount":{"byte":3}}"#.to_vec(), false),
        (
            br#"{"nullCount":{"byte":3},"nullCounts":{"byte":4}}"#.to_vec(),
            false,
        ),
    ];
    let [quick, slow] = both_ways(&wanted, &rows);
    assert_same(&quick, &slow, &rows);
    assert_eq!(
        quick.null_count.as_struct().column(0).as_ref(),
        &Int64Array::from(vec![Some(3), Some(3), None])
    );
}

/// protocol: per-file-statistics.3
/// protocol: beyond:type-widening.8
#[test]
fn a_column_that_was_a_float_has_bounds_that_hold_for_the_float() {
    let table = schema();
    let path = [vec!["was".to_owned()]];
    let wanted = StatisticsSchema::of_columns(&table, &|field| field.name.clone(), &path);
    let rows = [
        (
            br#"{"minValues":{"was":6.1},"maxValues":{"was":0.1}}"#.to_vec(),
            false,
        ),
        (
            br#"{"minValues":{"was":0.1},"maxValues":{"was":6.1}}"#.to_vec(),
            false,
        ),
    ];
    for columns in both_ways(&wanted, &rows) {
        let shown = format!("{:?} {:?}", columns.min, columns.max);
        for expected in [f64::from(6.1f32), 0.1, f64::from(0.1f32), 6.1] {
            assert!(shown.contains(&format!("{expected:?}")), "{expected:?}: {shown}");
        }
    }
}
