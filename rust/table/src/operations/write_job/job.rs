//! Plans a write for the processes that write its files.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, IfExists, NewTable, Operation, already_done};
use deltaic_protocol::constraints::{check_constraints, invariants};
use deltaic_protocol::features::{ensure_removable, supports_for_writers};
use deltaic_protocol::path_encoding::encode_path;
use deltaic_protocol::schema::{ColumnName, StructType};
use deltaic_protocol::{Error, Result, TableConfiguration};
use deltaic_storage::TableLocation;

use crate::operations::add::GivenFile;
use crate::operations::append::Append;
use crate::operations::overwrite::{Overwrite, Replaced};
use crate::transaction::{SchemaMode, TableTransaction};
use crate::write::{ParquetFile, ParquetForm, TaskSettings, WriteTask, names_identity, plan_of};

/// A planned write: the table that data files are written for, and how they change it. It can be serialized, so that
/// another process commits it.
#[derive(Clone, Debug)]
pub struct WriteJob {
    pub(super) location: Arc<TableLocation>,
    /// The configuration of the table with the files.
    pub(super) table: TableConfiguration,
    pub(super) settings: TaskSettings,
    pub(super) target: Target,
}

/// What a write changes.
#[derive(Clone, Debug)]
pub(super) enum Target {
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

    pub(super) fn located(&self, error: Error) -> Error {
        match &self.target {
            Target::New { .. } => error.with("table", self.location.uri()),
            Target::Existing { snapshot, .. } => snapshot.located(error),
        }
    }
}
