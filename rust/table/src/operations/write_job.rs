//! A write whose data files other processes write: it is planned first, and commits the files that they report.
//!
//! Protocol: *Add File and Remove File*, *Change Metadata*, *Identity Columns*.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{
    CommitOptions, Committed, IfExists, NewContents, NewTable, Operation, Planned, PreviousAttempt,
    RunPolicy, StagedFiles, TableOperation, already_done, create_with_written_files, run,
};
use deltaic_protocol::change::with_high_water_marks;
use deltaic_protocol::constraints::{check_constraints, invariants};
use deltaic_protocol::features::{ensure_removable, supports_for_writers};
use deltaic_protocol::path_encoding::encode_path;
use deltaic_protocol::schema::{ColumnName, StructType};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use deltaic_storage::TableLocation;
use object_store::ObjectStoreExt;
use serde::{Deserialize, Serialize};

use super::add::{GivenFile, ensure_exist, records_of};
use super::append::{Append, may_add_again};
use super::overwrite::{Overwrite, Replaced};
use crate::transaction::metrics::Count;
use crate::transaction::new_rows::{NewRows, PlannedRows};
use crate::transaction::requirement::Requirement;
use crate::transaction::unrecorded::Unrecorded;
use crate::transaction::{SchemaMode, TableTransaction};
use crate::write::{ParquetFile, ParquetForm, TaskSettings, WriteTask, Written, names_identity, plan_of};

/// A planned write: the table that data files are written for, and how they change it. It can be serialized, so that
/// another process commits it.
#[derive(Clone, Debug)]
pub struct WriteJob {
    location: Arc<TableLocation>,
    /// The configuration of the table with the files.
    table: TableConfiguration,
    settings: TaskSettings,
    target: Target,
}

/// What a write changes.
#[derive(Clone, Debug)]
enum Target {
    /// A table that does not exist.
    New {
        /// Its clustering columns.
        cluster_by: Vec<ColumnName>,
        /// What happens if another writer creates it first.
        if_exists: IfExists,
    },
    /// A table that exists.
    Existing {
        /// The version that the write was planned on.
        snapshot: Box<Snapshot>,
        /// What happens to its schema.
        schema_mode: SchemaMode,
        /// The rows that an overwrite replaces, with the text of their predicate; `None` for an append.
        replaced: Option<Replaced>,
    },
}

/// The serialized form of a target.
#[derive(Serialize, Deserialize)]
enum TargetWire {
    New {
        cluster_by: Vec<String>,
        if_exists: String,
    },
    Existing {
        version: i64,
        schema_mode: String,
        partition_by: Option<Vec<String>>,
        replaced: Option<String>,
    },
}

impl WriteJob {
    /// Plans the creation of a table with rows of its columns.
    ///
    /// # Errors
    ///
    /// Those of [`NewTable::configuration`]; `UnsupportedFeature` if rows of the columns cannot be written.
    pub fn of_new_table(
        location: &Arc<TableLocation>,
        table: &NewTable,
        settings: TaskSettings,
    ) -> Result<Self> {
        let job = Self {
            location: Arc::clone(location),
            table: table.configuration()?,
            settings,
            target: Target::New {
                cluster_by: table.cluster_by.clone(),
                if_exists: table.if_exists,
            },
        };
        job.task().ensure_takes(&job.table.schema()?.to_arrow()?)?;
        Ok(job)
    }

