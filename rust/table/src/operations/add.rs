//! Adds data files that another engine wrote, after verifying that they match the table.
//!
//! Protocol: *Add File and Remove File*, *Partition Value Serialization*, *Per-file Statistics*.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::Operation;
use deltaic_protocol::actions::Add;
use deltaic_protocol::clustering::{DOMAIN, columns_in_log};
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::partition::value_of;
use deltaic_protocol::schema::StructField;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::TableLocation;
use deltaic_storage::store_error;
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;
use object_store::path::Path;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::verb::Verb;
use crate::transaction::TableTransaction;
use crate::transaction::metrics::Count;
use crate::transaction::requirement::Requirement;
use crate::write::{ensure_addable, ensure_storable};

/// The number of files that are checked concurrently.
const CHECKED_AT_ONCE: usize = 32;

/// A data file in the table's folder that no version names yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenFile {
    /// The path as it will be in the log: relative to the table's root, percent-encoded.
    pub path: String,
    /// The size in bytes.
    pub size: i64,
    /// The text of each partition column's value; `None` for NULL.
    #[serde(default)]
    pub partition_values: BTreeMap<String, Option<String>>,
    /// The modification time, in milliseconds since the epoch.
    pub modification_time: i64,
    /// The statistics, as the text of a JSON object.
    #[serde(default)]
    pub stats: Option<String>,
    /// Whether the file changes the table's rows.
    #[serde(default = "yes")]
    pub data_change: bool,
    /// Of a file of a write task: the digest of the table that it was written for.
    #[serde(default)]
    pub written_for: Option<String>,
    /// Of a file of a planned write: the last values of identity columns by name.
    #[serde(default)]
    pub high_water_marks: BTreeMap<String, i64>,
}

fn yes() -> bool {
    true
}

impl GivenFile {
    /// Parses the text of a JSON array of files.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if the text is no such array.
    pub fn list_from_json(text: &str) -> Result<Vec<Self>> {
        serde_json::from_str(text).map_err(|error| {
            let message = format!("these are not valid files to add: {error}");
            Error::new(ErrorKind::InvalidArgument, message)
        })
    }
}

/// Adds files that another engine wrote. The transaction never deletes them, whatever its outcome.
///
/// # Errors
///
/// `ValueError` with the `path` of a file that is already live or staged, does not exist, has another size, or has
/// invalid partition values or statistics; `PathEscape`; `UnsupportedFeature`.
#[derive(Clone, Debug)]
pub struct AddFiles {
    /// The files.
    pub files: Vec<GivenFile>,
}

impl Verb for AddFiles {
    type Staged = ();

    fn operation(&self) -> Operation {
        Operation::Write
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_appendable(table)?;
        ensure_storable(&*table.schema()?, &table.metadata().partition_columns)
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<()> {
        let (files, snapshot) = (&self.files, transaction.snapshot.clone());
        ensure_files_addable(&snapshot, files).map_err(|error| snapshot.located(error))?;
        transaction.ensure_takes_files()?;
        transaction.ensure_new(files).await?;
        let mut rows = 0u64;
        let clustered = match snapshot.configuration().domain(DOMAIN) {
            Some(domain) => columns_in_log(domain)?,
            None => Vec::new(),
        };
        for file in files {
            transaction.ensure_values(file)?;
            ensure_clustering_statistics(file, &clustered)?;
            rows = rows.saturating_add(records_of(file)?);
        }
        ensure_exist(snapshot.location(), files).await?;
        let has_feed = transaction.has_feed()?;
        let adds: Vec<Add> = files.iter().cloned().map(GivenFile::into_add).collect();
        let staged = &mut transaction.staged;
        let metrics = &mut staged.described.metrics;
        metrics.add_files(Count::NewFiles, Count::NewBytes, &adds);
        metrics.add(Count::NewRows, rows);
        if !adds.is_empty() {
            staged.requirement = staged.requirement.and(Requirement::ADDS);
            // Their row ids are lost.
            staged.may_copy_rows = true;
        }
        for add in adds {
            if !add.data_change {
                staged.same_rows.record_added(&add);
            } else if has_feed {
                staged.unrecorded.inserted.push(add.clone());
            }
            staged.proposal.adds.push(add);
        }
        Ok(())
    }

    /// All files are verified first.
    fn stages_at_once(&self) -> bool {
        true
    }
}

impl TableTransaction {
    /// Verifies that no file is live or staged twice. Files are compared by resolved path, not by spelling.
    async fn ensure_new(&self, files: &[GivenFile]) -> Result<()> {
        let location = self.snapshot.location();
        let log = location.below(LOG_FOLDER)?;
        let staged = self.staged.proposal.adds.iter();
        let mut staged: HashSet<Path> = staged
            .filter_map(|add| location.resolve(&add.path).ok())
            .collect();
        let mut given: HashMap<Path, &GivenFile> = HashMap::with_capacity(files.len());
        for file in files {
            let place = location
                .resolve(&file.path)
                .map_err(|error| file.outside(&error))?;
            if place.prefix_matches(&log) {
                return Err(file.wrong("it is a file of the log"));
            }
            if !staged.insert(place.clone()) {
                return Err(file.wrong("it is staged already"));
            }
            given.insert(place, file);
        }
        let (live, _) = self.snapshot.files(None).await?;
        let paths = live
            .batches
            .iter()
            .flat_map(|batch| batch.adds.path.iter().flatten());
        // A live path that cannot be resolved is not one of the given files.
        let mut found = paths.filter_map(|path| Some((path, *given.get(&location.resolve(path).ok()?)?)));
        match found.next() {
            Some((_, file)) => Err(file.wrong("it is a live file of the table already")),
            None => Ok(()),
        }
    }

