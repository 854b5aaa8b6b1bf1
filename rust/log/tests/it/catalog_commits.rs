//! A catalog as the committer: only the catalog creates versions, in order, and transactions commit through it.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use deltaic_log::Snapshot;
use deltaic_log::committer::{BoxedFuture, Committer, Outcome};
use deltaic_log::log_tail::{LogTail, StagedCommit};
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{Committed, Operation, Transaction};
use deltaic_protocol::actions::Add;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_testkit::catalog::{Catalog, Publishing};
use deltaic_testkit::committer_contract::reports_a_slow_commit;
use deltaic_testkit::fault::Fault;
use deltaic_testkit::table_builder::TableBuilder;
use serde_json::{Value, json};

/// A version is ratified after its predecessor, and its staged file is never staged again.
#[tokio::test]
async fn a_catalog_leaves_no_gap() -> Result<()> {
    let location = TableBuilder::new().location();
    let catalog = Catalog::over(&location, 0, Publishing::AtOnce);
    let second = Version::try_new(1)?;
    let early = catalog.propose(second, b"early\n".to_vec()).await;
    assert_eq!(
        early.err().map(|error| error.kind()),
        Some(ErrorKind::StorageError)
    );
    assert_eq!(catalog.read_commit(second).await?, None);
    for version in [Version::ZERO, second] {
        let outcome = catalog.propose(version, b"in time\n".to_vec()).await?;
        assert_eq!(outcome, Outcome::Committed(version));
    }
    let ratified = catalog.ratified();
    assert_eq!(ratified.len(), 2);
    assert!(
        ratified
            .iter()
            .all(|path| path.starts_with("_delta_log/_staged_commits/"))
    );
    assert_ne!(ratified[0], ratified[1]);
    Ok(())
}

async fn append(snapshot: &Snapshot, committer: &dyn Committer, path: &str) -> Result<Committed> {
    let mut transaction = Transaction::try_new(snapshot, Operation::Write, |_| Ok(()))?;
    transaction.proposal.adds.push(Add {
        path: path.to_owned(),
        size: 1,
        data_change: true,
        ..Add::default()
    });
    transaction.committer = committer;
    transaction.commit().await
}

/// A transaction with a catalog commits only through it: it rebases over unpublished winning commits, a lost response
/// gives one commit, and only the catalog creates versions.
#[tokio::test(start_paused = true)]
async fn a_transaction_commits_through_a_catalog() -> Result<()> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    let location = table.location();
    let snapshot = Snapshot::load(Arc::clone(&location), None, LoadOptions::default()).await?;
    let catalog = Catalog::over(&location, 1, Publishing::Later);
    let faults: [(&str, &[Fault]); 4] = [
        ("a", &[]),
        ("b", &[Fault::AnswerLost]),
        ("c", &[Fault::RequestLost, Fault::RequestLost]),
        ("d", &[Fault::RequestLost, Fault::AnswerLost]),
    ];
    for (number, (path, faults)) in faults.into_iter().enumerate() {
        catalog.meets(number + 1, faults);
        let committed = append(&snapshot, &catalog, path).await?;
        let version = usize::try_from(committed.version.as_i64()).unwrap_or_default();
        assert_eq!(
            (version, committed.conflicts_resolved.len()),
            (number + 1, number)
        );
        let published = LogPath::commit(committed.version);
        assert!(location.read(&published).await.is_err(), "{published} is there");
    }
    catalog.publish().await?;
    let after = Snapshot::load(location, None, LoadOptions::default()).await?;
    assert_eq!((after.version().as_i64(), after.num_files()), (4, 4));
    Ok(())
}

