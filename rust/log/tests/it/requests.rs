//! Requests for opening a table: their number, their depth, and no byte fetched twice.
#![expect(
    clippy::print_stdout,
    reason = "the table of requests is for the page of benchmarks"
)]

use std::time::Duration;

use deltaic_log::Snapshot;
use deltaic_protocol::Result;
use deltaic_protocol::log_path::CheckpointFormat;
use deltaic_testkit::checkpoint_writer::{CheckpointForm, Layout, StatisticsForm};
use deltaic_testkit::checksum_writer::ChecksumForm;
use deltaic_testkit::compaction_writer::CompactionForm;
use deltaic_testkit::facts::{facts, live_files};
use deltaic_testkit::maintenance::{HintForm, LastCommit, MaintenanceStep};
use deltaic_testkit::oracle::replay;
use deltaic_testkit::requests::{Report, RequestKind};
use deltaic_testkit::table_builder::{TableBuilder, add, remove};
use serde_json::json;

/// Latency of a request, on a paused clock.
const LATENCY: Duration = Duration::from_millis(30);

/// Number of commits after the checkpoint.
const TRAILING: usize = 8;

/// A kind of log, named as in the benchmark documentation.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    layout: Option<Layout>,
    has_compaction: bool,
    has_checksum: bool,
}

const KINDS: [Kind; 9] = [
    Kind {
        name: "no checkpoint",
        layout: None,
        has_compaction: false,
        has_checksum: false,
    },
    Kind {
        name: "no checkpoint, version checksum",
        layout: None,
        has_compaction: false,
        has_checksum: true,
    },
    Kind {
        name: "no checkpoint, log compaction",
        layout: None,
        has_compaction: true,
        has_checksum: false,
    },
    Kind {
        name: "V1",
        layout: Some(Layout::Classic),
        has_compaction: false,
        has_checksum: false,
    },
    Kind {
        name: "V1, log compaction",
        layout: Some(Layout::Classic),
        has_compaction: true,
        has_checksum: false,
    },
    Kind {
        name: "V1, version checksum",
        layout: Some(Layout::Classic),
        has_compaction: false,
        has_checksum: true,
    },
    Kind {
        name: "10 parts",
        layout: Some(Layout::MultiPart(10)),
        has_compaction: false,
        has_checksum: false,
    },
    Kind {
        name: "V2 in JSON, 10 sidecars",
        layout: Some(Layout::V2(CheckpointFormat::Json, 10)),
        has_compaction: false,
        has_checksum: false,
    },
    Kind {
        name: "V2 in Parquet, 10 sidecars",
        layout: Some(Layout::V2(CheckpointFormat::Parquet, 10)),
        has_compaction: false,
        has_checksum: false,
    },
];

/// A table of this kind; the number of files determines whether its checkpoint is smaller or larger than the footer
/// read.
async fn table(kind: Kind, files: usize) -> Result<TableBuilder> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    let with_statistics = |number: usize| {
        let mut add = add(
            &format!("part-{number:05}-3a0d65cd-4056-49b8-937b-95f9e0ee90e5.parquet"),
            None,
        );
        let stats = json!({"numRecords": number, "minValues": {"id": number}, "maxValues": {"id": number * 7919}, "nullCount": {"id": 0}});
        add["add"]["stats"] = json!(stats.to_string());
        add
    };
    table.commit((0..files).map(with_statistics).collect()).await?;
    if let Some(layout) = kind.layout {
        let form = CheckpointForm {
            layout,
            statistics: StatisticsForm::Both,
            partition_columns: false,
            is_sparse: false,
            row_group_rows: 500,
        };
        table.maintain(&MaintenanceStep::Checkpoint(form)).await?;
        table.maintain(&MaintenanceStep::Hint(HintForm::Signed)).await?;
    }
    for number in 0..TRAILING {
        table
            .commit(vec![
                add(&format!("t{number}"), None),
                remove(&format!("t{}", number + 1), None),
            ])
            .await?;
        if kind.has_compaction && number == 5 {
            table
                .maintain(&MaintenanceStep::Compaction(4, CompactionForm::Right))
                .await?;
        }
    }
    if kind.has_checksum {
        table
            .maintain(&MaintenanceStep::Checksum(ChecksumForm::Full))
            .await?;
    }
    table.scripted().set_latency(LATENCY);
    Ok(table)
}

/// Opens a table, lists its files, and returns the requests.
async fn opened(table: &TableBuilder) -> Result<(Snapshot, Report)> {
    table.scripted().forget();
    let snapshot = table.open().await?;
    live_files(&snapshot).await?;
    let report = table.scripted().report();
    assert_eq!(facts(&snapshot).await?, replay(table.commits()).facts());
    assert!(snapshot.warnings().is_empty(), "{:?}", snapshot.warnings());
    Ok((snapshot, report))
}

/// Opens a table of every kind, with a small checkpoint and with one of several row groups.
async fn every_kind() -> Result<Vec<(String, Kind, Report)>> {
    let mut reports = Vec::new();
    for kind in KINDS {
        for files in [20, 6_000] {
            let (_, report) = opened(&table(kind, files).await?).await?;
            reports.push((format!("{}, {files} files", kind.name), kind, report));
        }
    }
    Ok(reports)
}

