//! Files with equal hashes are distinguished by their keys.

use arrow_json::ReaderBuilder;
use deltaic_protocol::actions::columns::{add_schema, remove_schema};
use serde_json::json;

use super::*;
use crate::decode::distinct::ensure_distinct;
use crate::decode::{Span, StatisticsSource};

/// Adds or removes of the commit of a version, all with one hash.
fn colliding(version: i64, paths: &[&str], are_adds: bool) -> Arc<FileBatch> {
    let version = Version::try_new(version).expect("a version");
    let schema = if are_adds { add_schema() } else { remove_schema() };
    let mut decoder = ReaderBuilder::new(schema).build_decoder().expect("a schema");
    let rows: Vec<_> = paths
        .iter()
        .map(|path| json!({"path": path, "partition_values": {}, "size": 1, "modification_time": 1}))
        .collect();
    decoder.serialize(&rows).expect("rows");
    let batch = decoder.flush().expect("a batch").expect("some rows");
    let span = Span {
        file: Arc::new(LogFile::commit(version)),
        version,
        rows: 0..paths.len(),
    };
    let mut batch = FileBatch::try_new(batch, vec![span], StatisticsSource::None).expect("keys");
    batch.hashes = vec![7; paths.len()];
    Arc::new(batch)
}

fn surviving(survivors: &Survivors) -> Vec<&str> {
    let rows = survivors.live.set_indices();
    rows.map(|row| survivors.files.keys.path(row)).collect()
}

#[test]
fn files_of_one_hash_are_reported_apart() -> Result<()> {
    let (older, newer) = (
        colliding(1, &["a", "b", "c"], true),
        colliding(3, &["d", "e"], true),
    );
    let gone = colliding(2, &["b", "x"], false);
    // Between commits, newest first.
    let (keys, adds, removes) = NewerKeys::reconcile(&[newer.clone(), older.clone()], &[gone])?;
    assert_eq!(surviving(&adds[0]), ["d", "e"]);
    assert_eq!(surviving(&adds[1]), ["a", "c"]);
    assert_eq!(surviving(&removes[0]), ["b", "x"]);
    // And of a checkpoint that is older than all of them.
    let checkpoint = Survivors::all(colliding(0, &["a", "b", "x", "y"], true));
    assert_eq!(surviving(&keys.probe(&checkpoint)), ["y"]);
    assert_eq!(surviving(&keys.probe_adds(&checkpoint)?), ["y"]);
    Ok(())
}

#[test]
fn a_checkpoint_whose_files_have_one_hash_holds_each_once() -> Result<()> {
    let files = |paths: &[&str]| vec![colliding(0, paths, true), colliding(0, &["z"], true)];
    assert_eq!(ensure_distinct(&files(&["a", "b"]))?, None);
    for twice in [&["a", "a"][..], &["a", "z"]] {
        let error = ensure_distinct(&files(twice)).expect_err("a file is listed twice");
        assert_eq!(error.kind(), ErrorKind::CorruptLog);
    }
    Ok(())
}
