//! Checks or establishes the preconditions of a change on existing files; rejects other changes as unsupported.
//!
//! Protocol: *CHECK Constraints*, *Clustered Table*, *Row IDs*, *Deletion Vectors*; the proposal
//! *Checkpoint Protection*.

use std::future::Future;
use std::pin::Pin;

use deltaic_protocol::change::{Precondition, TableChange};
use deltaic_protocol::features::{FileUse, Traces};
use deltaic_protocol::schema::PrimitiveType;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::Staging;
use super::clustering_statistics::ensure_statistics;
use crate::checkpoint::{
    CheckpointOptions, CheckpointSpec, CheckpointWritten, checkpoint_spec, whole_adds, write_checkpoint,
};
use crate::snapshot::{LoadOptions, Snapshot};

/// Number of checkpoints directly before a change, so that no reader needs earlier versions. One suffices unless it is
/// damaged or lost.
const CHECKPOINTS: i64 = 3;

/// Future of a check.
pub type Proved<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// Checks the rows of a table for conditions that the log cannot show.
pub trait RowVerifier: Send + Sync {
    /// Checks that an expression is true for every row of a version.
    ///
    /// # Errors
    ///
    /// `ConstraintViolation` with the name of the constraint if it is not.
    fn rows_satisfy<'a>(&'a self, snapshot: &'a Snapshot, name: &'a str, expression: &'a str) -> Proved<'a>;
}

/// Rejects changes whose preconditions can be neither checked nor established.
pub(super) fn ensure_provable(changes: &[TableChange]) -> Result<()> {
    for change in changes {
        if let TableChange::DropFeature(name, Traces::Gone) = change {
            return Err(unsupported(
                name,
                format!("cannot verify that history using {name} was truncated"),
                "drop the feature without truncating the history: checkpointProtection then protects its checkpoints",
            ));
        }
    }
    Ok(())
}

/// Checks or establishes the preconditions of changes on files.
pub(super) async fn fulfil(
    staging: &mut Staging<'_>,
    preconditions: &[Precondition],
    rows: Option<&dyn RowVerifier>,
) -> Result<()> {
    let snapshot = staging.snapshot;
    if !preconditions.is_empty() {
        // Only the files of the read version are checked; files that are concurrently added or removed are not.
        staging.read.require_exact_files();
    }
    for precondition in preconditions {
        match precondition {
            _ if snapshot.num_files() == 0 && !is_of_log(precondition) => {}
            Precondition::RowsSatisfy { name, expression } => match rows {
                Some(rows) => rows.rows_satisfy(snapshot, name, expression).await?,
                None => {
                    return Err(unsupported(
                        "checkConstraints",
                        format!("cannot verify the constraint {name}: the log does not contain the rows"),
                        "add the constraint with an operation that reads rows",
                    ));
                }
            },
            Precondition::FilesHaveRowIds => backfill_row_ids(staging).await?,
            Precondition::FilesHaveStatistics(columns) => ensure_statistics(snapshot, columns).await?,
            Precondition::NothingUses { feature, shown } => end_use(staging, feature, *shown).await?,
            Precondition::FilesAreReadAsIceberg(version) => {
                let feature = version.feature();
                return Err(unsupported(
                    feature,
                    format!("cannot verify that existing files can be read as Iceberg with {feature}"),
                    "set the property when the table is created",
                ));
            }
            Precondition::CheckpointsStandBefore => write_checkpoints(snapshot).await?,
        }
    }
    Ok(())
}

/// Whether a precondition concerns the log, so that it also applies to a table without files.
fn is_of_log(precondition: &Precondition) -> bool {
    matches!(
        precondition,
        Precondition::CheckpointsStandBefore
            | Precondition::NothingUses {
                shown: FileUse::Checkpoints,
                ..
            }
    )
}

