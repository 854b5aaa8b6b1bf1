//! Unusual listings: the correct table at a version that existed, or an error. Never a wrong table, and never an older
//! one than was seen before.

use deltaic_log::history::history;
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout};
use deltaic_testkit::facts::facts;
use deltaic_testkit::listing_form::{ListingForm, Order};
use deltaic_testkit::maintenance::{HintForm, LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::table_builder::{TableBuilder, add, remove};

const LAYOUTS: [Option<Layout>; 4] = [
    None,
    Some(Layout::Classic),
    Some(Layout::MultiPart(3)),
    Some(Layout::V2(CheckpointFormat::Parquet, 2)),
];

/// Seven versions, with a checkpoint of version 3 and optionally nothing before it.
async fn table(layout: Option<Layout>, cleanup: Option<LastCommit>) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    table
        .commit(vec![add("a", None), add("b", None), add("c", None)])
        .await?;
    table.commit(vec![remove("a", None), add("d", None)]).await?;
    table.commit(vec![add("e", None)]).await?;
    if let Some(layout) = layout {
        table
            .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(layout)))
            .await?;
        table.maintain(&MaintenanceStep::Hint(HintForm::Signed)).await?;
        if let Some(last) = cleanup {
            table.maintain(&MaintenanceStep::CleanUp(last)).await?;
        }
    }
    for path in ["f", "g", "h"] {
        table.commit(vec![add(path, None)]).await?;
    }
    Ok(table)
}

fn assert_typed(error: &Error, how: &str) {
    let known = [
        ErrorKind::CorruptLog,
        ErrorKind::StorageError,
        ErrorKind::TableNotFound,
    ];
    assert!(known.contains(&error.kind()), "{how}: {error}");
    assert!(error.hint_text().is_some(), "{how}: no hint: {error}");
}

fn commits_from(first: usize, last: usize) -> Vec<String> {
    (first..=last).map(|version| format!("{version:020}")).collect()
}

