//! A catalog in the committer's seat: it alone makes versions, in order, and transactions go through it.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::committer::{Committer, Outcome};
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{Committed, Operation, Transaction};
use deltaic_protocol::actions::Add;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{ErrorKind, Result, Version};
use deltaic_testkit::catalog::{Catalog, Publishing};
use deltaic_testkit::fault::Fault;
use deltaic_testkit::table_builder::TableBuilder;

/// A version is ratified behind the one before, and what was staged for it is never staged again.
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
    let operation = Operation {
        name: "WRITE",
        parameters: Vec::new(),
        metrics: Vec::new(),
    };
    let mut transaction = Transaction::try_new(snapshot, operation, |_, _, _| Ok(()))?;
    transaction.proposal.adds.push(Add {
        path: path.to_owned(),
        size: 1,
        data_change: true,
        ..Add::default()
    });
    transaction.committer = committer;
    transaction.commit().await
}

/// A transaction that is given a catalog asks it alone: winners that are not published are gone behind, an answer that is
/// lost is one commit, and nobody but the catalog makes a version.
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
