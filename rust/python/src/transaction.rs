//! `deltaic._rust.Transaction`

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::snapshot::WithStatistics;
use deltaic_log::transaction::OwnerProcess;
use deltaic_protocol::Result;
use deltaic_protocol::change::changes_from_json;
use deltaic_table::operations::{
    AddFiles, Alter, Append, DeleteRows, GivenFile, Overwrite, RemoveFiles, operation,
};
use deltaic_table::transaction::{NewRows, SchemaMode, TableTransaction};
use pyo3::prelude::*;
use tokio::sync::Mutex;

use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::calls::progress::Reporter;
use crate::calls::runtime::{wait, wait_reporting};
use crate::capsule::{BatchesIn, FieldIn};
use crate::predicate::parsed;
use crate::reading::arrow_table::ArrowTable;
use crate::snapshot::Snapshot;
use crate::verbs::{self, MergeRequest};
use crate::writing::commit::Commit;
use crate::writing::commit_options::CommitOptions;
use crate::writing::dry_run::DryRun;
use crate::writing::source::wait_reading;

#[pyclass(module = "deltaic._rust", frozen)]
pub(crate) struct Transaction {
    owner: OwnerProcess,
    staged: Arc<Mutex<TableTransaction>>,
    snapshot: deltaic_log::Snapshot,
    reporter: Option<Arc<Reporter>>,
}

impl Transaction {
    pub(crate) fn try_new(
        known: &Snapshot,
        name: &str,
        options: CommitOptions,
        dry_run: bool,
    ) -> Result<Self> {
        let snapshot = match dry_run {
            true => known.snapshot.without_writes(),
            false => known.snapshot.clone(),
        };
        let (options, reporter) = options.parse()?;
        let staged = TableTransaction::try_new(snapshot.clone(), operation(name)?, options)?;
        Ok(Self {
            owner: OwnerProcess::current(),
            staged: Arc::new(Mutex::new(staged)),
            snapshot,
            reporter: reporter.map(Arc::new),
        })
    }

    /// A transaction that others commit.
    pub(crate) fn of_staged(
        staged: Arc<Mutex<TableTransaction>>,
        snapshot: deltaic_log::Snapshot,
        reporter: Option<Arc<Reporter>>,
    ) -> Self {
        Self {
            owner: OwnerProcess::current(),
            staged,
            snapshot,
            reporter,
        }
    }

    /// Returns the transaction if this process began it. A child of `fork` does not touch the lock, which a thread that
    /// does not exist in the child may hold.
    fn own(&self) -> Result<Arc<Mutex<TableTransaction>>> {
        self.owner.ensure_current()?;
        Ok(Arc::clone(&self.staged))
    }
}

