//! A range of versions, and the tasks that read its changes.

use std::sync::Arc;

use deltaic_log::changes::{ChangesFrom, CommitChanges, read_changes};
use deltaic_log::snapshot::LoadOptions;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use deltaic_storage::TableLocation;

use super::change_columns::{CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION};
use super::feed_schema::{nullable, with_changes};
use super::file_columns::{FileColumns, Last};
use super::version_plan::{VersionPlan, base_context, plan_version};
use crate::scan::{ScanTask, choose};

/// The options of a range of versions.
#[derive(Clone, Debug)]
pub struct ChangeOptions {
    /// The first version.
    pub first: Version,
    /// The last version, inclusive; the latest if `None`.
    pub last: Option<Version>,
    /// The columns, in output order; all if `None`. The columns that describe the change are appended, unless they are
    /// named.
    pub columns: Option<Vec<String>>,
    /// Whether changes are derived from added and removed files, whatever was recorded.
    pub infer: bool,
}

/// The planned changes of a range of versions. Reading is lazy.
#[derive(Clone, Debug)]
pub struct Changes {
    pub(super) output: StructType,
    pub(super) versions: Arc<Vec<VersionPlan>>,
}

impl Changes {
    /// Reads the log of the range, without touching data files. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// `VersionNotFound` for a range that is not in the log, `UnsupportedFeature` if the table has no change
    /// feed and changes are not inferred, `SchemaMismatch` if the versions have incompatible schemas, `InvalidArgument`
    /// for an unknown column.
    pub async fn plan(
        location: &Arc<TableLocation>,
        options: ChangeOptions,
        load: LoadOptions,
    ) -> Result<Self> {
        let changes_from = if options.infer {
            ChangesFrom::LiveFiles
        } else {
            ChangesFrom::Commit
        };
        let log = read_changes(location, options.first, options.last, changes_from, load).await?;
        // A column that became NOT NULL within the range may contain NULL in older files.
        let is_one = log
            .commits
            .iter()
            .all(|commit| commit.before.is_same(&commit.after));
        let of_table = match is_one {
            true => log.end.schema().as_ref().clone(),
            false => nullable(log.end.schema()),
        };
        let rows = Last {
            schema: &of_table,
            column_mapping: log.end.column_mapping(),
        };
        let (output, versions) = plan_commits(location, &rows, log.commits, &options)?;
        Ok(Self {
            output,
            versions: Arc::new(versions),
        })
    }

    /// The output columns.
    #[must_use]
    pub fn schema(&self) -> &StructType {
        &self.output
    }

    /// Describes what will be read, as text.
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
                "\ncompared: the files of {compared} versions, whose rewritten rows are unchanged"
            ));
        }
        text
    }

    /// Returns the files to read, one task each.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if inferred changes come from rewritten files, which can only be compared together.
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

/// Plans the tasks that read the changes of commits, with the columns of `rows`. Also returns the output columns,
/// including those that describe the change.
pub(super) fn plan_commits(
    location: &Arc<TableLocation>,
    rows: &Last<'_>,
    commits: Vec<CommitChanges>,
    options: &ChangeOptions,
) -> Result<(StructType, Vec<VersionPlan>)> {
    let schema = with_changes(rows.schema).map_err(|error| error.with("table", location.uri()))?;
    let output = match &options.columns {
        None => schema.clone(),
        Some(names) => {
            let mut names = names.clone();
            for of_change in [CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP] {
                if !names.iter().any(|name| name == of_change) {
                    names.push(of_change.to_owned());
                }
            }
            choose(&schema, &names)?
        }
    };
    output.to_arrow()?;
    let mut base = base_context(location, rows, schema, output);
    let mut columns: Option<FileColumns> = None;
    let mut versions = Vec::with_capacity(commits.len());
    for commit in commits {
        let of = |table: &TableConfiguration, known: Option<&FileColumns>| match known {
            Some(columns) if columns.applies_to(table) => Ok(columns.clone()),
            _ => FileColumns::try_new(table, rows, commit.version)
                .map_err(|error| error.with("table", location.uri())),
        };
        let before = of(&commit.before, columns.as_ref());
        let now = of(&commit.after, columns.as_ref())?;
        // The previous columns of a commit that removes no file need not match.
        let before = if commit.removes.is_empty() {
            before.unwrap_or_else(|_| now.clone())
        } else {
            before?
        };
        if !now.keeps_feed && !options.infer {
            return Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!("the change data feed is not enabled at version {}", commit.version),
            )
            .with("feature", "changeDataFeed")
            .with("table", location.uri())
            .with("version", commit.version)
            .hint("infer=True computes the changes from the files; setting delta.enableChangeDataFeed records a feed from then on"));
        }
        base.version = commit.version;
        versions.push(plan_version(&base, (&before, &now), commit, options.infer)?);
        columns = Some(now);
    }
    Ok((base.output, versions))
}
