//! `deltaic._rust.Table`

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::history::history;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::time_travel::{version_at_or_newest, version_since};
use deltaic_log::transaction::{IfExists, NewTable, create};
use deltaic_protocol::change::{changes_from_json, columns_from_json};
use deltaic_protocol::schema::{ColumnName, StructType, schema_from_arrow};
use deltaic_protocol::{Error, ErrorKind, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::location::StorageOptions;
use deltaic_table::check::Depth;
use deltaic_table::create::{create_with_rows, preview_create};
use deltaic_table::operations::{Append, Overwrite, alter, run};
use deltaic_table::transaction::{NewRows, SchemaMode};
use deltaic_table::vacuum::vacuum;
use pyo3::prelude::*;

use crate::called_transaction::run_with_function;
use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::calls::progress::Functions;
use crate::calls::runtime::{wait, wait_reporting};
use crate::capsule::{BatchesIn, FieldIn, SchemaIn};
use crate::commit_files::{self, CommitFiles};
use crate::maintenance::check::{self, Report};
use crate::maintenance::convert::{self, ConvertPreview};
use crate::maintenance::log_maintenance::{self, CheckpointWritten, CleanedUp, Compacted};
use crate::maintenance::repair;
use crate::maintenance::restore::{self, RestorePreview};
use crate::maintenance::shallow_clone::{self, ClonePreview, CloneRequest};
use crate::maintenance::symlink_manifest;
use crate::maintenance::vacuum::{VacuumRequest, Vacuumed};
use crate::reading::changes::{Changes, ChangesRequest, End, plan};
use crate::snapshot::Snapshot;
use crate::transaction::Transaction;
use crate::verbs::{self, MergeRequest, OptimizeRequest, StatisticsRequest};
use crate::writing::commit::Commit;
use crate::writing::commit_options::CommitOptions;
use crate::writing::dry_run::DryRun;
use crate::writing::source::wait_reading;
use crate::writing::write_job::WriteJob;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct Table {
    location: Arc<TableLocation>,
    options: LoadOptions,
}

#[pymethods]
impl Table {
    #[new]
    #[pyo3(signature = (uri, *, storage_options=None, allowed_roots=Vec::new(), max_line_bytes=1 << 28))]
    fn new(
        uri: &str,
        storage_options: Option<BTreeMap<String, String>>,
        allowed_roots: Vec<String>,
        max_line_bytes: usize,
    ) -> CallResult<Self> {
        let storage_options = StorageOptions::from(storage_options.unwrap_or_default());
        let location = guarded(|| Ok(TableLocation::with_options(uri, storage_options, allowed_roots)?))?;
        #[cfg(feature = "witness")]
        let location = crate::for_tests::witness::counted(location);
        Ok(Self {
            location: Arc::new(location),
            options: LoadOptions { max_line_bytes },
        })
    }

    #[getter]
    fn uri(&self) -> &str {
        self.location.uri()
    }

    fn exists(&self, py: Python<'_>) -> CallResult<bool> {
        let location = Arc::clone(&self.location);
        wait(py, async move { deltaic_log::snapshot::exists(&location).await })
    }

    fn probe(&self, py: Python<'_>) -> CallResult<()> {
        let location = Arc::clone(&self.location);
        wait(py, async move { deltaic_log::committer::probe(&location).await })
    }

    #[pyo3(signature = (schema, columns, types, *, partition_by, cluster_by, properties, name, description, constraints, if_exists,
        options))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the options of one verb, all named in Python"
    )]
    fn create(
        &self,
        py: Python<'_>,
        schema: Option<SchemaIn>,
        columns: Option<&str>,
        types: Vec<FieldIn>,
        partition_by: Vec<String>,
        cluster_by: Vec<String>,
        properties: BTreeMap<String, String>,
        name: Option<String>,
        description: Option<String>,
        constraints: BTreeMap<String, String>,
        if_exists: &str,
        options: CommitOptions,
    ) -> CallResult<Option<Commit>> {
        let table = guarded(|| {
            Ok(NewTable {
                schema: schema_in(schema.as_ref(), columns, types)?,
                partition_columns: partition_by,
                cluster_by: columns_named(&cluster_by)?,
                properties,
                constraints,
                name,
                description,
                if_exists: IfExists::parse(if_exists)?,
            })
        })?;
        let (options, reporter) = options.parse()?;
        let location = Arc::clone(&self.location);
        let made = wait_reporting(py, reporter.as_ref(), async move {
            create(&location, table, &options).await
        })?;
        Ok(made.map(Commit::from))
    }

    #[pyo3(signature = (schema_json, *, partition_by, cluster_by, properties, if_exists, settings))]
    fn plan_create(
        &self,
        schema_json: &str,
        partition_by: Vec<String>,
        cluster_by: Vec<String>,
        properties: BTreeMap<String, String>,
        if_exists: &str,
        settings: &str,
    ) -> CallResult<WriteJob> {
        guarded(|| {
            let table = NewTable {
                partition_columns: partition_by,
                cluster_by: columns_named(&cluster_by)?,
                properties,
                if_exists: IfExists::parse(if_exists)?,
                ..NewTable::of(StructType::from_json(schema_json)?)
            };
            WriteJob::of_new_table(&self.location, &table, settings)
        })
    }

    #[pyo3(signature = (data, *, partition_by, properties, if_exists, options))]
    fn create_with_rows(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        partition_by: Vec<String>,
        properties: BTreeMap<String, String>,
        if_exists: &str,
        options: CommitOptions,
    ) -> CallResult<Option<Commit>> {
        let table = guarded(|| Ok(table_of_rows(&data, partition_by, properties, if_exists)?))?;
        let (options, reporter) = options.parse()?;
        let location = Arc::clone(&self.location);
        let made = wait_reading(py, reporter.as_ref(), data, |rows| async move {
            create_with_rows(&location, &table, rows, &options).await
        })?;
        Ok(made.map(Commit::from))
    }

    #[pyo3(signature = (data, *, partition_by, properties, options))]
    fn preview_create(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        partition_by: Vec<String>,
        properties: BTreeMap<String, String>,
        options: CommitOptions,
    ) -> CallResult<DryRun> {
        let table = guarded(|| Ok(table_of_rows(&data, partition_by, properties, "error")?))?;
        let (options, reporter) = options.parse()?;
        let location = Arc::clone(&self.location);
        let found = wait_reading(py, reporter.as_ref(), data, |rows| async move {
            preview_create(&location, &table, rows, &options).await
        })?;
        Ok(found.into())
    }

    #[pyo3(signature = (schema, columns, types, *, statistics, options))]
    fn convert(
        &self,
        py: Python<'_>,
        schema: Option<SchemaIn>,
        columns: Option<&str>,
        types: Vec<FieldIn>,
        statistics: bool,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        let schema = guarded(|| Ok(schema_in(schema.as_ref(), columns, types)?))?;
        convert::run(py, convert::request(&self.location, schema, statistics), options)
    }

    #[pyo3(signature = (schema, columns, types, *, statistics, options))]
    fn preview_convert(
        &self,
        py: Python<'_>,
        schema: Option<SchemaIn>,
        columns: Option<&str>,
        types: Vec<FieldIn>,
        statistics: bool,
        options: CommitOptions,
    ) -> CallResult<ConvertPreview> {
        let schema = guarded(|| Ok(schema_in(schema.as_ref(), columns, types)?))?;
        convert::preview(py, convert::request(&self.location, schema, statistics), options)
    }

    #[pyo3(signature = (*, version=None, timestamp_ms=None))]
    fn snapshot(
        &self,
        py: Python<'_>,
        version: Option<i64>,
        timestamp_ms: Option<i64>,
    ) -> CallResult<Snapshot> {
        if version.is_some() && timestamp_ms.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "give a version or a timestamp, not both",
            )
            .into());
        }
        let version = version.map(Version::try_new).transpose()?;
        let (location, options) = (Arc::clone(&self.location), self.options);
        let snapshot = wait(py, async move {
            let version = match timestamp_ms {
                None => version,
                Some(time) => Some(version_at_or_newest(&location, time, options).await?),
            };
            deltaic_log::Snapshot::load(location, version, options).await
        })?;
        Ok(Snapshot { snapshot })
    }

    #[pyo3(signature = (*, first_version, first_ms, last_version, last_ms, columns, infer))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the options of one verb, all named in Python"
    )]
    fn changes(
        &self,
        py: Python<'_>,
        first_version: Option<i64>,
        first_ms: Option<i64>,
        last_version: Option<i64>,
        last_ms: Option<i64>,
        columns: Option<Vec<String>>,
        infer: bool,
    ) -> CallResult<Changes> {
        let question = ChangesRequest {
            first: End::of(first_version, first_ms).unwrap_or(End::Version(0)),
            last: End::of(last_version, last_ms),
            columns,
            infer,
        };
        let (location, options) = (Arc::clone(&self.location), self.options);
        wait(py, plan(location, question, options)).map(Changes)
    }

    #[pyo3(signature = (first, last, *, rows_as, before, columns, feed))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the options of one verb, all named in Python"
    )]
    fn commit_files(
        &self,
        py: Python<'_>,
        first: i64,
        last: i64,
        rows_as: PyRef<'_, Snapshot>,
        before: Option<PyRef<'_, CommitFiles>>,
        columns: Option<Vec<String>>,
        feed: bool,
    ) -> CallResult<Vec<CommitFiles>> {
        let question = commit_files::CommitFilesRequest {
            first,
            last,
            rows_as: &rows_as,
            before: before.as_deref(),
            columns,
            feed,
        };
        commit_files::read(py, question, self.options)
    }

    fn version_since(&self, py: Python<'_>, timestamp_ms: i64) -> CallResult<i64> {
        let (location, options) = (Arc::clone(&self.location), self.options);
        let version = wait(py, async move {
            version_since(&location, timestamp_ms, options).await
        })?;
        Ok(version.as_i64())
    }

    #[pyo3(signature = (limit=None))]
    fn history(&self, py: Python<'_>, limit: Option<usize>) -> CallResult<Vec<Commit>> {
        let (location, options) = (Arc::clone(&self.location), self.options);
        let commits = wait(py, async move { history(&location, limit, options).await })?;
        Ok(commits.into_iter().map(Commit::from).collect())
    }

    #[pyo3(signature = (*, deep=false, progress=None))]
    fn check(&self, py: Python<'_>, deep: bool, progress: Option<Functions>) -> CallResult<Report> {
        let depth = if deep { Depth::Data } else { Depth::Log };
        check::run(py, &self.location, self.options, depth, progress)
    }

    fn checkpoint(&self, py: Python<'_>) -> CallResult<CheckpointWritten> {
        log_maintenance::checkpoint(py, Arc::clone(&self.location), self.options)
    }

    #[pyo3(signature = (start, end=None))]
    fn compact_log(&self, py: Python<'_>, start: i64, end: Option<i64>) -> CallResult<Option<Compacted>> {
        log_maintenance::compact_log(py, Arc::clone(&self.location), self.options, start, end)
    }

    #[pyo3(signature = (*, dry_run=false))]
    fn clean_up(&self, py: Python<'_>, dry_run: bool) -> CallResult<CleanedUp> {
        log_maintenance::clean_up(py, Arc::clone(&self.location), self.options, dry_run)
    }

    #[pyo3(signature = (known, *, request, clones, options))]
    fn vacuum(
        &self,
        py: Python<'_>,
        known: &Snapshot,
        request: VacuumRequest,
        clones: Vec<CloneIn>,
        options: CommitOptions,
    ) -> CallResult<Vacuumed> {
        let snapshot = known.snapshot.clone();
        let (options, reporter) = options.parse()?;
        let clones = clones.into_iter().map(|clone| clone.location(&self.location));
        let request = request.parse(py, clones.collect::<deltaic_protocol::Result<_>>()?)?;
        let vacuumed = wait_reporting(py, reporter.as_ref(), async move {
            vacuum(&snapshot, &request, &options).await
        })?;
        Ok(vacuumed.into())
    }

    #[pyo3(signature = (known, *, operation, options, dry_run))]
    #[expect(
        clippy::unused_self,
        reason = "a verb of a table, whose newest snapshot its face keeps"
    )]
    fn transaction(
        &self,
        known: PyRef<'_, Snapshot>,
        operation: &str,
        options: CommitOptions,
        dry_run: bool,
    ) -> CallResult<Transaction> {
        guarded(|| Ok(Transaction::try_new(&known, operation, options, dry_run)?))
    }

    #[expect(
        clippy::unused_self,
        reason = "a verb of a table, whose newest snapshot its face keeps"
    )]
    #[pyo3(signature = (known, function, *, operation, max_runs, options))]
    fn run_transaction(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        function: Py<PyAny>,
        operation: &str,
        max_runs: usize,
        options: CommitOptions,
    ) -> CallResult<Option<Commit>> {
        let operation = guarded(|| Ok(deltaic_table::operations::operation(operation)?))?;
        let (options, reporter) = options.parse()?;
        let reporter = reporter.map(Arc::new);
        let committed = run_with_function(py, &known, function, operation, max_runs, (options, reporter))?;
        Ok(committed.map(Commit::from))
    }

    #[pyo3(signature = (known, *, version, timestamp_ms, ignore_missing_files, options))]
    fn restore(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        version: Option<i64>,
        timestamp_ms: Option<i64>,
        ignore_missing_files: bool,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        let request = restore::request(version, timestamp_ms, ignore_missing_files, self.options)?;
        restore::run(py, &known, request, options)
    }

    #[pyo3(signature = (known, *, version, timestamp_ms, ignore_missing_files, options))]
    fn preview_restore(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        version: Option<i64>,
        timestamp_ms: Option<i64>,
        ignore_missing_files: bool,
        options: CommitOptions,
    ) -> CallResult<RestorePreview> {
        let request = restore::request(version, timestamp_ms, ignore_missing_files, self.options)?;
        restore::preview(py, &known, request, options)
    }

    #[pyo3(signature = (known, target, *, request, options))]
    fn shallow_clone(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        target: CloneIn,
        request: CloneRequest,
        options: CommitOptions,
    ) -> CallResult<(Commit, Self)> {
        let source = known.snapshot.location();
        let target = target.location(source)?;
        let clone = Self {
            location: Arc::new(target.as_clone_of(source)?),
            options: self.options,
        };
        Ok((
            shallow_clone::run(py, &known, request.parse(target)?, options)?,
            clone,
        ))
    }

    #[expect(
        clippy::unused_self,
        reason = "a verb of a table, of which its face chooses the version"
    )]
    #[pyo3(signature = (known, target, *, request, options))]
    fn preview_clone(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        target: CloneIn,
        request: CloneRequest,
        options: CommitOptions,
    ) -> CallResult<ClonePreview> {
        let target = target.location(known.snapshot.location())?;
        shallow_clone::preview(py, &known, request.parse(target)?, options)
    }

    #[expect(
        clippy::unused_self,
        reason = "a verb of a table, whose newest snapshot its face keeps"
    )]
    #[pyo3(signature = (known, *, options))]
    fn repair(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        options: CommitOptions,
    ) -> CallResult<(Vec<String>, Commit)> {
        repair::run(py, &known, options)
    }

    #[expect(
        clippy::unused_self,
        reason = "a verb of a table, whose newest snapshot its face keeps"
    )]
    #[pyo3(signature = (known, *, options))]
    fn missing_files(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        options: CommitOptions,
    ) -> CallResult<Vec<String>> {
        repair::missing_files(py, &known, options)
    }

    #[expect(
        clippy::unused_self,
        reason = "a verb of a table, whose newest snapshot its face keeps"
    )]
    #[pyo3(signature = (known, *, dry_run))]
    fn symlink_manifest(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        dry_run: bool,
    ) -> CallResult<(Vec<String>, Vec<String>)> {
        symlink_manifest::run(py, &known, dry_run)
    }

    #[pyo3(signature = (changes, types, *, options, known))]
    fn alter(
        &self,
        py: Python<'_>,
        changes: &str,
        types: Vec<FieldIn>,
        options: CommitOptions,
        known: PyRef<'_, Snapshot>,
    ) -> CallResult<Commit> {
        let snapshot = known.snapshot.clone();
        let (options, reporter) = options.parse()?;
        let changes = guarded(|| {
            let types: Vec<_> = types.into_iter().map(|field| field.0).collect();
            Ok(changes_from_json(changes, &types)?)
        })?;
        let committed = wait_reporting(py, reporter.as_ref(), async move {
            alter(&snapshot, &changes, &options).await
        })?;
        Ok(committed.into())
    }

    #[pyo3(signature = (data, *, known, predicate, partitions, schema_mode, partition_by, options))]
    #[expect(
        clippy::too_many_arguments,
        reason = "the options of one verb, all named in Python"
    )]
    fn overwrite(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        known: &Snapshot,
        predicate: Option<&str>,
        partitions: &str,
        schema_mode: &str,
        partition_by: Option<Vec<String>>,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        let replaced = verbs::replaced(predicate, partitions)?;
        let schema_mode = SchemaMode::parse(schema_mode, partition_by)?;
        let overwrite = |rows, _| async move {
            Ok(Overwrite {
                rows: NewRows::of(rows),
                replaced,
                schema_mode,
            })
        };
        verbs::run_reading(py, &known.snapshot, (data, overwrite), options)
    }

    #[pyo3(signature = (known, *, predicate, options))]
    fn delete(
        &self,
        py: Python<'_>,
        known: &Snapshot,
        predicate: Option<&str>,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        verbs::run(py, &known.snapshot, verbs::delete(predicate)?, options)
    }

    #[pyo3(signature = (data, known, *, request, options))]
    fn merge(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        known: &Snapshot,
        request: MergeRequest,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        let request = request.parse()?;
        let merge = |rows, memory| verbs::merge(request, rows, memory);
        verbs::run_reading(py, &known.snapshot, (data, merge), options)
    }

    #[pyo3(signature = (known, *, request, options))]
    fn optimize(
        &self,
        py: Python<'_>,
        known: &Snapshot,
        request: OptimizeRequest,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        verbs::run(py, &known.snapshot, request.parse()?, options)
    }

    #[pyo3(signature = (known, *, request, options))]
    fn recompute_statistics(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        request: StatisticsRequest,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        verbs::run(py, &known.snapshot, request.parse()?, options)
    }

    #[pyo3(signature = (known, *, request, options))]
    fn preview_statistics(
        &self,
        py: Python<'_>,
        known: PyRef<'_, Snapshot>,
        request: StatisticsRequest,
        options: CommitOptions,
    ) -> CallResult<DryRun> {
        verbs::preview(py, &known.snapshot, request.parse()?, Some(options))
    }

    #[pyo3(signature = (known, *, values, predicate, options))]
    fn update(
        &self,
        py: Python<'_>,
        known: &Snapshot,
        values: Vec<(String, String)>,
        predicate: Option<&str>,
        options: CommitOptions,
    ) -> CallResult<Commit> {
        verbs::run(py, &known.snapshot, verbs::update(values, predicate)?, options)
    }

    #[pyo3(signature = (data, *, options, schema_mode="keep", known=None))]
    fn append(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        options: CommitOptions,
        schema_mode: &str,
        known: Option<PyRef<'_, Snapshot>>,
    ) -> CallResult<Commit> {
        let schema_mode = SchemaMode::parse(schema_mode, None)?;
        let known = known.map(|known| known.snapshot.clone());
        let (options, reporter) = options.parse()?;
        let (location, load) = (Arc::clone(&self.location), self.options);
        let committed = wait_reading(py, reporter.as_ref(), data, |rows| async move {
            let snapshot = match known {
                Some(known) => known,
                None => deltaic_log::Snapshot::load(location, None, load).await?,
            };
            let append = Append {
                rows: NewRows::of(rows),
                schema_mode,
            };
            run(&snapshot, &append, options).await
        })?;
        Ok(committed.into())
    }
}

