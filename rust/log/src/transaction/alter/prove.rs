//! Checks or establishes the preconditions of a change on existing files; others are rejected as unsupported.
//!
//! Protocol: *CHECK Constraints*, *Clustered Table*, *Row IDs*, *Deletion Vectors*; the proposal
//! *Checkpoint Protection*.

use std::future::Future;
use std::pin::Pin;

use deltaic_protocol::change::{Duty, TableChange};
use deltaic_protocol::features::Traces;
use deltaic_protocol::schema::PrimitiveType;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::Staging;
use super::statistics_there::ensure_statistics;
use crate::checkpoint::{
    CheckpointOptions, CheckpointSpec, CheckpointWritten, checkpoint_spec, whole_adds, write_checkpoint,
};
use crate::snapshot::{LoadOptions, Snapshot};

/// Number of checkpoints directly before a change, so that no reader needs earlier versions. One suffices unless it is
/// damaged or lost.
const CHECKPOINTS: i64 = 3;

/// Future result of a check.
pub type Proved<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// Checks the rows of a table for conditions that the log cannot show.
pub trait RowProof: Send + Sync {
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
                format!("that the history without the feature {name} is truncated cannot be proved"),
                "drop the feature and keep the history: its checkpoints are protected then",
            ));
        }
    }
    Ok(())
}

/// Checks or establishes the preconditions of changes on files.
pub(super) async fn fulfil(
    staging: &mut Staging<'_>,
    duties: &[Duty],
    rows: Option<&dyn RowProof>,
) -> Result<()> {
    let snapshot = staging.snapshot;
    if !duties.is_empty() {
        // Only the files of the read version are checked; files that are concurrently added or removed are not.
        staging.read.rest_on_every_file();
    }
    for duty in duties {
        match duty {
            _ if snapshot.num_files() == 0 && !is_of_log(duty) => {}
            Duty::RowsSatisfy { name, expression } => match rows {
                Some(rows) => rows.rows_satisfy(snapshot, name, expression).await?,
                None => {
                    return Err(unsupported(
                        "checkConstraints",
                        format!("the log does not show whether the rows satisfy the constraint {name}"),
                        "add the constraint by a verb that reads rows",
                    ));
                }
            },
            Duty::FilesHaveRowIds => give_row_ids(staging).await?,
            Duty::FilesHaveStatistics(columns) => ensure_statistics(snapshot, columns).await?,
            Duty::NothingUses(name) => end_use(staging, name).await?,
            Duty::FilesAreReadAsIceberg => {
                return Err(unsupported(
                    "icebergCompatV2",
                    "whether the files that are there can be read as Iceberg is not looked at".to_owned(),
                    "set the property when the table is made, before it has files",
                ));
            }
            Duty::CheckpointsStandBefore => write_checkpoints(snapshot).await?,
        }
    }
    Ok(())
}

/// Whether a precondition concerns the log, so that it also applies to a table without files.
fn is_of_log(duty: &Duty) -> bool {
    matches!(
        duty,
        Duty::CheckpointsStandBefore | Duty::NothingUses("v2Checkpoint")
    )
}

/// Adds files without row ids again; the commit assigns the ids.
async fn give_row_ids(staging: &mut Staging<'_>) -> Result<()> {
    let adds = whole_adds(staging.snapshot, None).await?;
    let without = adds
        .into_iter()
        .filter(|add| add.base_row_id.is_none() || add.default_row_commit_version.is_none());
    staging.proposal.adds.extend(without);
    Ok(())
}

/// Checks that no file uses a feature, or adds the files again without the fields of the feature.
async fn end_use(staging: &mut Staging<'_>, name: &str) -> Result<()> {
    let snapshot = staging.snapshot;
    match name {
        "deletionVectors" => {
            let (files, _) = snapshot.files(None).await?;
            for batch in &files.batches {
                let marked = (0..batch.len()).find(|row| batch.adds.descriptor(*row).is_some());
                if let Some(row) = marked {
                    let what = "the feature deletionVectors is in use by a file that has deleted rows";
                    return Err(Error::new(ErrorKind::SchemaMismatch, what)
                        .with("feature", name)
                        .with("path", batch.adds.path.value(row))
                        .hint("rewrite the files that have deleted rows: then the feature can be dropped"));
                }
            }
            Ok(())
        }
        "rowTracking" => {
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
        "v2Checkpoint" => {
            let written = write_checkpoint(snapshot, &CheckpointOptions::default()).await?;
            let spec = checkpoint_spec(snapshot.configuration())?;
            if spec == CheckpointSpec::V1 && is_classic(&written) {
                return Ok(());
            }
            let what = "the feature v2Checkpoint is in use by the newest checkpoint";
            Err(Error::new(ErrorKind::SchemaMismatch, what)
                .with("feature", name)
                .with("path", written.path)
                .hint("commit something else first: a checkpoint of the other kind is written then"))
        }
        // The configuration shows whether these are in use; files do not use them without it.
        "columnMapping" | "typeWidening" => Ok(()),
        _ if name == "variantShredding" && !has_variants(snapshot) => Ok(()),
        _ => Err(unsupported(
            name,
            format!("whether a file uses the feature {name} is not looked at"),
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
            // No reader can need a version that does not exist.
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