/// The catalog's information about a table: ratified unpublished commits, and the newest version.
async fn tail(table: &TableBuilder, catalog: &Catalog) -> Result<LogTail> {
    let mut commits = Vec::new();
    for (number, path) in (0..).zip(catalog.ratified()) {
        if let Some(name) = path.strip_prefix("_delta_log/_staged_commits/") {
            commits.push(StagedCommit {
                version: Version::try_new(number)?,
                name: name.to_owned(),
                size: table.read(&path).await?.len() as u64,
                modified_ms: 0,
            });
        }
    }
    Ok(LogTail {
        max_version: commits.last().map(|commit| commit.version),
        commits,
    })
}

/// Version 0 of a catalog-managed table.
async fn managed() -> Result<TableBuilder> {
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
        "writerFeatures": ["catalogManaged", "vacuumProtocolCheck", "inCommitTimestamp"]}});
    first[1]["metaData"]["configuration"] = json!({"delta.enableInCommitTimestamps": "true"});
    first.insert(
        0,
        json!({"commitInfo": {"operation": "CREATE TABLE", "txnId": "first", "inCommitTimestamp": 1}}),
    );
    TableBuilder::of(&[first]).await
}

/// A catalog outside of this crate implements both: `LogTail` for reading, `Committer` for writing.
///
/// protocol: catalog:terminology-delta-client.2, catalog:change-to-existing-section.8,
/// catalog:writer-requirements-for-catalog-managed-tables.3
#[tokio::test]
async fn each_commit_to_a_managed_table_has_its_own_transaction_id() -> Result<()> {
    let table = managed().await?;
    let catalog = Catalog::over(&table.location(), 1, Publishing::Later);
    let open = async || {
        let tail = tail(&table, &catalog).await?;
        Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await
    };
    // The second commit follows a winning commit that it has not read; the third is sent twice.
    let stale = open().await?;
    append(&stale, &catalog, "a").await?;
    append(&stale, &catalog, "b").await?;
    catalog.meets(3, &[Fault::RequestLost, Fault::AnswerLost]);
    append(&open().await?, &catalog, "c").await?;
    let after = open().await?;
    assert_eq!((after.version().as_i64(), after.num_files()), (3, 3));

    let mut ids = BTreeSet::from(["first".to_owned()]);
    for path in catalog.ratified().iter().skip(1) {
        let bytes = table.read(path).await?;
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let action: Value = serde_json::from_slice(line).unwrap_or_default();
        let id = action["commitInfo"]["txnId"].as_str().unwrap_or_default();
        assert!(!id.is_empty(), "{path}: {action}");
        assert!(ids.insert(id.to_owned()), "{id} is not unique");
    }
    assert_eq!(ids.len(), 4);
    Ok(())
}

/// A catalog's committer that does not declare itself gapless.
#[derive(Debug)]
struct Plain(Catalog);

impl Committer for Plain {
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome> {
        self.0.propose(version, commit)
    }

    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>> {
        self.0.read_commit(version)
    }
}

/// A slow commit is not searched in the log folder if a catalog knows its versions: it may be unpublished.
///
/// protocol: catalog:writer-requirements-for-catalog-managed-tables.3
#[tokio::test(start_paused = true)]
async fn a_slow_commit_through_a_catalog_is_reported() -> Result<()> {
    for publishing in [Publishing::AtOnce, Publishing::Later] {
        let table = managed().await?;
        let catalog = Catalog::over(&table.location(), 1, publishing);
        let open = async || {
            let tail = tail(&table, &catalog).await?;
            Snapshot::load_with_tail(table.location(), &tail, None, LoadOptions::default()).await
        };
        reports_a_slow_commit(&catalog, &open().await?).await?;
        reports_a_slow_commit(&Plain(catalog.clone()), &open().await?).await?;
        let plain = TableBuilder::with_properties(&json!({}), 1).await?;
        let gapless = Catalog::over(&plain.location(), 2, publishing);
        reports_a_slow_commit(&gapless, &plain.open().await?).await?;
    }
    let table = TableBuilder::with_properties(&json!({}), 1).await?;
    reports_a_slow_commit(table.location().as_ref(), &table.open().await?).await
}