    /// Verifies that a file has a valid value for each partition column, and no other values.
    fn ensure_values(&self, file: &GivenFile) -> Result<()> {
        let mode = self.snapshot.column_mapping();
        let columns = self
            .snapshot
            .partition_fields()
            .into_iter()
            .map(|column| StructField {
                name: name_in_log(column, mode).to_owned(),
                ..column.clone()
            });
        let columns: Vec<StructField> = columns.collect();
        let is_column = |name: &&String| columns.iter().any(|column| column.name == **name);
        if let Some(name) = file.partition_values.keys().find(|name| !is_column(name)) {
            return Err(file.wrong(&format!("{name:?} is not a partition column of the table")));
        }
        for column in &columns {
            if !file.partition_values.contains_key(&column.name) {
                let what = format!("it has no value for the partition column {:?}", column.name);
                return Err(file.wrong(&what));
            }
            let evaluated = value_of(column, &file.partition_values);
            evaluated.map_err(|error| file.wrong(error.what()).with("field", column.name.as_str()))?;
        }
        Ok(())
    }
}

/// Verifies that the table takes files that other engines wrote, or that write tasks wrote them for this table.
fn ensure_files_addable(snapshot: &Snapshot, files: &[GivenFile]) -> Result<()> {
    let Err(error) = ensure_addable(snapshot) else {
        return Ok(());
    };
    let digest = snapshot.configuration().digest()?;
    for file in files {
        match &file.written_for {
            None => return Err(error),
            Some(other) if *other != digest => {
                let what =
                    "the schema, the properties or the protocol of the table changed after its task was made";
                return Err(file
                    .wrong(what)
                    .hint("write the rows again, by a task of the newest snapshot"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Verifies that files exist and have the given sizes.
pub(crate) async fn ensure_exist(location: &Arc<TableLocation>, files: &[GivenFile]) -> Result<()> {
    let checks: Vec<_> = files
        .iter()
        .map(|file| check_exists(Arc::clone(location), file.clone()))
        .collect();
    let checks = futures::stream::iter(checks).buffer_unordered(location.at_once(CHECKED_AT_ONCE));
    checks.try_collect::<()>().await
}

/// Verifies that the file exists and has the given size.
async fn check_exists(location: Arc<TableLocation>, file: GivenFile) -> Result<()> {
    let path = location
        .resolve(&file.path)
        .map_err(|error| file.outside(&error))?;
    match location.store().head(&path).await {
        Ok(found) if i64::try_from(found.size) == Ok(file.size) => Ok(()),
        Ok(found) => Err(file.wrong(&format!("it has {} bytes, not {}", found.size, file.size))),
        Err(object_store::Error::NotFound { .. }) => Err(file.wrong("it does not exist")),
        Err(error) => Err(store_error(&error, &file.path)),
    }
}

/// Verifies that the statistics of a file have every clustering column.
///
/// Protocol: *Writer Requirements for Clustered Table*.
fn ensure_clustering_statistics(file: &GivenFile, clustered: &[Vec<String>]) -> Result<()> {
    let stats: Value = file
        .stats
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let has = |path: &&Vec<String>| {
        let counts = stats.get("nullCount");
        let found = path.iter().fold(counts, |found, name| found?.get(name));
        found.is_some_and(Value::is_u64)
    };
    match clustered.iter().find(|path| !has(path)) {
        None => Ok(()),
        Some(path) => Err(file.wrong(&format!(
            "its statistics lack the clustering column {}",
            path.join(".")
        ))),
    }
}

impl GivenFile {
    pub(crate) fn into_add(self) -> Add {
        Add {
            path: self.path,
            partition_values: self.partition_values,
            size: self.size,
            modification_time: self.modification_time,
            data_change: self.data_change,
            stats: self.stats,
            ..Add::default()
        }
    }

    /// Rewords an error about a path in the log for a given path.
    fn outside(&self, error: &Error) -> Error {
        let why = error.what().rsplit(": ").next().unwrap_or_default();
        let message = self.wrong(&format!("its path is outside the table's folder: {why}"));
        match error.kind() {
            ErrorKind::PathEscape => Error::new(ErrorKind::PathEscape, message.what())
                .with("path", self.path.as_str())
                .hint("give the path of a file below the table's root, relative to it"),
            ErrorKind::CorruptLog => self.wrong(error.what()),
            _ => error.clone(),
        }
    }

    pub(crate) fn wrong(&self, what: &str) -> Error {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the file {:?} cannot be added: {what}", self.path),
        )
        .with("path", self.path.as_str())
    }
}

/// Returns the `numRecords` of a file; 0 if it has none.
pub(crate) fn records_of(file: &GivenFile) -> Result<u64> {
    let Some(text) = &file.stats else {
        return Ok(0);
    };
    let Ok(Value::Object(stats)) = serde_json::from_str(text) else {
        return Err(file.wrong("its statistics are not the text of a JSON object"));
    };
    match stats.get("numRecords") {
        None => Ok(0),
        Some(records) => records
            .as_u64()
            .ok_or_else(|| file.wrong("its numRecords is not a number of rows")),
    }
}
