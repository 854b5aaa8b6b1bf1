//! A verb whose commit conflicts is planned again: files are written again only if their rows may differ.

use deltaic_log::transaction::CommitOptions;
use deltaic_protocol::Result;
use deltaic_table::operations::run;
use deltaic_testkit::requests::{Request, RequestKind};
use deltaic_testkit::table_builder::TableBuilder;

use super::block_on;
use super::table::{Form, Template, changes, ids, open, rows, unnamed_files};
use super::verbs::{Verb, append};

const VERBS: [Verb; 3] = [Verb::Delete, Verb::Update, Verb::Merge];
const FORMS: [Form; 5] = [
    Form::PLAIN,
    Form::VECTORS,
    Form::TRACKED,
    Form::MAPPED_WITH_FEED,
    Form::VECTORS_WITH_FEED,
];

/// The number of data files and change data files that were written.
fn files_written(table: &TableBuilder) -> usize {
    let report = table.scripted().report();
    let is_data = |request: &&Request| {
        let is_parquet = request.path.ends_with(".parquet") && !request.path.contains("_delta_log");
        request.kind == RequestKind::Put && is_parquet
    };
    report.requests.iter().filter(is_data).count()
}

/// The number of data files and change data files that were deleted.
fn files_deleted(table: &TableBuilder) -> usize {
    let report = table.scripted().report();
    let deleted = report.at(RequestKind::Delete, ".parquet");
    deleted
        .filter(|request| !request.path.contains("_delta_log"))
        .count()
}

/// Runs a verb on a version to which another writer has added a file with these ids. Returns the number of data files
/// that it wrote.
async fn write_beside(verb: Verb, template: &Template, added: &[i64], after: &[i64]) -> Result<usize> {
    let how = format!("{verb:?} of {:?} beside {added:?}", template.form);
    let table = template.copy().await?;
    let snapshot = open(&table).await?;
    if !added.is_empty() {
        let rows = rows(added.to_vec());
        run(&snapshot, &append(rows), CommitOptions::default()).await?;
    }
    table.scripted().forget();
    let committed = verb.run_on(snapshot).await?;
    let written = files_written(&table);
    if verb != Verb::Merge {
        assert_eq!(
            files_deleted(&table),
            0,
            "{how}: files of unchanged files are used again"
        );
    }
    let conflicts = usize::from(!added.is_empty());
    assert_eq!(committed.conflicts_resolved.len(), conflicts, "{how}");
    let mut expected = [verb.after(), after.to_vec()].concat();
    expected.sort_unstable();
    assert_eq!(ids(&table).await?, expected, "{how}");
    let unnamed = unnamed_files(&table).await?;
    assert!(unnamed.is_empty(), "{how}: {unnamed:?}");
    if template.form.has_feed() && added == after {
        assert_eq!(changes(&table).await?, verb.changes(), "{how}");
    }
    Ok(written)
}

#[test]
fn files_are_written_once_if_another_writer_added_no_matching_row() -> Result<()> {
    for form in FORMS {
        let template = block_on(Template::of(form))?;
        for verb in VERBS {
            let alone = block_on(write_beside(verb, &template, &[], &[]))?;
            // The statistics of the new file allow for id 45.
            let beside = block_on(write_beside(verb, &template, &[39, 46], &[39, 46]))?;
            assert_eq!(beside, alone, "{verb:?} of {form:?}");
        }
    }
    Ok(())
}

#[test]
fn rows_that_another_writer_added_are_changed_too() -> Result<()> {
    for form in FORMS {
        let template = block_on(Template::of(form))?;
        for verb in VERBS {
            let after: &[i64] = match verb {
                Verb::Delete => &[39, 46],
                _ => &[39, 46, 245],
            };
            block_on(write_beside(verb, &template, &[39, 45, 46], after))?;
        }
    }
    Ok(())
}