/// protocol: delta-log-entries.1
#[tokio::test]
async fn order_repetition_and_foreign_names_change_nothing() -> Result<()> {
    let all = vec![String::new()];
    for layout in LAYOUTS {
        for cleanup in [None, Some(LastCommit::Deleted)] {
            let table = table(layout, cleanup).await?;
            let right = replay(table.commits()).facts();
            let times = history(&table.location(), None, LoadOptions::default()).await?;
            for order in [Order::ByName, Order::Backwards, Order::Interleaved] {
                for twice in [Vec::new(), all.clone()] {
                    for with_foreign in [false, true] {
                        for page in [1, 2, 1000] {
                            let form = ListingForm {
                                order,
                                twice: twice.clone(),
                                with_foreign,
                                without: Vec::new(),
                            };
                            let how = format!("{layout:?}, {cleanup:?}, {form:?}, page {page}");
                            table.scripted().set_listing(form);
                            table.scripted().set_page(page);
                            let opened = table.open().await?;
                            assert_eq!(facts(&opened).await?, right, "{how}");
                            assert_eq!(facts(&opened.refresh().await?).await?, right, "{how}");
                            assert_eq!(
                                history(&table.location(), None, LoadOptions::default()).await?,
                                times,
                                "{how}"
                            );
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Three names, two of them equal, are not three parts.
#[tokio::test]
async fn a_part_that_is_listed_twice_represents_no_other() -> Result<()> {
    for cleanup in [None, Some(LastCommit::Deleted)] {
        let table = table(Some(Layout::MultiPart(3)), cleanup).await?;
        let right = replay(table.commits()).facts();
        for (twice, without) in [(1, 2), (1, 3), (3, 1), (2, 3)] {
            let how = format!("{cleanup:?}, part {twice} for part {without}");
            let part = |number: usize| vec![format!("checkpoint.{number:010}.")];
            table.scripted().set_listing(ListingForm {
                twice: part(twice),
                without: part(without),
                ..ListingForm::default()
            });
            match table.open().await {
                Ok(opened) => assert_eq!(facts(&opened).await?, right, "{how}"),
                Err(error) => assert_typed(&error, &how),
            }
        }
    }
    Ok(())
}

/// A listing without new names gives a complete older version; one without old names gives an error.
#[tokio::test]
async fn a_stale_listing_returns_an_older_version_or_an_error() -> Result<()> {
    for layout in LAYOUTS {
        for cleanup in [None, Some(LastCommit::Deleted)] {
            let table = table(layout, cleanup).await?;
            for first in 0..=6 {
                for last in first..=6 {
                    let how = format!("{layout:?}, {cleanup:?}, without {first} to {last}");
                    table.scripted().set_listing(ListingForm {
                        without: commits_from(first, last),
                        ..ListingForm::default()
                    });
                    match table.open().await {
                        Err(error) => assert_typed(&error, &how),
                        Ok(opened) => {
                            let version = usize::try_from(opened.version().as_i64()).expect("a version");
                            assert!(last < 6 || version < first, "{how}: {version}");
                            assert_eq!(
                                facts(&opened).await?,
                                replay(&table.commits()[..=version]).facts(),
                                "{how}"
                            );
                        }
                    }
                    table.scripted().heal();
                }
            }
        }
    }
    Ok(())
}

/// A refresh never returns an older version, even if the listing is older or empty.
#[tokio::test]
async fn a_refresh_never_returns_an_older_version() -> Result<()> {
    for layout in LAYOUTS {
        for cleanup in [None, Some(LastCommit::Deleted)] {
            for appended in [0, 1, 2] {
                for hint in [false, true] {
                    let mut table = table(layout, cleanup).await?;
                    let old = table.open().await?;
                    let was = replay(table.commits()).facts();
                    for number in 0..appended {
                        table.commit(vec![add(&format!("new{number}"), None)]).await?;
                    }
                    if let (true, Some(layout)) = (hint, layout) {
                        table
                            .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(layout)))
                            .await?;
                        table.maintain(&MaintenanceStep::Hint(HintForm::Signed)).await?;
                    }
                    let right = replay(table.commits()).facts();
                    let newest = 6 + appended;
                    for first in 0..=newest {
                        let how =
                            format!("{layout:?}, {cleanup:?}, {appended} new, hint {hint}, from {first}");
                        table.scripted().set_listing(ListingForm {
                            without: commits_from(first, newest),
                            ..ListingForm::default()
                        });
                        match old.refresh().await {
                            Err(error) => assert_typed(&error, &how),
                            Ok(new) => {
                                assert!(new.version() >= old.version(), "{how}: {}", new.version());
                                let version = usize::try_from(new.version().as_i64()).expect("a version");
                                let found = facts(&new).await?;
                                assert_eq!(found, replay(&table.commits()[..=version]).facts(), "{how}");
                            }
                        }
                        table.scripted().heal();
                        assert_eq!(facts(&old).await?, was, "{how}");
                        assert_eq!(facts(&old.refresh().await?).await?, right, "{how}");
                    }
                }
            }
        }
    }
    Ok(())
}

/// A table that was recreated at the same location is another one: there an older version is correct.
#[tokio::test]
async fn a_table_that_was_recreated_is_opened_from_its_start() -> Result<()> {
    let table = table(None, None).await?;
    let old = table.open().await?;
    for version in 0..=6 {
        table.delete(&format!("_delta_log/{version:020}.json")).await?;
    }
    assert_eq!(
        old.refresh().await.err().map(|error| error.kind()),
        Some(ErrorKind::TableNotFound)
    );
    let text: String = TableBuilder::first_actions()
        .into_iter()
        .map(|action| action.to_string() + "\n")
        .collect();
    table
        .put("_delta_log/00000000000000000000.json", text.into_bytes())
        .await?;
    let new = old.refresh().await?;
    assert_eq!((new.version().as_i64(), new.num_files()), (0, 0));
    Ok(())
}
