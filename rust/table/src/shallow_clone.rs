//! Makes a shallow clone: a new table whose log refers to the files of another table.
//!
//! Protocol: *Add File and Remove File* (absolute paths), *Deletion Vector Descriptor Schema* (storage type `p`),
//! *Change Metadata*, *Row Tracking*.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::progress::Progress;
use deltaic_log::snapshot::{LoadOptions, exists};
use deltaic_log::transaction::{
    CommitOptions, Committed, IfExists, NewContents, Operation, OperationDetails, create_with_files,
};
use deltaic_protocol::actions::{Add, LogicalFileKey};
use deltaic_protocol::change::{ChangeContext, cloned, replaced};
use deltaic_protocol::deletion_vector::{Descriptor, VectorLocation};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration, Version};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::{new_id, now_ms};

use crate::stored_files::{NamedFile, gone_files};

const EXISTS: &str = "choose another location, or replace the table: if_exists=\"replace\"";

/// A shallow clone to make.
#[derive(Clone, Debug)]
pub struct CloneRequest {
    /// The location of the clone.
    pub target: Arc<TableLocation>,
    /// Properties of the clone, besides those of the source.
    pub properties: BTreeMap<String, String>,
    /// What to do if the target is a table: an error, or replace it.
    pub if_exists: IfExists,
    /// Whether to verify that the files of the source exist, as those of an earlier version may not.
    pub verify_files: bool,
}

/// What a clone does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CloneSummary {
    /// The number of files of the clone.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: i64,
    /// The number of files that are removed from a replaced table.
    pub removed_files: usize,
    /// Their size in bytes.
    pub removed_bytes: i64,
}

/// Creates a table with the files of a version of another table, in one commit. No data file is read or copied.
///
/// Must be called inside a runtime.
///
/// # Errors
///
/// `TableExists` if the target is a table, unless it is to be replaced; `UnsupportedFeature` if the target is on another
/// store than the source, or if deltaic cannot change the source; `CorruptData` if files of the source are gone, if that
/// is verified; `InvalidArgument` for an invalid property, or if the target is the source; `SchemaMismatch` if the files
/// do not have what a property requires, or if the replaced table is append-only; errors of a commit.
pub async fn shallow_clone(
    source: &Snapshot,
    request: &CloneRequest,
    options: &CommitOptions,
) -> Result<Committed> {
    let (configuration, adds) = contents(source, request, &options.progress).await?;
    let (count, bytes) = size_of(&adds)?;
    let contents = NewContents {
        configuration,
        adds,
        operation: Operation::Clone,
        details: OperationDetails {
            parameters: vec![
                (
                    "source",
                    format!("delta.`{}`", source.location().absolute_root()?),
                ),
                ("sourceVersion", source.version().to_string()),
            ],
            // No file is copied.
            metrics: vec![
                ("sourceTableSize", bytes),
                ("sourceNumOfFiles", count),
                ("numRemovedFiles", 0),
                ("numCopiedFiles", 0),
                ("removedFilesSize", 0),
                ("copiedFilesSize", 0),
            ],
        },
        if_exists: request.if_exists,
    };
    let committed = create_with_files(&request.target, &contents, options).await;
    let committed = committed.map_err(|error| match error.kind() {
        ErrorKind::TableExists => error.hint(EXISTS),
        _ => error,
    })?;
    committed.ok_or_else(|| Error::internal("a clone was neither made nor refused"))
}

/// Returns what [`shallow_clone`] would do. Nothing is written.
///
/// # Errors
///
/// Those of [`shallow_clone`], except for those of its commit.
pub async fn preview_clone(
    source: &Snapshot,
    request: &CloneRequest,
    progress: &Progress,
) -> Result<CloneSummary> {
    let (configuration, adds) = contents(source, request, progress).await?;
    let mut summary = CloneSummary {
        files: adds.len(),
        bytes: adds.iter().map(|add| add.size).fold(0, i64::saturating_add),
        ..CloneSummary::default()
    };
    let target = &request.target;
    if !exists(target).await? {
        return Ok(summary);
    }
    if request.if_exists != IfExists::Replace {
        return Err(
            Error::new(ErrorKind::TableExists, "a table already exists at the target")
                .with("table", target.uri())
                .hint(EXISTS),
        );
    }
    let old = Snapshot::load(Arc::clone(target), None, LoadOptions::default()).await?;
    replaced(old.configuration(), configuration).map_err(|error| old.located(error))?;
    let again: HashSet<LogicalFileKey<'_>> = adds.iter().map(Add::key).collect();
    for add in whole_adds(&old, None).await? {
        if !again.contains(&add.key()) {
            summary.removed_files += 1;
            summary.removed_bytes = summary.removed_bytes.saturating_add(add.size);
        }
    }
    Ok(summary)
}