    /// Plans a write of rows with these columns to a table.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `UnsupportedFeature`, `UnsupportedExpression`, `ValueError` as for
    /// [`Append`] and [`Overwrite`].
    pub fn of_table(
        snapshot: &Snapshot,
        columns: &StructType,
        (schema_mode, mut replaced): (SchemaMode, Option<Replaced>),
        settings: TaskSettings,
    ) -> Result<Self> {
        let mut transaction =
            TableTransaction::try_new(snapshot.clone(), Operation::Write, CommitOptions::default())?;
        match (&replaced, &schema_mode) {
            (None, mode) => Append::ensure_keeps_columns(mode)?,
            (Some(replaced), mode) => {
                ensure_removable(snapshot.configuration()).map_err(|error| snapshot.located(error))?;
                Overwrite::ensure_replaces_columns(replaced, mode)?;
            }
        }
        transaction.evolve_to(columns, &schema_mode)?;
        let bound = match &mut replaced {
            Some(Replaced::Where(predicate)) => predicate.bind(snapshot.schema()).map(drop),
            Some(Replaced::Matching(matched)) => {
                matched.columns = columns.names().map(str::to_owned).collect();
                matched.ensure_binds(snapshot.schema(), &*transaction.configuration().schema()?)
            }
            _ => Ok(()),
        };
        bound.map_err(|error| snapshot.located(error))?;
        Ok(Self {
            location: Arc::clone(snapshot.location()),
            table: transaction.configuration(),
            settings: TaskSettings {
                required: Self::required(replaced.as_ref(), snapshot.schema(), &settings),
                ..settings
            },
            target: Target::Existing {
                snapshot: Box::new(snapshot.clone()),
                schema_mode,
                replaced,
            },
        })
    }

    /// The configuration of the table with the files.
    #[must_use]
    pub fn table(&self) -> &TableConfiguration {
        &self.table
    }