#[tokio::test(start_paused = true)]
async fn no_request_waits_for_more_than_three_others() -> Result<()> {
    let deep: Vec<_> = every_kind()
        .await?
        .into_iter()
        .map(|(name, _, report)| (name, report.depth()))
        .collect();
    assert!(deep.iter().all(|(_, depth)| *depth <= 4), "{deep:#?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn no_byte_is_fetched_twice() -> Result<()> {
    let twice: Vec<_> = every_kind()
        .await?
        .into_iter()
        .map(|(name, _, report)| (name, report.fetched_twice()))
        .filter(|(_, twice)| !twice.is_empty())
        .collect();
    assert!(twice.is_empty(), "{twice:#?}");
    Ok(())
}

/// A required commit is read once, and one before the checkpoint or within a compaction not at all.
#[tokio::test(start_paused = true)]
async fn a_commit_is_one_request() -> Result<()> {
    for (name, kind, report) in every_kind().await? {
        for version in 0..TRAILING + 2 {
            let is_before = kind.layout.is_some() && version < 2;
            let is_compacted = kind.has_compaction && (3..=7).contains(&version);
            let gets = report
                .at(RequestKind::Get, &format!("/{version:020}.json"))
                .count();
            assert_eq!(
                gets,
                usize::from(!is_before && !is_compacted),
                "{name}: version {version}: {report:#?}"
            );
        }
        let compactions = report.at(RequestKind::Get, ".compacted.json").count();
        assert_eq!(compactions, usize::from(kind.has_compaction), "{name}");
    }
    Ok(())
}

/// Listings contain the sizes of checkpoints, and a top level those of its sidecars.
#[tokio::test(start_paused = true)]
async fn no_size_is_requested() -> Result<()> {
    for (name, _, report) in every_kind().await? {
        assert_eq!(report.count(RequestKind::Head), 0, "{name}: {report:#?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_hint_and_the_listing_are_requested_at_once() -> Result<()> {
    for (name, _, report) in every_kind().await? {
        let hint = report
            .at(RequestKind::Get, "_last_checkpoint")
            .map(|request| request.started);
        let listings = report.requests.iter().filter(|request| {
            matches!(
                request.kind,
                RequestKind::List | RequestKind::ListFrom | RequestKind::ListFolder
            )
        });
        let (hint, listings): (Vec<_>, Vec<_>) =
            (hint.collect(), listings.map(|request| request.started).collect());
        assert_eq!((hint.len(), &hint), (1, &listings), "{name}: {report:#?}");
    }
    Ok(())
}

/// If a listing has many pages, it starts at the hint, and old pages are not listed.
#[tokio::test(start_paused = true)]
async fn a_hint_saves_pages_of_the_listing() -> Result<()> {
    let mut table = TableBuilder::new();
    table.commit(TableBuilder::first_actions()).await?;
    for number in 0..200 {
        table.commit(vec![add(&format!("f{number}"), None)]).await?;
    }
    table
        .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(Layout::Classic)))
        .await?;
    table.maintain(&MaintenanceStep::Hint(HintForm::Right)).await?;
    table.commit(vec![add("last", None)]).await?;
    table.scripted().set_latency(LATENCY);
    table.scripted().set_page(10);
    let (_, report) = opened(&table).await?;
    let pages = report.requests.iter().filter(|request| {
        matches!(
            request.kind,
            RequestKind::List | RequestKind::ListFrom | RequestKind::ListFolder
        )
    });
    // The complete listing may run until the one from the hint is done, and not to its end.
    assert!(pages.count() <= 5, "{report:#?}");
    assert!(report.depth() <= 5, "{report:#?}");
    Ok(())
}

/// A refresh lists, and reads new commits once; without new commits it only lists. After a cleanup the table is opened
/// again; if a cleanup was possible, the refresh checks for it.
#[tokio::test(start_paused = true)]
async fn a_refresh_requests_what_is_new() -> Result<()> {
    for kind in KINDS {
        let mut table = table(kind, 20).await?;
        let (snapshot, _) = opened(&table).await?;
        if let Some(layout) = kind.layout {
            table
                .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(layout)))
                .await?;
            table
                .maintain(&MaintenanceStep::CleanUp(LastCommit::Kept))
                .await?;
        }
        table.scripted().forget();
        let same = snapshot.refresh().await?;
        let report = table.scripted().report();
        if kind.layout.is_none() {
            assert_eq!(
                (report.requests.len(), report.depth()),
                (1, 1),
                "{}: {report:#?}",
                kind.name
            );
        }
        table.commit(vec![add("new", None)]).await?;
        if let Some(layout) = kind.layout {
            table
                .maintain(&MaintenanceStep::Checkpoint(CheckpointForm::of(layout)))
                .await?;
        }
        table.scripted().forget();
        let new = same.refresh().await?;
        let report = table.scripted().report();
        assert_eq!(
            facts(&new).await?,
            replay(table.commits()).facts(),
            "{}",
            kind.name
        );
        // A checkpoint of a known version is not read.
        let (commits, checks) = (report.count(RequestKind::Get), report.count(RequestKind::Head));
        assert_eq!(
            (report.requests.len() - checks, commits),
            (2, 1),
            "{}: {report:#?}",
            kind.name
        );
        assert!(
            checks <= 2 * usize::from(kind.layout.is_some()),
            "{}: {report:#?}",
            kind.name
        );
    }
    Ok(())
}

/// The table for the benchmark documentation.
#[tokio::test(start_paused = true)]
async fn requests_by_kind_of_log() -> Result<()> {
    println!("| log | requests | depth | bytes |\n|---|---:|---:|---:|");
    for (name, _, report) in every_kind().await? {
        println!(
            "| {name} | {} | {} | {} |",
            report.requests.len(),
            report.depth(),
            report.bytes()
        );
        assert!(
            report.depth() > 0 && report.requests.len() > 2,
            "{name}: nothing was measured"
        );
    }
    Ok(())
}
