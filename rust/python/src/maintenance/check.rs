//! `deltaic._rust.Report`

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::check::{Examination, Finding as Found, Progress};
use deltaic_log::snapshot::LoadOptions;
use deltaic_storage::TableLocation;
use deltaic_table::check::{Depth, check};
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::progress::{Functions, Reporter};
use crate::calls::runtime::wait_reporting;

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct Finding {
    code: &'static str,
    severity: &'static str,
    message: String,
    path: Option<String>,
    version: Option<i64>,
    line: Option<i64>,
    field: Option<String>,
    meaning: &'static str,
    remedy: &'static str,
}

impl From<Found> for Finding {
    fn from(found: Found) -> Self {
        Self {
            code: found.diagnosis.code,
            severity: found.severity.name(),
            message: found.message,
            path: found.path,
            version: found.version,
            line: found.line,
            field: found.field,
            meaning: found.diagnosis.meaning,
            remedy: found.diagnosis.remedy,
        }
    }
}

#[pyclass(module = "deltaic._rust", frozen, get_all)]
pub(crate) struct Report {
    uri: String,
    versions: Option<(i64, i64)>,
    commits: usize,
    checkpoints: usize,
    checksums: usize,
    compactions: usize,
    live_files: Option<usize>,
    data_files: usize,
    counts: BTreeMap<&'static str, u64>,
    findings: Vec<Py<Finding>>,
}

/// Checks a table. `progress` is called with the stage, the completed steps and their total; an exception that it
/// raises stops the check.
pub(crate) fn run(
    py: Python<'_>,
    location: &Arc<TableLocation>,
    options: LoadOptions,
    depth: Depth,
    progress: Option<Functions>,
) -> CallResult<Report> {
    let come = Arc::new(Progress::default());
    let work = {
        let (location, come) = (Arc::clone(location), Arc::clone(&come));
        async move { check(&location, options, depth, &come).await }
    };
    let reporter = progress.map(|function| Reporter::new(function, &come));
    let examination = wait_reporting(py, reporter.as_ref(), work)?;
    report(py, location.uri(), examination)
}

fn report(py: Python<'_>, uri: &str, examination: Examination) -> CallResult<Report> {
    let Examination {
        findings, examined, ..
    } = examination;
    let counts = findings.counts().clone();
    let findings = findings
        .into_sorted()
        .into_iter()
        .map(|found| Py::new(py, Finding::from(found)));
    Ok(Report {
        uri: uri.to_owned(),
        versions: examined.versions,
        commits: examined.commits,
        checkpoints: examined.checkpoints,
        checksums: examined.checksums,
        compactions: examined.compactions,
        live_files: examined.live_files,
        data_files: examined.data_files,
        counts,
        findings: findings.collect::<PyResult<_>>()?,
    })
}
