//! Arbitrary bytes as a commit: reading it at once, in parts, and line by line gives the same result.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, StructArray};
use arrow_schema::Schema;
use bytes::Bytes;
use deltaic_log::decode::commits::{DecodedCommit, Splitting, decode_commit, read_commit_in_pieces};
use deltaic_log::decode::{FileBatch, StatisticsSource};
use deltaic_log::listing::LogFile;
use deltaic_log::transaction::WinningCommit;
use deltaic_protocol::actions::{ActionLine, PartitionText, parse_line};
use deltaic_protocol::deletion_vector::DescriptorText;
use deltaic_protocol::error::ContextValue;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};

use crate::untrusted::memory::{Bound, bounded};
use crate::untrusted::runtime::block_on;

/// A line with the shortest action becomes a row of all columns, whose buffers double as they grow.
const BOUND: Bound = Bound {
    per_byte: 256,
    spare: 64 * 1024,
};

/// Longer lines are rejected; low enough that both cases are tried.
const MAX_LINE_BYTES: usize = 2 * 1024;

static FILE: LazyLock<Arc<LogFile>> = LazyLock::new(|| Arc::new(LogFile::commit(Version::ZERO)));

/// A file action as replay uses it: its key, partition values and the statistics JSON.
type Decoded = (String, BTreeMap<String, Option<String>>, Option<String>);

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    LazyLock::force(&FILE);
    let quick = bounded(BOUND, bytes.len(), || decode_commit(bytes, &FILE, MAX_LINE_BYTES));
    // Trailing white space selects the general decoder, and has no meaning.
    let spaced = spaced(bytes);
    let general = decode_commit(&spaced, &FILE, MAX_LINE_BYTES + 1);
    // Slower than the rest; the sizes of the parts depend on the length.
    let is_read_in_pieces = bytes.len().is_multiple_of(3);
    // Conflict checking decodes winning commits separately.
    let winning_commit = bounded(BOUND, bytes.len(), || {
        WinningCommit::decode(Version::ZERO, 0, bytes, MAX_LINE_BYTES)
    });
    match (&quick, &general) {
        (Ok(quick), Ok(general)) => {
            ensure_same(
                quick,
                &winning_commit.expect("a readable commit decodes as a winning commit"),
            );
            let (ours, theirs) = (decoded(quick, bytes), decoded(general, &spaced));
            assert_eq!(ours, theirs);
            assert_eq!(ours, read_line_by_line(bytes));
            let table = format!("{:?}", quick.table);
            assert_eq!(table, format!("{:?}", general.table));
            if is_read_in_pieces {
                let pieces = read_in_pieces(bytes);
                let pieces = pieces.expect("a readable commit can be read in pieces");
                assert_eq!(ours, decoded(&pieces, bytes));
                assert_eq!(table, format!("{:?}", pieces.table));
            }
        }
        (Err(quick), Err(general)) => {
            assert_eq!(
                (quick.kind(), general.kind()),
                (ErrorKind::CorruptLog, ErrorKind::CorruptLog)
            );
            assert_eq!(place(quick), place(general), "{quick} | {general}");
            assert!(
                !is_read_in_pieces || read_in_pieces(bytes).is_err(),
                "reading in pieces does not detect the damage: {quick}"
            );
        }
        _ => panic!("the fast and the general decoder differ: {quick:?} | {general:?}"),
    }
}

/// Conflict checking and replay see the same contents of a commit.
fn ensure_same(commit: &DecodedCommit, winning_commit: &WinningCommit) {
    let rows = |batches: &[Arc<FileBatch>]| batches.iter().map(|batch| batch.len()).sum::<usize>();
    let counts = (winning_commit.adds.len(), winning_commit.removes.len());
    assert_eq!(counts, (rows(&commit.adds), rows(&commit.removes)));
    assert_eq!(
        (&winning_commit.protocol, &winning_commit.metadata),
        (&commit.table.protocol, &commit.table.metadata)
    );
    assert_eq!(
        (&winning_commit.txns, &winning_commit.domains),
        (&commit.table.txns, &commit.table.domains)
    );
}

/// Reads the commit in parts, whose sizes depend on the length.
fn read_in_pieces(bytes: &[u8]) -> Result<DecodedCommit> {
    let size = u64::try_from(bytes.len()).unwrap_or(0);
    let file = Arc::new(LogFile {
        size,
        ..LogFile::commit(Version::ZERO)
    });
    let store = Arc::new(InMemory::new());
    let path = Path::from(format!("t/{}", file.relative()));
    let payload = PutPayload::from(Bytes::copy_from_slice(bytes));
    let location = TableLocation::on_store(
        "memory://t/".to_owned(),
        Arc::<InMemory>::clone(&store),
        Path::from("t"),
    );
    let cut = Splitting {
        piece: 1 + size / 7 + size % 5,
        read: 16 + size % 97,
    };
    block_on(async {
        assert!(store.put(&path, payload).await.is_ok());
        read_commit_in_pieces(&Arc::new(location), &file, cut, MAX_LINE_BYTES).await
    })
}

/// The line number of an error.
fn place(error: &Error) -> Option<&ContextValue> {
    let mut context = error.context().iter();
    context.find(|(key, _)| *key == "line").map(|(_, line)| line)
}

fn spaced(bytes: &[u8]) -> Vec<u8> {
    let lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| match line.strip_suffix(b"\r") {
            Some(line) => [line, b" \r"].concat(),
            None => [line, b" "].concat(),
        })
        .collect();
    lines.join(&b'\n')
}

