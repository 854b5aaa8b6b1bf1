//! Post-commit maintenance on a failing store: every request in turn, with every fault. The commit succeeds, the table
//! is unchanged, and later commits add the missing files.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_log::post_commit::{OwnCommit, PostCommitPolicy, run_post_commit};
use deltaic_protocol::Result;
use deltaic_testkit::facts::live_files;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::own_commits::{append_to, checksum_anew, checksum_beside};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::{TableBuilder, add};
use serde_json::{Value, json};

/// The fault of a request, and whether all later requests meet it too.
const FAULTS: [(Fault, bool); 9] = [
    (Fault::RequestLost, false),
    (Fault::AnswerLost, false),
    (Fault::NotFound, false),
    (Fault::ServerError, true),
    (Fault::PermissionDenied, true),
    (Fault::Truncated, false),
    (Fault::Reset, false),
    (Fault::Lengthened, false),
    (Fault::Slow, false),
];

/// Maintenance after a commit, and the kind of table.
struct Case {
    name: &'static str,
    properties: Value,
    policy: PostCommitPolicy,
    winning_commits: usize,
}

/// After version 10 of each, all requested maintenance is due.
fn cases() -> Vec<Case> {
    let usual = PostCommitPolicy::default();
    let compaction = PostCommitPolicy {
        checkpoint: false,
        compaction_interval: 11,
        ..usual
    };
    let times = "delta.enableInCommitTimestamps";
    let case = |name, properties, policy, winning_commits| Case {
        name,
        properties,
        policy,
        winning_commits,
    };
    vec![
        case("a flat checkpoint", json!({times: "true"}), usual, 0),
        case(
            "sidecars behind winners",
            json!({times: "true", "delta.checkpointPolicy": "v2"}),
            usual,
            2,
        ),
        case("a compaction file", json!({}), compaction, 1),
    ]
}

/// A table with nine commits, one of them before the last checkpoint, and the snapshot of a writer that missed the
/// winning commits.
async fn table_of(case: &Case) -> Result<(TableBuilder, Snapshot)> {
    let mut table = TableBuilder::new();
    let mut first = TableBuilder::first_actions();
    first[0] = json!({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
        "readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint", "inCommitTimestamp"]}});
    first[1]["metaData"]["configuration"] = case.properties.clone();
    let info =
        |version: usize| json!({"commitInfo": {"txnId": version.to_string(), "inCommitTimestamp": version}});
    first.insert(0, info(0));
    table.commit(first).await?;
    for version in 1..10 - case.winning_commits {
        table
            .commit(vec![info(version), add(&format!("f{version}"), None)])
            .await?;
    }
    let snapshot = table.open().await?;
    for version in 10 - case.winning_commits..10 {
        table
            .commit(vec![info(version), add(&format!("f{version}"), None)])
            .await?;
    }
    Ok((table, snapshot))
}

async fn files(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let live = live_files(&table.open().await?).await?;
    Ok(live.into_keys().map(|(path, _)| path).collect())
}

/// Verifies that a version checksum is correct or missing; returns whether it exists.
async fn assert_right_or_absent(table: &TableBuilder, version: i64, how: &str) -> Result<bool> {
    let Some(beside) = checksum_beside(table, version).await? else {
        return Ok(false);
    };
    assert_eq!(beside, checksum_anew(table, version).await?, "{how}");
    Ok(true)
}

/// Number of requests of the commit itself.
async fn requests_of_the_commit(case: &Case) -> Result<usize> {
    let (table, snapshot) = table_of(case).await?;
    table.scripted().forget();
    append_to(&snapshot, "f10", PostCommitPolicy::none()).await?;
    Ok(table.scripted().report().requests.len())
}

/// protocol: state-validation-writer-requirements.2, state-validation-reader-requirements.4, checkpoints.9
#[tokio::test(start_paused = true)]
async fn a_failed_maintenance_does_not_fail_the_commit() -> Result<()> {
    for case in cases() {
        let first = requests_of_the_commit(&case).await?;
        for (fault, lasts) in FAULTS {
            let mut met = 0;
            for number in first.. {
                let until = if lasts { usize::MAX } else { number + 1 };
                let how = format!("{}: {fault:?} at the requests {number}..{until}", case.name);
                if !commit_succeeds(&case, Rule::new(fault).requests(number..until), &how).await? {
                    break;
                }
                met += 1;
            }
            assert!(
                met > 5,
                "{}: the upkeep makes requests, and {met} met {fault:?}",
                case.name
            );
        }
    }
    Ok(())
}

