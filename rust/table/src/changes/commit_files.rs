//! The changes of single commits, for a streaming reader that follows a table version by version.
//!
//! Rows have the columns that the table had when the reader started. If a later commit changes the columns, the reader
//! gets an error and must restart.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::changes::{ChangesFrom, CommitChanges, read_commits};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};

use super::feed_schema::nullable;
use super::file_columns::{FileColumns, Last};
use super::plan::{ChangeOptions, plan_commits};
use super::same_columns::ensure_same_columns;
use super::version_plan::{base_context, context_of};
use crate::scan::Rows;
use crate::scan::{ScanTask, Selection, choose};

/// The changes of one commit.
#[derive(Clone, Debug)]
pub struct CommitFiles {
    /// The version of the commit.
    pub version: Version,
    /// The files to read, in the commit's order: those with rows that are new to the table, or for a change feed those
    /// that contain the changes.
    pub tasks: Vec<ScanTask>,
    /// One of the files that were removed with their rows.
    pub removed: Option<String>,
    /// Protocol and metadata of the table at this version.
    after: TableConfiguration,
}

/// The options of a range of commits.
#[derive(Clone, Debug)]
pub struct CommitFilesOptions {
    /// The first version.
    pub first: Version,
    /// The last version, inclusive.
    pub last: Version,
    /// The columns, in output order; all if `None`.
    pub columns: Option<Vec<String>>,
    /// Whether to read the change feed.
    pub feed: bool,
}

/// Reads the commits of a range, without touching data files. Rows have the columns of `rows_as`, all of them nullable.
/// `before` is the commit before the first, if it was read: then the table's earlier state need not be looked up. Must
/// be called inside a runtime.
///
/// # Errors
///
/// `VersionNotFound` if a commit is missing from the log; `TableNotFound` if the range replaces the table by
/// another one; `SchemaMismatch` if a commit after `rows_as` changed the columns, or an older one has incompatible
/// columns; `UnsupportedFeature` if a change feed is requested but the table has none.
pub async fn commit_files(
    rows_as: &Snapshot,
    before: Option<&CommitFiles>,
    options: CommitFilesOptions,
    load: LoadOptions,
) -> Result<Vec<CommitFiles>> {
    let location = rows_as.location();
    let is_before = |version: Version| version.next().ok() == Some(options.first);
    let known = match before.filter(|before| is_before(before.version)) {
        Some(before) => Some(before.after.clone()),
        None => is_before(rows_as.version()).then(|| rows_as.configuration().clone()),
    };
    let changes_from = match options.feed {
        true => ChangesFrom::Commit,
        false => ChangesFrom::Adds,
    };
    let commits = read_commits(location, (options.first, options.last), changes_from, known, load).await?;
    let schema = nullable(rows_as.schema());
    let rows = Last {
        schema: &schema,
        column_mapping: rows_as.column_mapping(),
    };
    for commit in commits.iter().filter(|commit| commit.version > rows_as.version()) {
        let (before, after) = (&commit.before, &commit.after);
        if !before.is_same(after) || commit.version == options.first {
            ensure_same_table(after, rows_as, commit.version)
                .and_then(|()| ensure_same_columns(after, &rows, commit.version))
                .map_err(|error| error.with("table", location.uri()))?;
        }
    }
    let began_anew = |error: Error| match error.kind() {
        ErrorKind::SchemaMismatch => {
            error.hint("start a new query, with a new checkpoint and a startingVersion after the change")
        }
        _ => error,
    };
    match options.feed {
        true => feed(rows_as, &rows, commits, options),
        false => adds(rows_as, &rows, commits, options),
    }
    .map_err(began_anew)
}

fn ensure_same_table(table: &TableConfiguration, rows_as: &Snapshot, version: Version) -> Result<()> {
    if table.metadata().id == rows_as.metadata().id {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::TableNotFound,
        format!(
            "version {version} replaced the table by another one: its id is {}, and was {}",
            table.metadata().id,
            rows_as.metadata().id
        ),
    )
    .with("version", version)
    .hint("start a new query, with a new checkpoint"))
}

/// Returns the rows that commits changed.
fn feed(
    rows_as: &Snapshot,
    rows: &Last<'_>,
    commits: Vec<CommitChanges>,
    options: CommitFilesOptions,
) -> Result<Vec<CommitFiles>> {
    let of_commits: Vec<CommitFiles> = commits.iter().map(without_files).collect();
    let options = ChangeOptions {
        first: options.first,
        last: Some(options.last),
        columns: options.columns,
        infer: false,
    };
    let (_, plans) = plan_commits(rows_as.location(), rows, commits, &options)?;
    let files = of_commits
        .into_iter()
        .zip(plans)
        .map(|(commit, plan)| CommitFiles {
            tasks: plan.tasks,
            ..commit
        });
    Ok(files.collect())
}

/// Returns the rows of the files that commits added.
fn adds(
    rows_as: &Snapshot,
    rows: &Last<'_>,
    commits: Vec<CommitChanges>,
    options: CommitFilesOptions,
) -> Result<Vec<CommitFiles>> {
    let output = match &options.columns {
        None => rows.schema.clone(),
        Some(names) => choose(rows.schema, names)?,
    };
    output.to_arrow()?;
    let schema = rows.schema.clone();
    let mut base = base_context(rows_as.location(), rows, schema, output);
    let mut columns: Option<FileColumns> = None;
    let mut files = Vec::with_capacity(commits.len());
    for commit in commits {
        let mut brought = without_files(&commit);
        // Columns of commits without files to read need not match.
        if !commit.adds.is_empty() {
            let now = match columns.take() {
                Some(columns) if columns.applies_to(&commit.after) => columns,
                _ => FileColumns::try_new(&commit.after, rows, commit.version)
                    .map_err(|error| error.with("table", rows_as.location().uri()))?,
            };
            base.version = commit.version;
            let context = Arc::new(context_of(&base, &now, &[]));
            columns = Some(now);
            let tasks = commit.adds.into_iter().map(|file| ScanTask {
                context: Arc::clone(&context),
                path: file.path,
                size: file.size.unwrap_or(0),
                partition_values: file.partition_values,
                selection: Selection::of(file.deletion_vector),
                base_row_id: None,
                default_row_commit_version: None,
                num_records: context.without_data_columns(file.num_records),
                rows: Rows::All,
            });
            brought.tasks = tasks.collect();
        }
        files.push(brought);
    }
    Ok(files)
}

fn without_files(commit: &CommitChanges) -> CommitFiles {
    CommitFiles {
        version: commit.version,
        tasks: Vec::new(),
        removed: commit.removes.first().map(|file| file.path.clone()),
        after: commit.after.clone(),
    }
}
