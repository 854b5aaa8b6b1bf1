//! Arbitrary bytes as a checkpoint: a valid state or an error, with memory in proportion to the file.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::decode::checkpoint::Checkpoint;
use deltaic_log::decode::commits::MAX_LINE_BYTES;
use deltaic_log::listing::Listing;
use deltaic_log::segment::complete_checkpoints;
use deltaic_log::snapshot::{LoadOptions, Pruning, WithStatistics};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use crate::untrusted::memory::{Bound, bounded};
use crate::untrusted::runtime::block_on;

/// The memory of rows is limited to 256 MiB and 1024 bytes per byte of the file: once for the rows, once more while
/// batches are concatenated, and a part in buffers that double as they grow.
const BOUND: Bound = Bound {
    per_byte: 4 * 1024,
    spare: 640 * 1024 * 1024,
};

const NAME: &str = "t/_delta_log/00000000000000000000.checkpoint.parquet";

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let store = Arc::new(InMemory::new());
    let shared: Arc<dyn ObjectStore> = Arc::<InMemory>::clone(&store);
    let location = Arc::new(TableLocation::on_store(
        "memory://t/".to_owned(),
        shared,
        Path::from("t"),
    ));
    let payload = PutPayload::from(Bytes::copy_from_slice(bytes));
    let put = block_on(store.put(&Path::from(NAME), payload));
    assert!(put.is_ok());
    let read = bounded(BOUND, bytes.len(), || block_on(read(&location)));
    let opened = bounded(BOUND, bytes.len(), || {
        block_on(Snapshot::load(
            Arc::clone(&location),
            None,
            LoadOptions::default(),
        ))
    });
    match (read, opened) {
        (Ok(read), Ok(snapshot)) => {
            assert_eq!(snapshot.num_files(), read.num_files());
            bounded(BOUND, bytes.len(), || block_on(ask(&snapshot)));
        }
        // A complete checkpoint may describe an unsupported table.
        (Ok(_), Err(error)) => assert!(is_expected(&error), "{error:?}"),
        (Err(error), Err(also)) => assert!(is_expected(&error) && is_expected(&also), "{error:?} {also:?}"),
        (Err(error), Ok(_)) => panic!("a table opened although its only checkpoint cannot be read: {error}"),
    }
}

fn is_expected(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::CorruptLog | ErrorKind::UnsupportedFeature
    )
}

/// The contents of a checkpoint.
struct Read(Checkpoint);

impl Read {
    fn num_files(&self) -> usize {
        self.0.adds.iter().map(|adds| adds.len()).sum()
    }
}

async fn read(location: &Arc<TableLocation>) -> Result<Read> {
    let listing = Listing::whole(location).await?;
    let found = complete_checkpoints(&listing, None);
    let Some(files) = found.first() else {
        panic!("the checkpoint is not listed");
    };
    let checkpoint = Checkpoint::read(location, files, MAX_LINE_BYTES).await?;
    assert!(checkpoint.table.protocol.is_some() && checkpoint.table.metadata.is_some());
    let mut keys = HashSet::new();
    for adds in &checkpoint.adds {
        let sizes = adds
            .batch
            .column_by_name("size")
            .map(|sizes| sizes.as_primitive::<Int64Type>());
        assert!(sizes.is_some_and(|sizes| sizes.values().iter().all(|size| *size >= 0)));
        for row in 0..adds.len() {
            assert!(keys.insert(adds.keys.key(row)), "a file is listed twice");
        }
    }
    drop(keys);
    // Tombstones are read lazily, and may be damaged independently.
    if let Err(error) = checkpoint.read_tombstones().await {
        assert!(is_expected(&error), "{error:?}");
    }
    Ok(Read(checkpoint))
}

/// Reads everything that is lazy, in particular statistics.
async fn ask(snapshot: &Snapshot) {
    let all = Pruning {
        predicate: None,
        statistics: WithStatistics::All,
    };
    match snapshot.prune(all).await {
        Ok((files, _)) => {
            assert_eq!(files.len(), snapshot.num_files());
            match files.to_batches() {
                Ok(batches) => {
                    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
                    assert_eq!(rows, files.len());
                }
                Err(error) => assert!(is_expected(&error), "{error:?}"),
            }
        }
        Err(error) => assert!(is_expected(&error), "{error:?}"),
    }
    for asked in [
        snapshot.size_in_bytes().map(|_| ()),
        snapshot.num_rows().await.map(|_| ()),
        snapshot.tombstones().await.map(|_| ()),
    ] {
        if let Err(error) = asked {
            assert!(is_expected(&error), "{error:?}");
        }
    }
}