/// The adds and removes of a commit in order.
pub(super) fn decoded(commit: &DecodedCommit, bytes: &[u8]) -> (Vec<Decoded>, Vec<Decoded>) {
    (rows(&commit.adds, bytes), rows(&commit.removes, bytes))
}

fn rows(batches: &[Arc<FileBatch>], bytes: &[u8]) -> Vec<Decoded> {
    let mut found = Vec::new();
    for files in batches {
        let spans: usize = files.spans.iter().map(|span| span.rows.len()).sum();
        assert_eq!((files.len(), files.hashes.len()), (spans, spans));
        for row in 0..files.len() {
            assert_eq!(files.keys.path(row), text(&files.batch, "path", row));
            found.push(row_of(files, row, bytes));
        }
    }
    found
}

fn row_of(files: &FileBatch, row: usize, bytes: &[u8]) -> Decoded {
    let batch = &files.batch;
    let is_add = batch.column_by_name("modification_time").is_some();
    let numbers: Vec<Option<i64>> = [
        "size",
        if is_add {
            "modification_time"
        } else {
            "deletion_timestamp"
        },
    ]
    .iter()
    .map(|name| number(batch, name, row))
    .collect();
    let vectors = batch
        .column_by_name("deletion_vector")
        .map(|column| column.as_struct());
    let vector = vectors.filter(|vectors| vectors.is_valid(row)).map(|vectors| {
        let vectors = without_nulls(vectors);
        let offset = vectors
            .column_by_name("offset")
            .map(|column| column.as_primitive::<Int32Type>());
        let offset = offset
            .filter(|offset| offset.is_valid(row))
            .map(|offset| offset.value(row));
        let size = vectors
            .column_by_name("size_in_bytes")
            .map(|column| column.as_primitive::<Int32Type>());
        format!(
            "{} {} {offset:?} {:?} {:?}",
            text(&vectors, "storage_type", row),
            text(&vectors, "path_or_inline_dv", row),
            size.map(|size| size.value(row)),
            number(&vectors, "cardinality", row)
        )
    });
    let maps = batch
        .column_by_name("partition_values")
        .map(|column| column.as_map());
    let maps = maps.filter(|maps| maps.is_valid(row));
    let statistics = match &files.statistics {
        StatisticsSource::Lines(places) => {
            let at =
                |number: Option<&u64>| usize::try_from(number.copied().unwrap_or(0)).unwrap_or(usize::MAX);
            let first = at(places.first.get(row));
            let length = at(places.length.get(row).map(|length| u64::from(*length)).as_ref());
            let text = bytes
                .get(first..first.saturating_add(length))
                .filter(|text| !text.is_empty());
            text.map(|text| String::from_utf8_lossy(text).into_owned())
        }
        _ => None,
    };
    let path = text(batch, "path", row);
    (
        format!("{path} {numbers:?} {vector:?} {}", maps.is_some()),
        maps.map(|maps| values_of_row(maps, row)).unwrap_or_default(),
        statistics,
    )
}

/// The fields of a struct, also for rows in which the struct is null.
fn without_nulls(rows: &StructArray) -> RecordBatch {
    let schema = Arc::new(Schema::new(rows.fields().clone()));
    RecordBatch::try_new(schema, rows.columns().to_vec()).expect("members have the length of their struct")
}

fn text<'a>(batch: &'a RecordBatch, name: &str, row: usize) -> &'a str {
    let column = batch.column_by_name(name).map(|column| column.as_string::<i32>());
    column.map(|column| column.value(row)).unwrap_or_default()
}

fn number(batch: &RecordBatch, name: &str, row: usize) -> Option<i64> {
    let column = batch.column_by_name(name)?.as_primitive::<Int64Type>();
    column.is_valid(row).then(|| column.value(row))
}

/// Decodes each line with the single-line reader, the reference implementation.
fn read_line_by_line(bytes: &[u8]) -> (Vec<Decoded>, Vec<Decoded>) {
    let (mut adds, mut removes) = (Vec::new(), Vec::new());
    for line in bytes.split(|byte| *byte == b'\n') {
        match parse_line(line) {
            Ok(ActionLine::Add(add)) => {
                let stats = add.stats.map(|raw| raw.get().to_owned());
                adds.push((
                    format!(
                        "{} {:?} {:?} true",
                        &*add.path,
                        [Some(add.size), Some(add.modification_time)],
                        add.deletion_vector.as_ref().map(vector)
                    ),
                    pairs(&add.partition_values),
                    stats.filter(|text| text.starts_with('"')),
                ));
            }
            Ok(ActionLine::Remove(remove)) => removes.push((
                format!(
                    "{} {:?} {:?} {}",
                    &*remove.path,
                    [remove.size, remove.deletion_timestamp],
                    remove.deletion_vector.as_ref().map(vector),
                    remove.partition_values.is_some()
                ),
                remove.partition_values.as_ref().map(pairs).unwrap_or_default(),
                None,
            )),
            Ok(_) => {}
            Err(error) => assert!(
                line.iter().all(u8::is_ascii_whitespace),
                "a damaged line was accepted: {error}"
            ),
        }
    }
    (adds, removes)
}

fn vector(vector: &DescriptorText<'_>) -> String {
    format!(
        "{} {} {:?} {:?} {:?}",
        &*vector.storage_type,
        &*vector.path_or_inline_dv,
        vector.offset,
        Some(vector.size_in_bytes),
        Some(vector.cardinality)
    )
}

fn pairs(values: &PartitionText<'_>) -> BTreeMap<String, Option<String>> {
    let pairs = values.0.iter();
    pairs
        .map(|(name, value)| (name.to_string(), value.as_ref().map(|value| value.to_string())))
        .collect()
}
