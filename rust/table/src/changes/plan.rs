//! A range of versions, and the tasks that tell what they changed.

use std::collections::HashMap;
use std::sync::Arc;

use deltaic_log::TableLocation;
use deltaic_log::changes::{
    ChangedFile, CommitChanges, Live, PartitionValues, TableForm, ToldBy, read_changes,
};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::actions::{Cdc, LogicalFileKey};
use deltaic_protocol::expr::Scalar;
use deltaic_protocol::schema::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::era::{Era, Last};
use super::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};
use crate::read::Rows;
use crate::scan::row_id_field;
use crate::scan::{BATCH_ROWS, ScanContext, ScanTask, Selection, VariantAs, select};

/// What is asked of a range of versions.
#[derive(Clone, Debug)]
pub struct ChangeOptions {
    /// The first version.
    pub first: Version,
    /// The last version, which is among them; the newest without.
    pub last: Option<Version>,
    /// The columns, in the order they are to come; all without. What tells the change comes behind them, unless it is
    /// named.
    pub columns: Option<Vec<String>>,
    /// Whether changes are told by the files that came and went, whatever was recorded.
    pub infer: bool,
    /// Folders outside the table that its files may lie in.
    pub allowed_roots: Vec<String>,
}

/// What the versions of a range changed, not yet read.
#[derive(Clone, Debug)]
pub struct Changes {
    pub(super) output: StructType,
    pub(super) versions: Arc<Vec<VersionPlan>>,
}

/// What one version changed.
#[derive(Clone, Debug)]
pub(super) struct VersionPlan {
    /// The files to read.
    pub(super) tasks: Vec<ScanTask>,
    /// Whether rows that came and went alike are no change.
    pub(super) cancels: bool,
}

impl Changes {
    /// Reads the log of the range; no data file is touched. Must be called inside a runtime.
    ///
    /// Errors: `VersionNotFound` for a range that the log does not hold, `UnsupportedFeature` where the table keeps no
    /// change feed and none is to be inferred, `SchemaMismatch` where the versions have no schema in common,
    /// `InvalidArgument` for an unknown column.
    pub async fn plan(
        location: &Arc<TableLocation>,
        options: ChangeOptions,
        load: LoadOptions,
    ) -> Result<Self> {
        let uri = location.uri().to_owned();
        let told_by = if options.infer {
            ToldBy::Standing
        } else {
            ToldBy::Commit
        };
        let log = read_changes(location, options.first, options.last, told_by, load).await?;
        // A column may have become NOT NULL since.
        let is_one = log.commits.iter().all(|commit| commit.before.is(&commit.after));
        let of_table = match is_one {
            true => log.end.schema().as_ref().clone(),
            false => nullable(log.end.schema()),
        };
        let schema = with_changes(&of_table).map_err(|error| error.with("table", uri.as_str()))?;
        let output = match &options.columns {
            None => schema.clone(),
            Some(names) => {
                let mut names = names.clone();
                for of_change in [CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP] {
                    if !names.iter().any(|name| name == of_change) {
                        names.push(of_change.to_owned());
                    }
                }
                select(&schema, &names)?
            }
        };
        output.to_arrow()?;
        let mut base = ScanContext {
            location: Arc::clone(location),
            version: options.first,
            table_schema: Arc::new(schema),
            partition_columns: Vec::new(),
            column_mapping: log.end.column_mapping(),
            output,
            row_columns: None,
            predicate: None,
            batch_size: BATCH_ROWS,
            variant: VariantAs::Arrow,
            allowed_roots: options.allowed_roots,
        };
        let last = Last {
            schema: log.end.schema(),
            column_mapping: log.end.column_mapping(),
        };
        let mut era: Option<Era> = None;
        let mut versions = Vec::with_capacity(log.commits.len());
        for commit in log.commits {
            let of = |form: &TableForm, known: Option<&Era>| match known {
                Some(era) if era.holds(form) => Ok(era.clone()),
                _ => Era::try_new(form, &last, commit.version)
                    .map_err(|error| error.with("table", uri.as_str())),
            };
            let before = of(&commit.before, era.as_ref());
            let now = of(&commit.after, era.as_ref())?;
            // What is not read need not fit.
            let before = if commit.removes.is_empty() {
                before.unwrap_or_else(|_| now.clone())
            } else {
                before?
            };
            if !now.keeps_feed && !options.infer {
                return Err(Error::new(
                    ErrorKind::UnsupportedFeature,
                    format!("the table keeps no change feed at version {}", commit.version),
                )
                .with("feature", "changeDataFeed")
                .with("table", uri.as_str())
                .with("version", commit.version)
                .hint("infer=True tells the changes from the files; a feed is kept from the version on that sets delta.enableChangeDataFeed"));
            }
            base.version = commit.version;
            versions.push(plan_version(&base, (&before, &now), commit, options.infer)?);
            era = Some(now);
        }
        Ok(Self {
            output: base.output,
            versions: Arc::new(versions),
        })
    }

    /// The columns that come out.
    #[must_use]
    pub fn schema(&self) -> &StructType {
        &self.output
    }

    /// What will be read, as text.
    #[must_use]
    pub fn explain(&self) -> String {
        let files: usize = self.versions.iter().map(|version| version.tasks.len()).sum();
        let bytes: i64 = self
            .versions
            .iter()
            .flat_map(|version| &version.tasks)
            .fold(0, |bytes, task| bytes.saturating_add(task.size.max(0)));
        let compared = self.versions.iter().filter(|version| version.cancels).count();
        let mut text = format!(
            "versions: {}\nfiles:    {files}, {bytes} bytes",
            self.versions.len()
        );
        if compared > 0 {
            text.push_str(&format!(
                "\ncompared: the files of {compared} versions, whose rewritten rows are no change"
            ));
        }
        text
    }