    /// The root of the table.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.location.uri()
    }

    /// Whether writers compute generated columns, and whether they apply defaults.
    #[must_use]
    pub fn expressions_in_use(&self) -> (bool, bool) {
        let uses = |feature| supports_for_writers(self.table.protocol(), feature);
        (uses("generatedColumns"), uses("allowColumnDefaults"))
    }

    /// The conditions of rows: `constraint` or `field`, its name, and the SQL text.
    ///
    /// # Errors
    ///
    /// `CorruptLog` for an invariant that cannot be parsed.
    pub fn conditions(&self) -> Result<Vec<(String, String, String)>> {
        let uses = |feature| supports_for_writers(self.table.protocol(), feature);
        let named = |kind: &str, name: String, text: String| (kind.to_owned(), name, text);
        let mut found = Vec::new();
        if uses("checkConstraints") {
            let checks = check_constraints(self.table.metadata());
            found.extend(
                checks.map(|check| named("constraint", check.name.to_owned(), check.expression.to_owned())),
            );
        }
        if uses("invariants") {
            let invariants = invariants(&*self.table.schema()?)?.into_iter();
            found.extend(invariants.map(|(column, text)| named("field", column.to_string(), text)));
        }
        Ok(found)
    }

    /// What other processes need to write files.
    #[must_use]
    pub fn task(&self) -> WriteTask {
        WriteTask::of_job(&self.location, &self.table, &self.settings)
    }

    /// What an engine that knows Parquet, but not Delta, needs to write files; `None` if it cannot write them.
    ///
    /// # Errors
    ///
    /// Those of planning a write to the table.
    pub fn parquet_form(&self) -> Result<Option<ParquetForm>> {
        match self.settings.required {
            // The engine does not check it.
            Some(_) => Ok(None),
            None => ParquetForm::of(&self.table, &self.settings).map_err(|error| self.located(error)),
        }
    }

    /// Returns the files that such an engine wrote as [`commit`](Self::commit) takes them.
    ///
    /// # Errors
    ///
    /// `InternalError` if a bound has no value of its type.
    pub fn given_files(&self, files: &[ParquetFile]) -> Result<Vec<GivenFile>> {
        let digest = self.table.digest()?;
        let plan = plan_of(&self.table)?;
        let given = files.iter().map(|file| {
            Ok(GivenFile {
                path: encode_path(&file.path),
                size: file.size,
                partition_values: BTreeMap::new(),
                modification_time: file.modification_time,
                stats: Some(file.statistics(&self.table, &plan)?),
                data_change: true,
                written_for: Some(digest.clone()),
                high_water_marks: BTreeMap::new(),
            })
        });
        given.collect::<Result<_>>().map_err(|error| self.located(error))
    }

    /// The rows that an overwrite replaces, which the new rows must belong to: tasks check it, unless another engine does.
    fn required(replaced: Option<&Replaced>, schema: &StructType, settings: &TaskSettings) -> Option<String> {
        match replaced {
            Some(Replaced::Where(predicate))
                if !settings.is_evaluated || names_identity(predicate.text(), schema) =>
            {
                Some(predicate.text().to_owned())
            }
            _ => None,
        }
    }

    /// Verifies that the tasks will take rows of these columns.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `UnsupportedFeature`, `UnsupportedExpression`; `ValueError` for an unknown codec.
    pub fn ensure_takes(&self, columns: &StructType) -> Result<()> {
        let taken = self.task().ensure_takes(&columns.to_arrow()?);
        taken.map_err(|error| self.located(error))
    }

    /// Whether the table records the application transaction of these options already: the commit will be skipped.
    #[must_use]
    pub fn is_done(&self, options: &CommitOptions) -> bool {
        match (&self.target, &options.app_transaction) {
            (Target::Existing { snapshot, .. }, Some(app)) => already_done(snapshot, app).is_some(),
            _ => false,
        }
    }

    /// Commits the files that the tasks wrote; `None` if another writer created the table first and
    /// [`IfExists::Ignore`] is set. After a failure the files are deleted, unless a version may reference them. After a
    /// conflict the same files are added to the newest version, if the table has the same configuration there.
    ///
    /// Without `data_change` the files must contain the rows that an overwrite removes, in whole files.
    ///
    /// Must be called inside a multi-threaded runtime.
    ///
    /// # Errors
    ///
    /// `ValueError` with the `path` of a file that does not exist here; `ConstraintViolation` if files without a change
    /// of data have another number of rows than the removed ones; those of
    /// [`Overwrite`] and
    /// [`create_with_rows`](crate::create::create_with_rows).
    pub async fn commit(
        &self,
        files: Vec<GivenFile>,
        data_change: bool,
        options: &CommitOptions,
    ) -> Result<Option<Committed>> {
        let staged = StagedFiles::new(&self.location);
        for file in &files {
            staged.add_path(self.location.resolve(&file.path)?);
        }
        let written = match self.accepted(files).await {
            Ok(written) => written,
            Err(error) => {
                staged.delete().await;
                return Err(error);
            }
        };
        match &self.target {
            Target::New {
                cluster_by,
                if_exists,
            } => {
                let table = NewTable {
                    cluster_by: cluster_by.clone(),
                    ..NewTable::of(StructType::default())
                };
                let mut details = table.details(self.table.metadata());
                details.metrics = written.metrics();
                let contents = NewContents {
                    configuration: with_high_water_marks(&self.table, &written.high_water_marks)?,
                    adds: written.adds,
                    operation: Operation::CreateTableAsSelect,
                    details,
                    if_exists: *if_exists,
                };
                create_with_written_files(&self.location, &contents, &staged, options).await
            }
            Target::Existing {
                snapshot,
                schema_mode,
                replaced,
            } => {
                let mut rows = JobRows {
                    rows: PlannedRows {
                        written,
                        changed: (self.table != *snapshot.configuration()).then(|| self.table.clone()),
                    },
                    staged,
                    schema_mode,
                    replaced: replaced.as_ref(),
                    data_change,
                    options,
                };
                let committed = run(snapshot.as_ref().clone(), RunPolicy::of_rows(options), &mut rows);
                committed.await.map(Some)
            }
        }
    }

    /// Deletes files that tasks wrote, of a write that will not be committed. A file that cannot be deleted remains as an
    /// unreferenced file.
    pub async fn discard(&self, files: &[GivenFile]) {
        for path in files
            .iter()
            .filter_map(|file| self.location.resolve(&file.path).ok())
        {
            let _ = self.location.store().delete(&path).await;
        }
    }

    /// Validates the files of the tasks.
    async fn accepted(&self, files: Vec<GivenFile>) -> Result<Written> {
        let digest = self.table.digest()?;
        let mut written = Written::default();
        let mut marks: BTreeMap<String, i64> = BTreeMap::new();
        let schema = self.table.schema()?;
        for file in &files {
            if file.written_for.as_ref() != Some(&digest) {
                return Err(file.wrong("it was written for another write"));
            }
            written.rows = written.rows.saturating_add(records_of(file)?);
            for (name, value) in &file.high_water_marks {
                let identity = schema.field(name).map(|field| field.identity()).transpose()?;
                let rises = identity.flatten().is_none_or(|identity| identity.step > 0);
                let mark = marks.entry(name.clone()).or_insert(*value);
                *mark = if rises {
                    (*mark).max(*value)
                } else {
                    (*mark).min(*value)
                };
            }
        }
        ensure_exist(&self.location, &files).await?;
        written.high_water_marks = marks.into_iter().collect();
        written.adds = files.into_iter().map(GivenFile::into_add).collect();
        Ok(written)
    }

    fn located(&self, error: Error) -> Error {
        match &self.target {
            Target::New { .. } => error.with("table", self.location.uri()),
            Target::Existing { snapshot, .. } => snapshot.located(error),
        }
    }

    /// Serializes the job, for another process that can reach the same store. The bytes contain the storage options,
    /// including secrets.
    ///
    /// # Errors
    ///
    /// `ValueError` if it cannot be serialized.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let target = match &self.target {
            Target::New {
                cluster_by,
                if_exists,
            } => TargetWire::New {
                cluster_by: cluster_by.iter().map(ToString::to_string).collect(),
                if_exists: if_exists.name().to_owned(),
            },
            Target::Existing {
                snapshot,
                schema_mode,
                replaced,
            } => TargetWire::Existing {
                version: snapshot.version().as_i64(),
                schema_mode: schema_mode.name().to_owned(),
                partition_by: match schema_mode {
                    SchemaMode::Replace(columns) => columns.clone(),
                    _ => None,
                },
                replaced: replaced.as_ref().map(Replaced::to_json),
            },
        };
        let mut bytes = serde_json::to_vec(&target).map_err(|error| {
            let what = format!("the write cannot be sent: {error}");
            Error::new(ErrorKind::InvalidArgument, what)
        })?;
        // JSON on one line has no line break.
        bytes.push(b'\n');
        bytes.extend(self.task().to_bytes()?);
        Ok(bytes)
    }

    /// Deserializes a job, and loads the version that it was planned on.
    ///
    /// # Errors
    ///
    /// `ValueError` if the bytes are not a job of this release; those of loading a version.
    pub async fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = || {
            Error::new(ErrorKind::InvalidArgument, "these bytes are not a planned write")
                .hint("both processes need the same version of deltaic")
        };
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(wrong)?;
        let (target, task) = bytes.split_at(end);
        let target: TargetWire = serde_json::from_slice(target).map_err(|_| wrong())?;
        let task = WriteTask::from_bytes(task)?;
        let (location, table, settings) = task.into_parts();
        let target = match target {
            TargetWire::New {
                cluster_by,
                if_exists,
            } => Target::New {
                cluster_by: cluster_by
                    .iter()
                    .map(|name| ColumnName::parse(name))
                    .collect::<Result<_>>()?,
                if_exists: IfExists::parse(&if_exists)?,
            },
            TargetWire::Existing {
                version,
                schema_mode,
                partition_by,
                replaced,
            } => {
                let version = Version::try_new(version)?;
                let load = Snapshot::load(Arc::clone(&location), Some(version), LoadOptions::default());
                Target::Existing {
                    snapshot: Box::new(load.await?),
                    schema_mode: SchemaMode::parse(&schema_mode, partition_by)?,
                    replaced: replaced.as_deref().map(Replaced::from_json).transpose()?,
                }
            }
        };
        Ok(Self {
            location,
            table,
            settings,
            target,
        })
    }
}

