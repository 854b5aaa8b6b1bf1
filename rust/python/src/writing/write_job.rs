//! `deltaic._rust.WriteJob`

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::NewTable;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_table::operations::{self, GivenFile, Replaced};
use deltaic_table::transaction::SchemaMode;
use deltaic_table::write::{ParquetFile, TaskSettings};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::commit::Commit;
use super::commit_options::CommitOptions;
use super::write_task::WriteTask;
use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::calls::runtime::{wait, wait_reporting};

#[pyclass(module = "deltaic._rust", frozen)]
pub struct WriteJob(operations::WriteJob);

impl WriteJob {
    /// `settings` is the JSON text of [`TaskSettings`].
    pub(crate) fn of_new_table(
        location: &Arc<TableLocation>,
        table: &NewTable,
        settings: &str,
    ) -> CallResult<Self> {
        let settings = parsed(settings)?;
        let job = operations::WriteJob::of_new_table(location, table, settings);
        Ok(Self(job?))
    }

    pub(crate) fn of_table(
        snapshot: &Snapshot,
        columns: &StructType,
        change: (SchemaMode, Option<Replaced>),
        settings: &str,
    ) -> CallResult<Self> {
        let job = operations::WriteJob::of_table(snapshot, columns, change, parsed(settings)?);
        Ok(Self(job?))
    }
}

fn parsed(settings: &str) -> Result<TaskSettings> {
    serde_json::from_str(settings).map_err(|error| {
        let what = format!("the settings of a write are invalid: {error}");
        Error::new(ErrorKind::InvalidArgument, what)
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it is the argument of map_err")]
fn not_serialized(error: serde_json::Error) -> Error {
    Error::internal(format!("a write cannot be serialized: {error}"))
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

    /// What an engine that knows Parquet needs to write files, as JSON; `None` if it cannot write them.
    fn parquet_form(&self) -> CallResult<Option<String>> {
        guarded(|| {
            let form = self.0.parquet_form()?;
            let form = form.map(|form| serde_json::to_string(&form));
            Ok(form.transpose().map_err(not_serialized)?)
        })
    }

    /// Converts the JSON of files of such an engine to that of `commit`.
    fn given_files(&self, files: &str) -> CallResult<String> {
        guarded(|| {
            let files: Vec<ParquetFile> = serde_json::from_str(files).map_err(|error| {
                let what = format!("these are not valid files of a write: {error}");
                Error::new(ErrorKind::InvalidArgument, what)
            })?;
            Ok(serde_json::to_string(&self.0.given_files(&files)?).map_err(not_serialized)?)
        })
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
            Ok(Self(operations::WriteJob::from_bytes(&data).await?))
        })
    }
}