/// One commit whose maintenance meets a fault; returns whether it met it.
async fn commit_succeeds(case: &Case, rule: Rule, how: &str) -> Result<bool> {
    let (table, snapshot) = table_of(case).await?;
    table.scripted().fail(rule);
    let committed = append_to(&snapshot, "f10", case.policy).await;
    let was_met = table.scripted().faults_met() > 0;
    table.scripted().heal();
    let committed = committed.expect(how);
    assert_eq!(
        (committed.version.as_i64(), committed.skipped),
        (10, false),
        "{how}"
    );
    let expected: BTreeSet<String> = (1..11).map(|number| format!("f{number}")).collect();
    assert_eq!(files(&table).await?, expected, "{how}");
    let opened = table.open().await?;
    assert!(opened.warnings().is_empty(), "{how}: {:?}", opened.warnings());
    let is_counted = assert_right_or_absent(&table, 10, how).await?;
    if let Some(checkpoint) = &committed.post_commit.checkpoint {
        assert_eq!(
            opened.segment().checkpoint.as_ref().map(|it| it.version),
            Some(checkpoint.version),
            "{how}"
        );
    }
    assert!(
        is_counted || !committed.post_commit.failures.is_empty(),
        "{how}: there is no checksum, and nothing was told"
    );
    Ok(was_met)
}

/// protocol: checkpoints.3
#[tokio::test(start_paused = true)]
async fn later_commits_make_up_for_what_is_missing() -> Result<()> {
    for case in cases() {
        let (table, snapshot) = table_of(&case).await?;
        // Only commits can be put, so that all other maintenance fails.
        for beside in [
            ".crc",
            ".checkpoint",
            "_sidecars",
            "_last_checkpoint",
            ".compacted",
        ] {
            let rule = Rule::new(Fault::ServerError).of(&[RequestKind::Put]);
            table.scripted().fail(rule.at(beside));
        }
        let committed = append_to(&snapshot, "f10", case.policy).await?;
        assert_eq!(
            committed.post_commit.failures.len(),
            2,
            "{}: {:?}",
            case.name,
            committed.post_commit.failures
        );
        table.scripted().heal();
        let mut snapshot = table.open().await?;
        assert!(snapshot.segment().checkpoint.is_none(), "{}", case.name);
        for number in 11..22 {
            let committed = append_to(&snapshot, &format!("f{number}"), case.policy).await?;
            assert!(
                committed.post_commit.failures.is_empty(),
                "{}: {:?}",
                case.name,
                committed.post_commit.failures
            );
            assert!(
                assert_right_or_absent(&table, number, case.name).await?,
                "{}",
                case.name
            );
            snapshot = snapshot.refresh().await?;
        }
        let opened = table.open().await?;
        assert!(
            opened.warnings().is_empty(),
            "{}: {:?}",
            case.name,
            opened.warnings()
        );
        let checkpoint = opened.segment().checkpoint.as_ref().map(|it| it.version.as_i64());
        assert_eq!(checkpoint, case.policy.checkpoint.then_some(20), "{}", case.name);
        let compactions = opened.segment().compactions.len();
        assert_eq!(compactions, usize::from(!case.policy.checkpoint), "{}", case.name);
        assert_eq!(files(&table).await?.len(), 21, "{}", case.name);
    }
    Ok(())
}

/// A panic after a commit is reported like any other failure: the commit succeeded.
#[tokio::test]
async fn a_failure_after_a_commit_is_reported() -> Result<()> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    let read = table.open().await?;
    let bytes = || -> Result<Vec<u8>> { panic!("a fault of our own") };
    let commit = OwnCommit {
        location: read.location(),
        read: Some(&read),
        version: read.version().next()?,
        bytes: &bytes,
    };
    let post_commit = run_post_commit(commit, PostCommitPolicy::default()).await;
    assert_eq!(post_commit.failures.len(), 1);
    assert!(post_commit.failures[0].starts_with("the log was not maintained: "));
    assert!(post_commit.failures[0].contains("Internal error in deltaic"));
    Ok(())
}