/// The rows of a job, whose files are staged on each version that is tried.
struct JobRows<'j> {
    rows: PlannedRows,
    /// The files before the first attempt.
    staged: StagedFiles,
    schema_mode: &'j SchemaMode,
    replaced: Option<&'j Replaced>,
    /// Whether the rows change.
    data_change: bool,
    options: &'j CommitOptions,
}

impl JobRows<'_> {
    /// Whether the files and the change of the configuration, if any, are valid for the version after a conflict.
    fn ensure_valid(&self, previous: &PreviousAttempt) -> Result<()> {
        let changes_table = self.rows.changed.is_some() || !self.rows.written.high_water_marks.is_empty();
        match previous.is_same_configuration() && !changes_table {
            true => Ok(()),
            false => Err(previous.conflict().clone()),
        }
    }
}

impl TableOperation for JobRows<'_> {
    async fn plan<'a>(
        &mut self,
        snapshot: &'a Snapshot,
        previous: Option<&PreviousAttempt>,
    ) -> Result<Option<Planned<'a>>> {
        if let Some(previous) = previous {
            self.ensure_valid(previous)?;
        }
        let mut transaction =
            TableTransaction::try_new(snapshot.clone(), Operation::Write, self.options.clone())?;
        transaction.files.append(&self.staged);
        let (rows, schema_mode) = (NewRows::Planned(self.rows.clone()), self.schema_mode.clone());
        let staged = match self.replaced.cloned() {
            None => transaction.apply(&Append { rows, schema_mode }).await,
            Some(replaced) => {
                let overwrite = Overwrite {
                    rows,
                    replaced,
                    schema_mode,
                };
                transaction.apply(&overwrite).await
            }
        };
        let staged = match (staged, self.data_change) {
            (Ok(_), false) => transaction.declare_same_rows().await,
            (staged, _) => staged.map(drop),
        };
        transaction.plan_or_abandon(staged, snapshot).await
    }

    /// As for rows that are written here, see [`Append`], but not for an overwrite: its rows may have been computed from
    /// those that it replaces, so rows that another writer added must stay.
    fn may_plan_again(&self, conflict: &Error) -> bool {
        self.replaced.is_none() && may_add_again(conflict)
    }
}

