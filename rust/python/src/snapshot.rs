//! `deltaic._rust.Snapshot`

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::history::timestamp_in_history;
use deltaic_log::snapshot::WithStatistics;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind};
use deltaic_table::native_scan::implied_by_tree;
use deltaic_table::operations::{Append, Overwrite, Replaced};
use deltaic_table::scan::{Scan as TableScan, ScanOptions, StringsAs, VariantAs};
use deltaic_table::transaction::{NewRows, SchemaMode};
use pyo3::prelude::*;

use crate::calls::error::{CallResult, broken};
use crate::calls::fault::guarded;
use crate::calls::runtime::wait;
use crate::capsule::BatchesIn;
use crate::predicate::parsed;
use crate::reading::arrow_table::ArrowTable;
use crate::reading::native_scan::NativeScanPlan;
use crate::reading::scan::{Scan, ScanTask};
use crate::reading::schema::Schema;
use crate::verbs::{self, MergeRequest, OptimizeRequest};
use crate::writing::commit_options::CommitOptions;
use crate::writing::dry_run::DryRun;
use crate::writing::write_job::WriteJob;
use crate::writing::write_task::WriteTask;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct Snapshot {
    pub snapshot: deltaic_log::Snapshot,
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn uri(&self) -> &str {
        self.snapshot.location().uri()
    }

    #[getter]
    fn version(&self) -> i64 {
        self.snapshot.version().as_i64()
    }

    #[getter]
    fn timestamp_ms(&self, py: Python<'_>) -> CallResult<i64> {
        let snapshot = self.snapshot.clone();
        wait(py, async move { timestamp_in_history(&snapshot).await })
    }

    #[getter]
    fn schema(&self) -> Schema {
        // A table without a schema has an empty schema string; any other is returned as written.
        let text = self.snapshot.metadata().schema_string.as_str();
        Schema::new(
            Arc::clone(self.snapshot.schema()),
            Some(text).filter(|text| !text.trim().is_empty()),
        )
    }

    #[getter]
    fn protocol(&self) -> CallResult<String> {
        serde_json::to_string(self.snapshot.protocol()).map_err(broken)
    }

    #[getter]
    fn metadata(&self) -> CallResult<String> {
        serde_json::to_string(self.snapshot.metadata()).map_err(broken)
    }

    #[getter]
    fn num_files(&self) -> usize {
        self.snapshot.num_files()
    }

    #[getter]
    fn size_in_bytes(&self) -> CallResult<i64> {
        guarded(|| Ok(self.snapshot.size_in_bytes()?))
    }

    #[getter]
    fn num_rows(&self, py: Python<'_>) -> CallResult<Option<i64>> {
        let snapshot = self.snapshot.clone();
        wait(py, async move { snapshot.num_rows().await })
    }

    #[getter]
    fn app_transactions(&self) -> BTreeMap<&str, i64> {
        let txns = self.snapshot.current_txns(deltaic_storage::clock::now_ms());
        txns.into_iter()
            .map(|txn| (txn.app_id.as_str(), txn.version))
            .collect()
    }

    #[getter]
    fn domain_metadata(&self) -> BTreeMap<&str, &str> {
        let domains = self.snapshot.domains().iter();
        domains
            .map(|(name, domain)| (name.as_str(), domain.configuration.as_str()))
            .collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.snapshot.warnings().to_vec()
    }

    #[getter]
    fn log_files(&self) -> Vec<(&str, u64)> {
        let segment = self.snapshot.segment();
        let checkpoint = segment.checkpoint.iter().flat_map(|checkpoint| &checkpoint.files);
        checkpoint
            .chain(&segment.commits)
            .map(|file| (file.name.as_str(), file.size))
            .collect()
    }

    fn refresh(&self, py: Python<'_>) -> CallResult<Self> {
        let snapshot = self.snapshot.clone();
        let snapshot = wait(py, async move { snapshot.refresh().await })?;
        Ok(Self { snapshot })
    }

    #[pyo3(signature = (*, predicate=None, stats=false))]
    fn files(&self, py: Python<'_>, predicate: Option<&str>, stats: bool) -> CallResult<ArrowTable> {
        let statistics = if stats {
            WithStatistics::All
        } else {
            WithStatistics::None
        };
        let (snapshot, predicate) = (self.snapshot.clone(), parsed(predicate)?);
        let (schema, batches) = wait(py, async move {
            deltaic_table::scan::list_files(&snapshot, predicate.as_ref(), statistics).await
        })?;
        Ok(ArrowTable { schema, batches })
    }

    fn tombstones(&self, py: Python<'_>) -> CallResult<ArrowTable> {
        let snapshot = self.snapshot.clone();
        let (schema, batches) = wait(py, async move { snapshot.tombstones().await })?;
        Ok(ArrowTable { schema, batches })
    }

    fn deletion_vectors(&self, py: Python<'_>) -> CallResult<ArrowTable> {
        let snapshot = self.snapshot.clone();
        let (schema, batches) = wait(
            py,
            async move { deltaic_table::read::list_vectors(&snapshot).await },
        )?;
        Ok(ArrowTable { schema, batches })
    }

    #[pyo3(signature = (*, predicate=None, tree=None))]
    fn native_scan_plan(
        &self,
        py: Python<'_>,
        predicate: Option<&str>,
        tree: Option<&str>,
    ) -> CallResult<NativeScanPlan> {
        let snapshot = self.snapshot.clone();
        let conditions = [
            parsed(predicate)?
                .map(|predicate| predicate.bind(snapshot.schema()))
                .transpose()?,
            tree.map(|tree| implied_by_tree(&snapshot, tree))
                .transpose()?
                .flatten(),
        ];
        let conditions = BoundPredicate::all_of(conditions.into_iter().flatten().collect());
        let planned = snapshot.clone();
        let plan = wait(py, async move {
            deltaic_table::native_scan::NativeScanPlan::try_new(&planned, conditions).await
        })?;
        Ok(NativeScanPlan(Arc::new(plan), snapshot))
    }

    /// A native scan of the rows of tasks, with the columns of this snapshot.
    fn native_scan_plan_of_tasks(
        &self,
        py: Python<'_>,
        tasks: Vec<PyRef<'_, ScanTask>>,
    ) -> CallResult<NativeScanPlan> {
        let rows_as = self.snapshot.clone();
        let tasks: Vec<_> = tasks.iter().map(|task| task.0.clone()).collect();
        let plan = wait(py, async move {
            deltaic_table::native_scan::NativeScanPlan::of_tasks(&rows_as, &tasks).await
        })?;
        Ok(NativeScanPlan(Arc::new(plan), self.snapshot.clone()))
    }

    /// What a delete would do.
    #[pyo3(signature = (*, predicate))]
    fn preview_delete(&self, py: Python<'_>, predicate: Option<&str>) -> CallResult<DryRun> {
        verbs::preview(py, &self.snapshot, verbs::delete(predicate)?, None)
    }

    #[pyo3(signature = (*, values, predicate, options))]
    fn preview_update(
        &self,
        py: Python<'_>,
        values: Vec<(String, String)>,
        predicate: Option<&str>,
        options: CommitOptions,
    ) -> CallResult<DryRun> {
        verbs::preview(
            py,
            &self.snapshot,
            verbs::update(values, predicate)?,
            Some(options),
        )
    }

    /// What an optimization would do.
    #[pyo3(signature = (*, request))]
    fn preview_optimize(&self, py: Python<'_>, request: OptimizeRequest) -> CallResult<DryRun> {
        verbs::preview(py, &self.snapshot, request.parse()?, None)
    }

    #[pyo3(signature = (data, *, request, options))]
    fn preview_merge(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        request: MergeRequest,
        options: CommitOptions,
    ) -> CallResult<DryRun> {
        let request = request.parse()?;
        let merge = |rows, memory| verbs::merge(request, rows, memory);
        verbs::preview_reading(py, &self.snapshot, (data, merge), options)
    }

    /// What an append would do; with `replaced`, the predicate and the partition mode, what an overwrite would do.
    #[pyo3(signature = (data, *, replaced, schema_mode, partition_by, options))]
    fn preview_rows(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        replaced: Option<(Option<String>, String)>,
        schema_mode: &str,
        partition_by: Option<Vec<String>>,
        options: CommitOptions,
    ) -> CallResult<DryRun> {
        let schema_mode = SchemaMode::parse(schema_mode, partition_by)?;
        let Some((predicate, partitions)) = replaced else {
            let append = |rows, _| async move {
                Ok(Append {
                    rows: NewRows::of(rows),
                    schema_mode,
                })
            };
            return verbs::preview_reading(py, &self.snapshot, (data, append), options);
        };
        let replaced = verbs::replaced(predicate.as_deref(), &partitions)?;
        let overwrite = |rows, _| async move {
            Ok(Overwrite {
                rows: NewRows::of(rows),
                replaced,
                schema_mode,
            })
        };
        verbs::preview_reading(py, &self.snapshot, (data, overwrite), options)
    }

    /// The names of the columns in which data files store the row ids and row commit versions of copied rows.
    fn row_columns(&self) -> CallResult<(String, String)> {
        guarded(|| Ok(deltaic_table::scan::row_columns(&self.snapshot)?))
    }

    #[pyo3(signature = (*, columns, predicate, limit, batch_size, row_ids, positions, variant))]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "the options of one verb, all named in Python"
    )]
    fn scan(
        &self,
        columns: Option<Vec<String>>,
        predicate: Option<&str>,
        limit: Option<i64>,
        batch_size: Option<i64>,
        row_ids: bool,
        positions: bool,
        variant: &str,
    ) -> CallResult<Scan> {
        let (limit, batch_size) = (count("limit", limit)?, count("batch_size", batch_size)?);
        let options = ScanOptions {
            columns,
            predicate: parsed(predicate)?,
            skips: None,
            limit,
            batch_size,
            row_ids,
            positions,
            variant: VariantAs::parse(variant)?,
            strings: StringsAs::default(),
        };
        guarded(|| Ok(Scan(TableScan::try_new(self.snapshot.clone(), options)?)))
    }

    #[pyo3(signature = (schema_json, *, replaced, schema_mode, partition_by, settings))]
    fn plan_write(
        &self,
        schema_json: &str,
        replaced: Option<&str>,
        schema_mode: &str,
        partition_by: Option<Vec<String>>,
        settings: &str,
    ) -> CallResult<WriteJob> {
        guarded(|| {
            let columns = StructType::from_json(schema_json)?;
            let schema_mode = SchemaMode::parse(schema_mode, partition_by)?;
            let replaced = replaced.map(Replaced::from_json).transpose()?;
            WriteJob::of_table(&self.snapshot, &columns, (schema_mode, replaced), settings)
        })
    }

    fn write_task(&self) -> CallResult<WriteTask> {
        let task = deltaic_table::write::WriteTask::try_new(&self.snapshot);
        Ok(WriteTask(task?))
    }
}

fn count(name: &str, value: Option<i64>) -> CallResult<Option<usize>> {
    let wrong = |_| Error::new(ErrorKind::InvalidArgument, format!("{name} may not be negative"));
    Ok(value.map(usize::try_from).transpose().map_err(wrong)?)
}
