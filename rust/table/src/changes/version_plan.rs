//! The changes of one version: the files to read and the rows of each.

use std::collections::HashMap;
use std::sync::Arc;

use deltaic_log::changes::{ChangedFile, CommitChanges, Live, PartitionValues};
use deltaic_protocol::actions::{Cdc, LogicalFileKey};
use deltaic_protocol::expr::Scalar;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;

use super::change_columns::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};
use super::file_columns::{FileColumns, Last};
use crate::scan::Rows;
use crate::scan::{ScanContext, ScanTask, Selection, StringsAs, VariantAs, row_id_field};

/// The changes of one version.
#[derive(Clone, Debug)]
pub(super) struct VersionPlan {
    /// The files to read.
    pub(super) tasks: Vec<ScanTask>,
    /// Whether an identical delete and insert cancel each other.
    pub(super) cancels: bool,
}

/// Plans a version: from its recorded changes, or from the files that it added and removed.
pub(super) fn plan_version(
    base: &ScanContext,
    (before, now): (&FileColumns, &FileColumns),
    commit: CommitChanges,
    infer: bool,
) -> Result<VersionPlan> {
    let time = Scalar::Timestamp(commit.timestamp_ms.saturating_mul(1000)).to_partition_text();
    let Some(time) = time else {
        return Err(Error::new(
            ErrorKind::CorruptLog,
            format!(
                "the commit's time, {} ms, is not within the years 1 to 9999",
                commit.timestamp_ms
            ),
        )
        .with("version", commit.version)
        .with("field", COMMIT_TIMESTAMP));
    };
    let of_commit = [
        (COMMIT_VERSION.to_owned(), Some(commit.version.to_string())),
        (COMMIT_TIMESTAMP.to_owned(), Some(time)),
    ];
    let context =
        |columns: &FileColumns, added_columns: &[&str]| Arc::new(context_of(base, columns, added_columns));
    if !commit.cdc.is_empty() && !infer {
        let context = context(now, &[COMMIT_VERSION, COMMIT_TIMESTAMP]);
        let task = |cdc: Cdc| ScanTask {
            context: Arc::clone(&context),
            path: cdc.path,
            size: cdc.size,
            partition_values: cdc
                .partition_values
                .into_iter()
                .chain(of_commit.clone())
                .collect(),
            selection: Selection::All,
            base_row_id: None,
            default_row_commit_version: None,
            num_records: None,
            rows: Rows::All,
        };
        return Ok(VersionPlan {
            tasks: commit.cdc.into_iter().map(task).collect(),
            cancels: false,
        });
    }
    let added_columns = [CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP];
    let tracked = before.row_columns.is_some() && before.row_columns == now.row_columns;
    let row_columns = now.row_columns.clone().filter(|_| tracked);
    let (before, now) = (context(before, &added_columns), context(now, &added_columns));
    let task =
        |context: &Arc<ScanContext>, file: &ChangedFile, change: &str, selection: Selection| ScanTask {
            context: Arc::clone(context),
            path: file.path.clone(),
            size: file.size.unwrap_or(0),
            partition_values: values(&file.partition_values, change, &of_commit),
            selection,
            base_row_id: file.base_row_id,
            default_row_commit_version: file.default_row_commit_version,
            num_records: context.without_data_columns(file.num_records),
            rows: Rows::All,
        };
    let mut tasks = Vec::with_capacity(commit.adds.len().saturating_add(commit.removes.len()));
    for (file, before_it, after_it) in stood(&commit) {
        // A removed file is read with the columns that the table had before.
        let context = if after_it.is_some() { &now } else { &before };
        match (before_it, after_it) {
            (None, None) => {}
            (None, Some(vector)) => tasks.push(task(context, file, "insert", Selection::of(vector))),
            (Some(vector), None) => tasks.push(task(context, file, "delete", Selection::of(vector))),
            // The same file with another deletion vector: the changed rows are those in which the vectors differ.
            (Some(before_it), Some(after_it)) => {
                if let Some(deleted) = after_it.clone().filter(|_| before_it != after_it) {
                    let but_not = before_it.clone();
                    tasks.push(task(
                        context,
                        file,
                        "delete",
                        Selection::Difference { deleted, but_not },
                    ));
                }
                if let Some(deleted) = before_it.clone().filter(|_| before_it != after_it) {
                    let but_not = after_it;
                    tasks.push(task(
                        context,
                        file,
                        "insert",
                        Selection::Difference { deleted, but_not },
                    ));
                }
            }
        }
    }
    let has_both = {
        let is = |change: &str| {
            tasks
                .iter()
                .any(|task| task.partition_values.get(CHANGE_TYPE).and_then(Option::as_deref) == Some(change))
        };
        is("insert") && is("delete")
    };
    let cancels = infer && has_both;
    if cancels {
        // Rows are compared in every column, requested or not, and by their row ids if they have any.
        let has_ids = tasks.iter().all(|task| task.base_row_id.is_some());
        let row_columns = row_columns.filter(|_| has_ids);
        let whole = |context: &ScanContext| {
            let mut output = context.table_schema.as_ref().clone();
            if row_columns.is_some() {
                output.fields.extend(row_id_field());
            }
            Arc::new(ScanContext {
                output,
                row_columns: row_columns.clone(),
                ..context.clone()
            })
        };
        let (whole_before, whole_now) = (whole(&before), whole(&now));
        for task in &mut tasks {
            let is_before = Arc::ptr_eq(&task.context, &before);
            task.context = Arc::clone(if is_before { &whole_before } else { &whole_now });
        }
    }
    Ok(VersionPlan { tasks, cancels })
}

