//! `deltaic._rust.WriteJob`

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::NewTable;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_table::transaction::{self, GivenFile, Replaced, SchemaMode};
use deltaic_table::write::TaskSettings;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::commit::Commit;
use crate::commit_options::CommitOptions;
use crate::error::CallResult;
use crate::fault::guarded;
use crate::runtime::{wait, wait_reporting};
use crate::write_task::WriteTask;

#[pyclass(module = "deltaic._rust", frozen)]
pub struct WriteJob(transaction::WriteJob);

impl WriteJob {
    /// `settings` is the JSON text of [`TaskSettings`].
    pub(crate) fn of_new_table(
        location: &Arc<TableLocation>,
        allowed_roots: &[String],
        table: &NewTable,
        settings: &str,
    ) -> CallResult<Self> {
        let settings = parsed(settings)?;
        let job = transaction::WriteJob::of_new_table(location, allowed_roots, table, settings);
        Ok(Self(job?))
    }

    pub(crate) fn of_table(
        (snapshot, roots): (&Snapshot, &[String]),
        columns: &StructType,
        change: (SchemaMode, Option<Replaced>),
        settings: &str,
    ) -> CallResult<Self> {
        let job = transaction::WriteJob::of_table(snapshot, roots, columns, change, parsed(settings)?);
        Ok(Self(job?))
    }
}

fn parsed(settings: &str) -> Result<TaskSettings> {
    serde_json::from_str(settings).map_err(|error| {
        let what = format!("the settings of a write are invalid: {error}");
        Error::new(ErrorKind::InvalidArgument, what)
    })
}

#[pymethods]
impl WriteJob {
    #[getter]
    fn uri(&self) -> &str {
        self.0.uri()
    }

    #[getter]
    fn schema_json(&self) -> &str {
        &self.0.table().metadata().schema_string
    }

    #[getter]
    fn partition_columns(&self) -> Vec<String> {
        self.0.table().metadata().partition_columns.clone()
    }

    /// Whether writers generate and default columns by their expressions.
    #[getter]
    fn expressions_in_use(&self) -> (bool, bool) {
        self.0.expressions_in_use()
    }

    fn conditions(&self) -> CallResult<Vec<(String, String, String)>> {
        guarded(|| Ok(self.0.conditions()?))
    }

    fn ensure_takes(&self, schema_json: &str) -> CallResult<()> {
        guarded(|| Ok(self.0.ensure_takes(&StructType::from_json(schema_json)?)?))
    }

    fn is_done(&self, options: CommitOptions) -> CallResult<bool> {
        guarded(|| Ok(self.0.is_done(&options.parse()?.0)))
    }

    fn task(&self) -> WriteTask {
        WriteTask(self.0.task())
    }

    #[pyo3(signature = (files, options, *, data_change=true))]
    fn commit(
        &self,
        py: Python<'_>,
        files: &str,
        options: CommitOptions,
        data_change: bool,
    ) -> CallResult<Option<Commit>> {
        let files = guarded(|| Ok(GivenFile::list_from_json(files)?))?;
        let (options, reporter) = options.parse()?;
        let job = self.0.clone();
        let committed = wait_reporting(py, reporter.as_ref(), async move {
            job.commit(files, data_change, &options).await
        })?;
        Ok(committed.map(Commit::from))
    }

    fn discard(&self, py: Python<'_>, files: &str) -> CallResult<()> {
        let files = guarded(|| Ok(GivenFile::list_from_json(files)?))?;
        let job = self.0.clone();
        wait(py, async move {
            job.discard(&files).await;
            Ok(())
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyBytes>> {
        guarded(|| Ok(PyBytes::new(py, &self.0.to_bytes()?)))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Vec<u8>) -> CallResult<Self> {
        wait(py, async move {
            Ok(Self(transaction::WriteJob::from_bytes(&data).await?))
        })
    }
}