#[pymethods]
impl Transaction {
    #[getter]
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            snapshot: self.snapshot.clone(),
        }
    }

    #[getter]
    fn is_done(&self, py: Python<'_>) -> CallResult<bool> {
        let staged = self.own()?;
        wait(py, async move { Ok(staged.lock().await.is_done()) })
    }

    #[getter]
    fn keeps_files(&self, py: Python<'_>) -> CallResult<bool> {
        let staged = self.own()?;
        wait(py, async move { Ok(staged.lock().await.keeps_files()) })
    }

    #[getter]
    fn staged(&self, py: Python<'_>) -> CallResult<(usize, usize)> {
        let staged = self.own()?;
        wait(py, async move { Ok(staged.lock().await.staged_files()) })
    }

    #[pyo3(signature = (*, predicate=None))]
    fn read(&self, py: Python<'_>, predicate: Option<&str>) -> CallResult<()> {
        let (staged, predicate) = (self.own()?, parsed(predicate)?);
        wait(
            py,
            async move { staged.lock().await.read(predicate.as_ref()).await },
        )
    }

    #[pyo3(signature = (*, predicate=None, stats=false))]
    fn files(&self, py: Python<'_>, predicate: Option<&str>, stats: bool) -> CallResult<ArrowTable> {
        let (staged, predicate) = (self.own()?, parsed(predicate)?);
        let statistics = match stats {
            true => WithStatistics::All,
            false => WithStatistics::None,
        };
        let (schema, batches) = wait(py, async move {
            let mut staged = staged.lock().await;
            staged.files(predicate.as_ref(), statistics).await
        })?;
        Ok(ArrowTable { schema, batches })
    }

    fn read_app(&self, py: Python<'_>, app_id: String) -> CallResult<Option<i64>> {
        let staged = self.own()?;
        wait(py, async move { Ok(staged.lock().await.read_app(&app_id)) })
    }

    #[pyo3(signature = (data, *, schema_mode="keep"))]
    fn append(&self, py: Python<'_>, data: BatchesIn, schema_mode: &str) -> CallResult<u64> {
        let (staged, schema_mode) = (self.own()?, SchemaMode::parse(schema_mode, None)?);
        wait_reading(py, self.reporter.as_deref(), data, |rows| async move {
            let append = Append {
                rows: NewRows::of(rows),
                schema_mode,
            };
            staged.lock().await.apply(&append).await
        })
    }

    #[pyo3(signature = (data, *, predicate, partitions, schema_mode="keep", partition_by=None))]
    fn overwrite(
        &self,
        py: Python<'_>,
        data: BatchesIn,
        predicate: Option<&str>,
        partitions: &str,
        schema_mode: &str,
        partition_by: Option<Vec<String>>,
    ) -> CallResult<u64> {
        let staged = self.own()?;
        let schema_mode = SchemaMode::parse(schema_mode, partition_by)?;
        let replaced = verbs::replaced(predicate, partitions)?;
        wait_reading(py, self.reporter.as_deref(), data, |rows| async move {
            let overwrite = Overwrite {
                rows: NewRows::of(rows),
                replaced,
                schema_mode,
            };
            staged.lock().await.apply(&overwrite).await
        })
    }

    fn add(&self, py: Python<'_>, files: &str) -> CallResult<()> {
        let staged = self.own()?;
        let files = guarded(|| Ok(GivenFile::list_from_json(files)?))?;
        wait(
            py,
            async move { staged.lock().await.apply(&AddFiles { files }).await },
        )
    }

    fn alter(&self, py: Python<'_>, changes: &str, types: Vec<FieldIn>) -> CallResult<()> {
        let changes = guarded(|| {
            let types: Vec<_> = types.into_iter().map(|field| field.0).collect();
            Ok(changes_from_json(changes, &types)?)
        })?;
        let staged = self.own()?;
        wait(
            py,
            async move { staged.lock().await.apply(&Alter { changes }).await },
        )
    }

    #[pyo3(signature = (paths, *, data_change=true))]
    fn remove(&self, py: Python<'_>, paths: Vec<String>, data_change: bool) -> CallResult<()> {
        let staged = self.own()?;
        let remove = RemoveFiles { paths, data_change };
        wait(py, async move { staged.lock().await.apply(&remove).await })
    }

    #[pyo3(signature = (*, predicate))]
    fn delete(&self, py: Python<'_>, predicate: Option<&str>) -> CallResult<Option<u64>> {
        let (staged, delete) = (self.own()?, verbs::delete(predicate)?);
        wait_reporting(py, self.reporter.as_deref(), async move {
            Ok(staged.lock().await.apply(&delete).await?.rows)
        })
    }

    #[pyo3(signature = (*, values, predicate))]
    fn update(
        &self,
        py: Python<'_>,
        values: Vec<(String, String)>,
        predicate: Option<&str>,
    ) -> CallResult<Option<u64>> {
        let (staged, update) = (self.own()?, verbs::update(values, predicate)?);
        wait_reporting(py, self.reporter.as_deref(), async move {
            Ok(staged.lock().await.apply(&update).await?.rows)
        })
    }

    #[pyo3(signature = (data, *, request))]
    fn merge(&self, py: Python<'_>, data: BatchesIn, request: MergeRequest) -> CallResult<u64> {
        let (staged, request) = (self.own()?, request.parse()?);
        wait_reading(py, self.reporter.as_deref(), data, |rows| async move {
            let mut staged = staged.lock().await;
            if staged.is_done() {
                return Ok(0); // without reading the rows
            }
            let merge = verbs::merge(request, rows, staged.memory()).await?;
            staged.apply(&merge).await
        })
    }

    fn delete_rows(&self, py: Python<'_>, rows: BTreeMap<String, Vec<u64>>) -> CallResult<u64> {
        let staged = self.own()?;
        wait(py, async move {
            staged.lock().await.apply(&DeleteRows { rows }).await
        })
    }

    fn commit(&self, py: Python<'_>) -> CallResult<Option<Commit>> {
        let staged = self.own()?;
        let committed = wait(py, async move { staged.lock().await.commit().await })?;
        Ok(committed.map(Commit::from))
    }

    fn dry_run(&self, py: Python<'_>) -> CallResult<DryRun> {
        let staged = self.own()?;
        let found = wait(py, async move { staged.lock().await.preview() })?;
        Ok(found.into())
    }

    fn abandon(&self, py: Python<'_>) -> CallResult<()> {
        // A child of `fork` deletes nothing: the files belong to its parent.
        let Ok(staged) = self.own() else { return Ok(()) };
        wait(py, async move {
            staged.lock().await.abandon().await;
            Ok(())
        })
    }
}