/// Returns the context that all tasks that read changes share. The caller sets the version of each commit; `context_of`
/// sets how its files are read.
///
/// # Arguments
/// * `schema` - all columns of the rows, with the nullability of `rows`; includes those of a change feed.
/// * `output` - the output columns among them.
pub(super) fn base_context(
    location: &Arc<TableLocation>,
    rows: &Last<'_>,
    schema: StructType,
    output: StructType,
) -> ScanContext {
    ScanContext {
        location: Arc::clone(location),
        version: Version::ZERO,
        table_schema: Arc::new(schema),
        partition_columns: Vec::new(),
        column_mapping: rows.column_mapping,
        output,
        row_columns: None,
        positions: false,
        predicate: None,
        skips: None,
        batch_size: None,
        variant: VariantAs::Arrow,
        strings: StringsAs::default(),
    }
}

/// Returns the context of tasks that read files written under one configuration. `reported` names columns whose values are in the task, as
/// partition values are.
pub(super) fn context_of(base: &ScanContext, columns: &FileColumns, added_columns: &[&str]) -> ScanContext {
    let mut context = base.clone();
    context.column_mapping = columns.column_mapping;
    if let Some(schema) = &columns.schema {
        // The same columns, under other names in the files.
        let added_columns = context.table_schema.fields.iter().skip(schema.fields.len());
        let fields = schema.fields.iter().chain(added_columns).cloned();
        let whole = StructType {
            fields: fields.collect(),
        };
        let output = context
            .output
            .names()
            .filter_map(|name| whole.field(name).cloned());
        context.output = StructType {
            fields: output.collect(),
        };
        context.table_schema = Arc::new(whole);
    }
    context.partition_columns = columns.partition_columns.clone();
    context
        .partition_columns
        .extend(added_columns.iter().map(|name| (*name).to_owned()));
    context
}

/// Returns each file that a commit changed once, with its live deletion vectors before and after: as found by replay,
/// or as the commit specifies.
fn stood(commit: &CommitChanges) -> Vec<(&ChangedFile, Option<Live>, Option<Live>)> {
    let mut removed: HashMap<LogicalFileKey<'_>, &ChangedFile> = commit
        .removes
        .iter()
        .map(|file| (LogicalFileKey::new(&file.path, None), file))
        .collect();
    let mut found = Vec::with_capacity(commit.adds.len().saturating_add(commit.removes.len()));
    for add in &commit.adds {
        let remove = removed.remove(&LogicalFileKey::new(&add.path, None));
        found.push(match &add.live_files {
            Some(live_files) => (add, live_files.before.clone(), live_files.after.clone()),
            None => {
                let before = remove.map(|remove| remove.deletion_vector.clone());
                (add, before, Some(add.deletion_vector.clone()))
            }
        });
    }
    for remove in &commit.removes {
        if removed.remove(&LogicalFileKey::new(&remove.path, None)).is_none() {
            continue;
        }
        found.push(match &remove.live_files {
            Some(live_files) => (remove, live_files.before.clone(), live_files.after.clone()),
            None => (remove, Some(remove.deletion_vector.clone()), None),
        });
    }
    found
}

fn values(
    of_file: &PartitionValues,
    change: &str,
    of_commit: &[(String, Option<String>)],
) -> PartitionValues {
    let mut values = of_file.clone();
    values.insert(CHANGE_TYPE.to_owned(), Some(change.to_owned()));
    values.extend(of_commit.iter().cloned());
    values
}
