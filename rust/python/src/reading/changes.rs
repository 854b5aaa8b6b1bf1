//! `deltaic._rust.Changes`

use std::sync::Arc;

use deltaic_log::snapshot::LoadOptions;
use deltaic_log::time_travel::{version_at, version_since};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use deltaic_storage::TableLocation;
use deltaic_table::changes::{self, ChangeOptions, stream_changes};
use futures::TryStreamExt;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::batches::{BatchReader, Blocking};
use super::scan::ScanTask;
use super::schema::Schema;
use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::calls::runtime::wait;
use crate::capsule::{export_schema, export_stream};

/// One end of a range: a version, or a time in milliseconds since the epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Version(i64),
    Time(i64),
}

impl End {
    /// Returns the bound that one of two arguments specifies.
    pub(crate) fn of(version: Option<i64>, timestamp_ms: Option<i64>) -> Option<Self> {
        version.map(Self::Version).or(timestamp_ms.map(Self::Time))
    }
}

/// The options of a range of versions.
pub(crate) struct ChangesRequest {
    pub first: End,
    pub last: Option<End>,
    pub columns: Option<Vec<String>>,
    pub infer: bool,
}

/// Plans the changes of a range.
pub(crate) async fn plan(
    location: Arc<TableLocation>,
    question: ChangesRequest,
    load: LoadOptions,
) -> Result<changes::Changes> {
    let first = match question.first {
        End::Version(version) => Version::try_new(version)?,
        End::Time(time) => version_since(&location, time, load).await?,
    };
    let last = match question.last {
        None => None,
        Some(End::Version(version)) => Some(Version::try_new(version)?),
        Some(End::Time(time)) => Some(version_at(&location, time, load).await?),
    };
    if last.is_some_and(|last| last < first) && matches!(question.last, Some(End::Time(_))) {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            "no version was committed between the two times",
        ));
    }
    let options = ChangeOptions {
        first,
        last,
        columns: question.columns,
        infer: question.infer,
    };
    changes::Changes::plan(&location, options, load).await
}

#[pyclass(module = "deltaic._rust", frozen)]
pub struct Changes(pub changes::Changes);

#[pymethods]
impl Changes {
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::new(self.0.schema().clone()), None)
    }

    fn batches(&self) -> BatchReader {
        BatchReader::new(stream_changes(&self.0))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| export_schema(py, &self.0.schema().to_arrow()?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> CallResult<Bound<'py, PyCapsule>> {
        guarded(|| {
            let schema = Arc::new(self.0.schema().to_arrow()?);
            let reader = Blocking::new(py, schema, stream_changes(&self.0))?;
            export_stream(py, Box::new(reader), requested_schema)
        })
    }

    fn count(&self, py: Python<'_>) -> CallResult<i64> {
        let changes = self.0.clone();
        wait(py, async move {
            let mut batches = stream_changes(&changes);
            let mut rows = 0i64;
            while let Some(batch) = batches.try_next().await? {
                rows = rows.saturating_add(i64::try_from(batch.num_rows()).unwrap_or(i64::MAX));
            }
            Ok(rows)
        })
    }

    fn tasks(&self) -> CallResult<Vec<ScanTask>> {
        guarded(|| Ok(self.0.tasks()?.into_iter().map(ScanTask).collect()))
    }

    fn explain(&self) -> String {
        self.0.explain()
    }
}