/// Adds files without row ids again; the commit assigns the ids.
async fn backfill_row_ids(staging: &mut Staging<'_>) -> Result<()> {
    let adds = whole_adds(staging.snapshot, None).await?;
    let without = adds
        .into_iter()
        .filter(|add| add.base_row_id.is_none() || add.default_row_commit_version.is_none());
    staging.proposal.adds.extend(without);
    Ok(())
}

/// Checks that no file uses a feature, or adds the files again without the fields of the feature.
async fn end_use(staging: &mut Staging<'_>, name: &str, shown: FileUse) -> Result<()> {
    let snapshot = staging.snapshot;
    match shown {
        FileUse::DeletionVectors => {
            let (files, _) = snapshot.files(None).await?;
            for batch in &files.batches {
                let marked = (0..batch.len()).find(|row| batch.adds.descriptor(*row).is_some());
                if let Some(row) = marked {
                    let what = format!("the feature {name} is in use: a file has deleted rows");
                    return Err(Error::new(ErrorKind::SchemaMismatch, what)
                        .with("feature", name)
                        .with("path", batch.adds.path.value(row))
                        .hint("rewrite the files that have deleted rows, then drop the feature"));
                }
            }
            Ok(())
        }
        FileUse::RowIds => {
            let adds = whole_adds(snapshot, None).await?;
            let given = adds
                .into_iter()
                .filter(|add| add.base_row_id.is_some() || add.default_row_commit_version.is_some());
            staging.proposal.adds.extend(given.map(|mut add| {
                (add.base_row_id, add.default_row_commit_version) = (None, None);
                add
            }));
            Ok(())
        }
        FileUse::Checkpoints => {
            let written = write_checkpoint(snapshot, &CheckpointOptions::default()).await?;
            let spec = checkpoint_spec(snapshot.configuration())?;
            if spec == CheckpointSpec::V1 && is_classic(&written) {
                return Ok(());
            }
            let what = format!("the feature {name} is in use: the newest checkpoint requires it");
            Err(Error::new(ErrorKind::SchemaMismatch, what)
                .with("feature", name)
                .with("path", written.path)
                .hint("commit another change first, so that a classic checkpoint can be written"))
        }
        // The change of the configuration was checked already.
        FileUse::Schema => Ok(()),
        FileUse::ShreddedVariants if !has_variants(snapshot) => Ok(()),
        FileUse::ShreddedVariants => Err(unsupported(
            name,
            format!("cannot verify that no file uses the feature {name}"),
            "drop it with a client that rewrites the files",
        )),
    }
}

fn is_classic(written: &CheckpointWritten) -> bool {
    let name = format!("/{}.checkpoint.parquet", written.version.file_stem());
    written.sidecars.is_empty() && written.path.ends_with(&name)
}

fn has_variants(snapshot: &Snapshot) -> bool {
    let mut found = false;
    snapshot.schema().for_each_part(&mut |_, part| {
        found = found || part.as_primitive() == Some(PrimitiveType::Variant);
    });
    found
}

/// Writes checkpoints of the snapshot's version and of the versions directly before it, if they exist.
async fn write_checkpoints(snapshot: &Snapshot) -> Result<()> {
    let options = CheckpointOptions::default();
    write_checkpoint(snapshot, &options).await?;
    let newest = snapshot.version().as_i64();
    for version in (0..newest)
        .rev()
        .take(usize::try_from(CHECKPOINTS - 1).unwrap_or(0))
    {
        let load = LoadOptions {
            max_line_bytes: snapshot.max_line_bytes(),
        };
        let location = snapshot.location().clone();
        match Snapshot::load(location, Some(Version::try_new(version)?), load).await {
            Ok(older) => write_checkpoint(&older, &options).await.map(|_| ())?,
            // Versions that do not exist need no checkpoint.
            Err(error) if error.kind() == ErrorKind::VersionNotFound => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn unsupported(feature: &str, what: String, hint: &str) -> Error {
    Error::new(ErrorKind::UnsupportedFeature, what)
        .with("feature", feature)
        .hint(hint)
}
