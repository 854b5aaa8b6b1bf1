//! Optimizations of a version after which other writers committed.

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Committed};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_table::operations::{Optimize, run};
use deltaic_testkit::requests::RequestKind;
use deltaic_testkit::table_builder::TableBuilder;

use super::table::{Form, ROWS_OF_FILE, Template, ids, open, rows, unnamed_files};
use super::{block_on, verbs};

async fn made(form: Form) -> Result<TableBuilder> {
    Template::of(form).await?.copy().await
}

async fn append(table: &TableBuilder, ids: std::ops::Range<i64>) -> Result<Committed> {
    let (snapshot, options) = (open(table).await?, CommitOptions::default());
    run(&snapshot, &verbs::append(rows(ids)), options).await
}

async fn delete_where(table: &TableBuilder, predicate: &str) -> Result<Committed> {
    let snapshot = open(table).await?;
    run(&snapshot, &verbs::delete(predicate)?, CommitOptions::default()).await
}

async fn optimize_at(snapshot: &Snapshot, row_level: bool) -> Result<Committed> {
    let options = CommitOptions {
        row_level,
        ..CommitOptions::default()
    };
    run(snapshot, &Optimize::default(), options).await
}

/// The number of data files that were written since the requests were forgotten.
fn written(table: &TableBuilder) -> usize {
    let report = table.scripted().report();
    report.at(RequestKind::Put, ".parquet").count()
}

fn all_but(deleted: &[i64]) -> Vec<i64> {
    (0..3 * ROWS_OF_FILE).filter(|id| !deleted.contains(id)).collect()
}

#[test]
fn appends_do_not_conflict() -> Result<()> {
    block_on(async {
        let table = made(Form::TRACKED).await?;
        let before = open(&table).await?;
        append(&table, 120..125).await?;
        table.scripted().forget();
        let committed = optimize_at(&before, false).await?;
        assert_eq!(written(&table), 1);
        assert_eq!(committed.version, before.version().next()?.next()?);
        assert_eq!(ids(&table).await?, (0..125).collect::<Vec<_>>());
        assert_eq!(open(&table).await?.num_files(), 2);
        Ok(())
    })
}

#[test]
fn two_optimizations_double_no_row() -> Result<()> {
    block_on(async {
        let table = made(Form::TRACKED).await?;
        let before = open(&table).await?;
        optimize_at(&before, true).await?;
        let refused = optimize_at(&before, false).await.expect_err("a conflict");
        assert!(
            matches!(refused.kind(), ErrorKind::CommitConflict(_)),
            "{refused}"
        );
        assert!(optimize_at(&before, true).await?.skipped, "one file is left");
        assert_eq!(ids(&table).await?, all_but(&[]));
        assert!(unnamed_files(&table).await?.is_empty());
        Ok(())
    })
}

#[test]
fn rows_that_others_deleted_stay_deleted() -> Result<()> {
    for form in [Form::VECTORS, Form::PLAIN] {
        block_on(async {
            let table = made(form).await?;
            let before = open(&table).await?;
            delete_where(&table, "id IN (3, 50)").await?;
            let refused = optimize_at(&before, false).await.expect_err("a conflict");
            assert!(
                matches!(refused.kind(), ErrorKind::CommitConflict(_)),
                "{refused}"
            );
            assert!(unnamed_files(&table).await?.is_empty());
            let committed = optimize_at(&before, true).await?;
            assert_eq!(committed.conflicts_resolved.len(), 1);
            assert_eq!(ids(&table).await?, all_but(&[3, 50]));
            let left = open(&table).await?;
            assert_eq!(left.num_files(), 1);
            assert!(unnamed_files(&table).await?.is_empty());
            Ok::<(), deltaic_protocol::Error>(())
        })?;
    }
    Ok(())
}

#[test]
fn only_bins_whose_files_changed_are_written_again() -> Result<()> {
    block_on(async {
        let table = made(Form::PARTITIONED_VECTORS).await?;
        // A second file in each of the three partitions.
        for first in [0, ROWS_OF_FILE, 2 * ROWS_OF_FILE] {
            append(&table, first..first + 5).await?;
        }
        let before = open(&table).await?;
        delete_where(&table, "id = 7").await?;
        table.scripted().forget();
        optimize_at(&before, true).await?;
        assert_eq!(written(&table), 3 + 1);
        let mut expected = all_but(&[7]);
        for first in [0, ROWS_OF_FILE, 2 * ROWS_OF_FILE] {
            expected.extend(first..first + 5);
        }
        expected.sort_unstable();
        assert_eq!(ids(&table).await?, expected);
        assert_eq!(open(&table).await?.num_files(), 3);
        assert!(unnamed_files(&table).await?.is_empty());
        Ok(())
    })
}

#[test]
fn a_cube_of_a_changed_file_is_written_again() -> Result<()> {
    block_on(async {
        let table = made(Form::CLUSTERED).await?;
        let before = open(&table).await?;
        append(&table, 120..125).await?;
        delete_where(&table, "id = 7").await?;
        table.scripted().forget();
        let committed = optimize_at(&before, true).await?;
        assert_eq!(committed.conflicts_resolved.len(), 1);
        assert_eq!(written(&table), 2);
        let mut expected = all_but(&[7]);
        expected.extend(120..125);
        assert_eq!(ids(&table).await?, expected);
        assert_eq!(open(&table).await?.num_files(), 1);
        assert!(unnamed_files(&table).await?.is_empty());
        let now = open(&table).await?;
        assert!(optimize_at(&now, true).await?.skipped, "one ZCube is left");
        Ok(())
    })
}

#[test]
fn changes_of_other_files_do_not_conflict() -> Result<()> {
    block_on(async {
        let table = made(Form::PARTITIONED_VECTORS).await?;
        append(&table, 0..5).await?;
        let before = open(&table).await?;
        delete_where(&table, "id = 50").await?;
        optimize_at(&before, false).await?;
        assert_eq!(open(&table).await?.num_files(), 3);
        Ok(())
    })
}
