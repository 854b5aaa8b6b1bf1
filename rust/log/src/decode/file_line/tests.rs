//! Tests of the fast path against its reference implementation.

use deltaic_protocol::actions::{ActionLine, parse_line};
use proptest::prelude::*;

use super::*;

/// A file action as text, and its partition values.
type Decoded = (String, Vec<(String, Option<String>)>);

/// The result of the reference implementation, in the format of the fast path.
fn slow(line: &[u8]) -> Option<Decoded> {
    let vector = |vector: &deltaic_protocol::deletion_vector::DescriptorText<'_>| {
        format!(
            "{} {} {:?} {} {}",
            &*vector.storage_type,
            &*vector.path_or_inline_dv,
            vector.offset,
            vector.size_in_bytes,
            vector.cardinality
        )
    };
    let pairs = |values: &deltaic_protocol::actions::PartitionText<'_>| {
        let text = |text: &deltaic_protocol::actions::Text<'_>| text.to_string();
        values
            .0
            .iter()
            .map(|(key, value)| (text(key), value.as_ref().map(text)))
            .collect()
    };
    match parse_line(line).ok()? {
        ActionLine::Add(add) => Some((
            format!(
                "add {} {} {} {:?} {:?}",
                &*add.path,
                add.size,
                add.modification_time,
                add.deletion_vector.as_ref().map(vector),
                add.stats.map(|raw| raw.get().to_owned())
            ),
            pairs(&add.partition_values),
        )),
        ActionLine::Remove(remove) => Some((
            format!(
                "remove {} {:?} {:?} {} {:?}",
                &*remove.path,
                remove.deletion_timestamp,
                remove.size,
                remove.partition_values.is_some(),
                remove.deletion_vector.as_ref().map(vector)
            ),
            remove.partition_values.as_ref().map(pairs).unwrap_or_default(),
        )),
        _ => None,
    }
}

fn fast(line: &[u8]) -> Option<Decoded> {
    let mut pairs = Vec::new();
    let parsed = parse_file_line(line, &mut pairs)?;
    let vector = |vector: &Descriptor<'_>| {
        format!(
            "{} {} {:?} {} {}",
            vector.storage_type,
            vector.path_or_inline_dv,
            vector.offset,
            vector.size_in_bytes,
            vector.cardinality
        )
    };
    let decoded = match parsed {
        FileLine::Add(add) => format!(
            "add {} {} {} {:?} {:?}",
            add.path,
            add.size,
            add.modification_time,
            add.deletion_vector.as_ref().map(vector),
            add.stats
                .map(|(start, end)| String::from_utf8_lossy(&line[start..end]).into_owned())
        ),
        FileLine::Remove(remove) => format!(
            "remove {} {:?} {:?} {} {:?}",
            remove.path,
            remove.deletion_timestamp,
            remove.size,
            remove.has_partition_values,
            remove.deletion_vector.as_ref().map(vector)
        ),
    };
    let owned = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned)));
    Some((decoded, owned.collect()))
}

const ADD: &str = r#"{"add":{"path":"day=1/a-b.parquet","partitionValues":{"day":"1","x":null},"size":12,"modificationTime":-5,"dataChange":true,"stats":"{\"numRecords\":3,\"minValues\":{\"a\":\"x\\\\y\"}}","tags":{"ZCUBE_ID":"a"},"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6},"baseRowId":7,"defaultRowCommitVersion":3}}"#;
const REMOVE: &str = r#"{"remove":{"path":"a.parquet","deletionTimestamp":1,"dataChange":false,"extendedFileMetadata":true,"partitionValues":{},"size":3,"deletionVector":null,"stats":"{\"numRecords\":3}","tags":{}}}"#;

#[test]
fn lines_as_writers_write_them_are_taken() {
    for line in [ADD, REMOVE] {
        assert!(fast(line.as_bytes()).is_some(), "{line}");
        assert_eq!(fast(line.as_bytes()), slow(line.as_bytes()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    /// For any modification of a line, the fast path returns the result of the slow path, or `None`.
    #[test]
    fn the_two_ways_agree(
        which in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, prop::sample::select(vec![
            "\"", "\\", "{", "}", ",", ":", "null", "0", "-1", "1.5", "1e3", " ", "\u{e9}", "\u{1}", "true", "99999999999999999999",
            ",\"size\":1", ",\"later\":[1,{}]", "\"stats\":7,", "00", "\\u0041", "\\\"",
        ])), 0..3),
    ) {
        let mut line = if which { ADD.to_owned() } else { REMOVE.to_owned() }.into_bytes();
        for (place, removed, inserted) in edits {
            let at = place.index(line.len());
            let end = (at + removed).min(line.len());
            line.splice(at..end, inserted.bytes());
        }
        if let Some(decoded) = fast(&line) {
            prop_assert_eq!(Some(decoded), slow(&line), "{}", String::from_utf8_lossy(&line));
        }
    }
}