    /// The files to read, each a task of its own.
    ///
    /// Errors: `InvalidArgument` where inferred changes are told by files that were rewritten, which can be compared
    /// together only.
    pub fn tasks(&self) -> Result<Vec<ScanTask>> {
        if self.versions.iter().any(|version| version.cancels) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "inferred changes have no tasks: the files of a version are compared with each other",
            )
            .hint("read them as a stream"));
        }
        Ok(self
            .versions
            .iter()
            .flat_map(|version| version.tasks.clone())
            .collect())
    }
}

/// The same columns, any of which may be NULL, at every depth but in a map's keys.
fn nullable(schema: &StructType) -> StructType {
    let fields = schema.fields.iter().map(|field| StructField {
        nullable: true,
        data_type: nullable_type(&field.data_type),
        ..field.clone()
    });
    StructType {
        fields: fields.collect(),
    }
}

fn nullable_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Struct(fields) => DataType::Struct(nullable(fields)),
        DataType::Array(array) => DataType::Array(Box::new(ArrayType {
            element_type: nullable_type(&array.element_type),
            contains_null: true,
        })),
        DataType::Map(map) => DataType::Map(Box::new(MapType {
            key_type: nullable_type(&map.key_type),
            value_type: nullable_type(&map.value_type),
            value_contains_null: true,
        })),
        other => other.clone(),
    }
}

/// The table's columns, and those that tell the change.
fn with_changes(schema: &StructType) -> Result<StructType> {
    let mut fields = schema.fields.clone();
    for (name, data_type, nullable) in [
        (CHANGE_TYPE, PrimitiveType::String, false),
        (COMMIT_VERSION, PrimitiveType::Long, false),
        (COMMIT_TIMESTAMP, PrimitiveType::Timestamp, false),
    ] {
        if schema.field_ignoring_case(name).is_some() {
            return Err(Error::new(
                ErrorKind::SchemaMismatch,
                format!("the table has a column {name}, and so has every change feed"),
            )
            .with("field", name)
            .hint("rename the column"));
        }
        fields.push(StructField::new(name, DataType::Primitive(data_type), nullable));
    }
    Ok(StructType { fields })
}

fn plan_version(
    base: &ScanContext,
    (before, now): (&Era, &Era),
    commit: CommitChanges,
    infer: bool,
) -> Result<VersionPlan> {
    let time = Scalar::Timestamp(commit.timestamp_ms.saturating_mul(1000)).to_partition_text();
    let Some(time) = time else {
        return Err(Error::new(
            ErrorKind::CorruptLog,
            format!(
                "the commit's time, {} ms, is no time of the years 1 to 9999",
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
    let context = |era: &Era, told: &[&str]| {
        let mut context = base.clone();
        context.column_mapping = era.column_mapping;
        if let Some(schema) = &era.schema {
            // The same columns, under other names in the files.
            let told = context.table_schema.fields.iter().skip(schema.fields.len());
            let fields = schema.fields.iter().chain(told).cloned();
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
        context.partition_columns = era.partition_columns.clone();
        context
            .partition_columns
            .extend(told.iter().map(|name| (*name).to_owned()));
        Arc::new(context)
    };
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
            rows: Rows::All,
        };
        return Ok(VersionPlan {
            tasks: commit.cdc.into_iter().map(task).collect(),
            cancels: false,
        });
    }
    let told = [CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP];
    let tracked = before.row_columns.is_some() && before.row_columns == now.row_columns;
    let row_columns = now.row_columns.clone().filter(|_| tracked);
    let (before, now) = (context(before, &told), context(now, &told));
    let task =
        |context: &Arc<ScanContext>, file: &ChangedFile, change: &str, selection: Selection| ScanTask {
            context: Arc::clone(context),
            path: file.path.clone(),
            size: file.size.unwrap_or(0),
            partition_values: values(&file.partition_values, change, &of_commit),
            selection,
            base_row_id: file.base_row_id,
            default_row_commit_version: file.default_row_commit_version,
            rows: Rows::All,
        };
    let mut tasks = Vec::with_capacity(commit.adds.len().saturating_add(commit.removes.len()));
    for (file, before_it, after_it) in stood(&commit) {
        // A file that went was written for the table as it was.
        let context = if after_it.is_some() { &now } else { &before };
        match (before_it, after_it) {
            (None, None) => {}
            (None, Some(vector)) => tasks.push(task(context, file, "insert", Selection::of(vector))),
            (Some(vector), None) => tasks.push(task(context, file, "delete", Selection::of(vector))),
            // The same file with another vector: its rows changed where the two differ.
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
        // Rows are compared in every column, asked for or not, and by their ids where they have any.
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

/// The files that a commit changed, each once, with what stood at their paths before and after: as they were found, or
/// as the commit says.
fn stood(commit: &CommitChanges) -> Vec<(&ChangedFile, Option<Live>, Option<Live>)> {
    let mut removed: HashMap<LogicalFileKey<'_>, &ChangedFile> = commit
        .removes
        .iter()
        .map(|file| (LogicalFileKey::new(&file.path, None), file))
        .collect();
    let mut found = Vec::with_capacity(commit.adds.len().saturating_add(commit.removes.len()));
    for add in &commit.adds {
        let remove = removed.remove(&LogicalFileKey::new(&add.path, None));
        found.push(match &add.standing {
            Some(standing) => (add, standing.before.clone(), standing.after.clone()),
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
        found.push(match &remove.standing {
            Some(standing) => (remove, standing.before.clone(), standing.after.clone()),
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