/// The configuration and the files of the clone.
async fn contents(
    source: &Snapshot,
    request: &CloneRequest,
    progress: &Progress,
) -> Result<(TableConfiguration, Vec<Add>)> {
    ensure_beside(source.location(), &request.target)?;
    let located = |error: Error| source.located(error);
    let configuration = configuration_of(source, &request.properties).map_err(located)?;
    let mut adds = whole_adds(source, None).await?;
    if !adds.is_empty() {
        ensure_appendable(&configuration).map_err(located)?;
    }
    if request.verify_files {
        ensure_stored(source, &adds, progress).await?;
    }
    for add in &mut adds {
        refer_to(source.location(), add).map_err(|error| located(error.with("path", add.path.as_str())))?;
    }
    adds.sort_by(|left, right| left.path.cmp(&right.path));
    Ok((configuration, adds))
}

fn configuration_of(source: &Snapshot, properties: &BTreeMap<String, String>) -> Result<TableConfiguration> {
    let mut context = ChangeContext {
        version: Version::ZERO,
        timestamp_ms: now_ms(),
        new_id: &mut new_id,
    };
    cloned(source.configuration(), properties, &mut context)
}

/// Verifies that the log of the target can refer to files of the source.
fn ensure_beside(source: &TableLocation, target: &TableLocation) -> Result<()> {
    source.absolute_root()?;
    if !source.shares_store_with(target) {
        return Err(Error::new(
            ErrorKind::UnsupportedFeature,
            "a shallow clone must be on the same store as its source: a log refers to files of its own store only",
        )
        .with("table", target.uri())
        .with("source", source.uri())
        .hint("choose a location on the store of the source, or copy the rows into a new table"));
    }
    if source.root() == target.root() {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            "the target of the clone is the table itself",
        )
        .with("table", target.uri())
        .hint("choose another location; to go back to an earlier version, use restore"));
    }
    Ok(())
}

/// Verifies that the files of the source below its root exist.
async fn ensure_stored(source: &Snapshot, adds: &[Add], progress: &Progress) -> Result<()> {
    let is_own = |add: &&Add| {
        let location = source.location();
        location
            .resolve(&add.path)
            .is_ok_and(|place| place.prefix_matches(location.root()))
    };
    let named: Vec<NamedFile> = adds.iter().filter(is_own).map(NamedFile::from).collect();
    let gone = gone_files(source.location(), &named, progress)
        .await?
        .unreadable();
    let Some(first) = gone.first() else { return Ok(()) };
    let count = gone.len();
    let exist = match count {
        1 => format!("1 file of version {} no longer exists: {first}", source.version()),
        _ => format!(
            "{count} files of version {} no longer exist, such as {first}",
            source.version()
        ),
    };
    Err(Error::new(ErrorKind::CorruptData, exist)
        .with("table", source.location().uri())
        .with("version", source.version())
        .with("files", i64::try_from(count).unwrap_or(i64::MAX))
        .hint("vacuum deletes files of old versions: clone a later version, or put the files back from a backup"))
}

/// Makes an add of the source one of the clone: with absolute paths, and without row ids, which are assigned again.
fn refer_to(source: &TableLocation, add: &mut Add) -> Result<()> {
    add.path = source.absolute(&add.path)?;
    if let Some(vector) = &add.deletion_vector
        && let VectorLocation::File(path) = VectorLocation::of(vector)?
    {
        let path = source.absolute(&path)?;
        add.deletion_vector = Some(Descriptor {
            storage_type: "p".to_owned(),
            path_or_inline_dv: path,
            ..vector.clone()
        });
    }
    add.data_change = true;
    (add.base_row_id, add.default_row_commit_version) = (None, None);
    Ok(())
}

fn size_of(adds: &[Add]) -> Result<(i64, i64)> {
    let count =
        i64::try_from(adds.len()).map_err(|_| Error::internal("the number of files exceeds 63 bits"))?;
    Ok((
        count,
        adds.iter().map(|add| add.size).fold(0, i64::saturating_add),
    ))
}
