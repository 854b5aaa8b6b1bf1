//! Checkpoints that claim more than their bytes can contain are reported as damaged before memory is allocated.

use std::sync::Arc;

use deltaic_protocol::{ErrorKind, Result};
use deltaic_storage::ParquetFile;
use deltaic_testkit::table_builder::TableBuilder;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::ParquetError;

const CHECKPOINT: &str = "_delta_log/00000000000000000000.checkpoint.parquet";

/// Files of 1 or 2 KB: 60,000 rows with one path of a megabyte, a row of 20,000,000 partition values, and 20,000 paths
/// of 20,000 bytes in delta encoding (each with the prefix length of the previous one).
const BOMBS: [&[u8]; 3] = [
    include_bytes!("../../../../fuzz/bombs/checkpoint/long_path"),
    include_bytes!("../../../../fuzz/bombs/checkpoint/long_row"),
    include_bytes!("../../../../fuzz/bombs/checkpoint/by_prefix"),
];

#[tokio::test]
async fn a_checkpoint_that_represents_far_more_than_its_bytes_is_damage() -> Result<()> {
    for bomb in BOMBS {
        let table = TableBuilder::new();
        table.put(CHECKPOINT, bomb.to_vec()).await?;
        let opened = table.open().await;
        let error = opened.expect_err("there are no commits");
        assert_eq!(error.kind(), ErrorKind::CorruptLog);
        assert!(
            error.to_string().contains("more data than a file of its size"),
            "{error}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_compaction_is_skipped_if_its_commits_exist() -> Result<()> {
    for bomb in BOMBS {
        let mut table = TableBuilder::new();
        table.commit(TableBuilder::first_actions()).await?;
        table.put(CHECKPOINT, bomb.to_vec()).await?;
        let opened = table.open().await?;
        assert_eq!(opened.num_files(), 0);
        assert!(
            opened
                .warnings()
                .iter()
                .any(|warning| warning.contains("checkpoint"))
        );
    }
    Ok(())
}

/// A read beyond the end returns fewer bytes, which would be reported as an error of the store.
#[tokio::test]
async fn a_place_after_the_files_end_is_the_footers_fault() {
    let store = Arc::new(InMemory::new());
    let path = Path::from("a.parquet");
    store
        .put(&path, vec![7u8; 100].into())
        .await
        .expect("memory takes all");
    let shared: Arc<dyn ObjectStore> = store;
    let mut file = ParquetFile::listed(shared, path, 100);
    assert_eq!(
        file.get_bytes(90..100).await.map(|bytes| bytes.len()).ok(),
        Some(10)
    );
    for range in [90..101, 200..300, 0..u64::MAX] {
        let got = file.get_byte_ranges(vec![0..4, range]).await;
        assert!(matches!(got, Err(ParquetError::EOF(_))), "{got:?}");
    }
}