/// A clone, as a handle or by its location.
#[derive(FromPyObject)]
enum CloneIn {
    Handle(Py<Table>),
    Uri(String),
}

impl CloneIn {
    /// The location; one given as text has the storage options of the source.
    fn location(self, source: &TableLocation) -> deltaic_protocol::Result<Arc<TableLocation>> {
        match self {
            Self::Handle(handle) => Ok(Arc::clone(&handle.get().location)),
            Self::Uri(uri) => TableLocation::with_options(&uri, source.options(), Vec::new()).map(Arc::new),
        }
    }
}

/// A schema as Python passes it: Arrow, or columns as JSON with Arrow types.
fn table_of_rows(
    data: &BatchesIn,
    partition_by: Vec<String>,
    properties: BTreeMap<String, String>,
    if_exists: &str,
) -> deltaic_protocol::Result<NewTable> {
    Ok(NewTable {
        partition_columns: partition_by,
        properties,
        if_exists: IfExists::parse(if_exists)?,
        ..NewTable::of(schema_from_arrow(&data.rows.schema())?)
    })
}

fn schema_in(
    schema: Option<&SchemaIn>,
    columns: Option<&str>,
    types: Vec<FieldIn>,
) -> deltaic_protocol::Result<StructType> {
    let types: Vec<_> = types.into_iter().map(|field| field.0).collect();
    match schema {
        Some(schema) => schema_from_arrow(&schema.0),
        None => columns_from_json(columns.unwrap_or_default(), &types),
    }
}

fn columns_named(names: &[String]) -> deltaic_protocol::Result<Vec<ColumnName>> {
    names.iter().map(|name| ColumnName::parse(name)).collect()
}