impl TableTransaction {
    /// Stages all changes with `dataChange=false`: the new files contain the rows of the removed ones.
    ///
    /// # Errors
    ///
    /// `ValueError` if only some rows of a file are replaced; those of reading the statistics.
    async fn declare_same_rows(&mut self) -> Result<()> {
        let metrics = &self.staged.described.metrics;
        if metrics.get(Count::Vectors) > 0 || metrics.get(Count::RewrittenFiles) > 0 {
            let what =
                "dataChange=false replaces whole files, and only some rows of a file match the predicate";
            let error = Error::new(ErrorKind::InvalidArgument, what);
            return Err(error.hint("select whole partitions, or all rows"));
        }
        let removed: Vec<String> = self
            .staged
            .proposal
            .removes
            .iter()
            .map(|file| file.path.clone())
            .collect();
        if !removed.is_empty() {
            for add in whole_adds(&self.snapshot, Some(&removed)).await? {
                self.staged.same_rows.record_removed(&add);
            }
        }
        for add in &mut self.staged.proposal.adds {
            add.data_change = false;
            self.staged.same_rows.record_added(add);
        }
        for remove in &mut self.staged.proposal.removes {
            remove.data_change = false;
        }
        // The feed has changes of data only.
        self.staged.unrecorded = Unrecorded::default();
        self.staged.requirement = Requirement::ADDS;
        Ok(())
    }
}
