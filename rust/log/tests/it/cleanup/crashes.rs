//! Cleanups that are interrupted anywhere or run concurrently: the remaining log is readable, and can be cleaned up
//! again.

use std::collections::BTreeSet;

use deltaic_log::cleanup::{clean_up, plan_cleanup};
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::Layout;
use deltaic_testkit::facts::facts;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::property::holds;
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::strategies::history_with_maintenance;
use deltaic_testkit::table_builder::TableBuilder;
use proptest::prelude::*;
use serde_json::json;

use super::observed::{assert_readable_from, long_after, names};
use super::table::table;

/// The store stops responding at any request, once or permanently, whether or not the request was executed: then every
/// listed version is readable, the newest is unchanged, and another cleanup has the same result.
///
/// protocol: checkpoints.3
#[tokio::test]
async fn a_crash_at_any_request_leaves_a_table_that_opens() -> Result<()> {
    for layout in [
        Layout::Classic,
        Layout::MultiPart(2),
        Layout::V2(CheckpointFormat::Json, 1),
    ] {
        let whole = table(layout, &json!({})).await?;
        clean_up(&whole.open().await?, long_after()).await?;
        let expected: Vec<usize> = name_lengths(&names(&whole).await?);
        for fault in [Fault::RequestLost, Fault::AnswerLost] {
            for is_for_good in [false, true] {
                for number in 0.. {
                    let how = format!("{layout:?}, {fault:?} at request {number}, for good: {is_for_good}");
                    let table = table(layout, &json!({})).await?;
                    let snapshot = table.open().await?;
                    let end = if is_for_good { usize::MAX } else { number + 1 };
                    table.scripted().forget();
                    table.scripted().fail(Rule::new(fault).requests(number..end));
                    let cleaned = clean_up(&snapshot, long_after()).await;
                    let was_met = table.scripted().faults_met() > 0;
                    table.scripted().heal();
                    if let Err(error) = &cleaned {
                        assert_eq!(error.kind(), ErrorKind::StorageError, "{how}: {error}");
                        assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
                    }
                    assert_readable_from(&table, 8, &how).await?;
                    clean_up(&table.open().await?, long_after()).await?;
                    assert_eq!(
                        name_lengths(&names(&table).await?),
                        expected,
                        "{how}: cleaned up again"
                    );
                    if !was_met {
                        assert!(number > 20, "{how}: a cleanup makes requests");
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Names reduced to their lengths, since ids differ each time.
fn name_lengths(names: &BTreeSet<String>) -> Vec<usize> {
    names.iter().map(String::len).collect()
}

/// A file that was concurrently deleted by another cleanup counts as deleted.
#[tokio::test]
async fn two_may_clean_up_at_once() -> Result<()> {
    let table = table(Layout::Classic, &json!({})).await?;
    let snapshot = table.open().await?;
    let (one, other) = futures::join!(
        clean_up(&snapshot, long_after()),
        clean_up(&snapshot, long_after())
    );
    one?;
    other?;
    assert_readable_from(&table, 8, "two").await?;
    table
        .scripted()
        .fail(Rule::new(Fault::NotFound).of(&[RequestKind::Delete]));
    let table = self::table(Layout::Classic, &json!({})).await?;
    table
        .scripted()
        .fail(Rule::new(Fault::NotFound).of(&[RequestKind::Delete]));
    clean_up(&table.open().await?, long_after()).await?;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Logs of any form, interrupted after any number of deletions: the newest state is unchanged, every version from
    /// the oldest kept one on is readable, and further cleanups complete.
    ///
    /// protocol: metadata-cleanup.1, checkpoints.3
    #[test]
    fn any_log_remains_readable(history in history_with_maintenance(), stop in any::<prop::sample::Index>(), is_cut_off in any::<bool>()) {
        holds(async {
            let mut table = TableBuilder::new();
            for (actions, maintenance) in &history {
                table.commit(actions.clone()).await?;
                for step in maintenance {
                    table.maintain(step).await?;
                }
            }
            let readable = table.readable();
            let snapshot = table.open().await?;
            let planned = plan_cleanup(&snapshot, long_after()).await?;
            let oldest = planned.oldest_kept().map(|version| usize::try_from(version.as_i64()).unwrap_or(0));
            let oldest = oldest.unwrap_or(*readable.start());
            let deletions = planned.deletions().count();
            if is_cut_off {
                let from = stop.index(deletions + 1);
                let rule = Rule::new(Fault::RequestLost).of(&[RequestKind::Delete]);
                table.scripted().fail(rule.requests(from..usize::MAX));
            }
            let cleaned = clean_up(&snapshot, long_after()).await;
            let was_met = table.scripted().faults_met() > 0;
            table.scripted().heal();
            assert_eq!(cleaned.is_err(), was_met, "{cleaned:?}");
            for number in oldest..=*readable.end() {
                let opened = table.open_at(number).await?;
                assert_eq!(facts(&opened).await?, replay(&table.commits()[..=number]).facts(), "version {number}");
            }
            assert_eq!(facts(&table.open().await?).await?, replay(table.commits()).facts());
            clean_up(&snapshot, long_after()).await?;
            let again = clean_up(&snapshot, long_after()).await?;
            assert!(again.deleted.is_empty(), "{:?}", again.deleted);
            Ok(())
        })?;
    }
}
