//! The adds that stand, each with all that the log says of it: for who brings files again.

use deltaic_protocol::actions::Add;
use deltaic_protocol::{Error, Result};

use super::action_files::ActionFiles;
use super::add_form::AddForm;
use super::columns::FileSchemas;
use super::standing_rows::standing_files;
use super::{from_checkpoint, from_lines};
use crate::snapshot::Snapshot;

/// The adds of a snapshot with every field, as a commit that changes no row would bring them again: `dataChange` is
/// false, and statistics are text. Must be called inside a runtime.
///
/// Opening a table leaves most fields where they are, so the log is read again.
///
/// # Errors
///
/// `CorruptLog` where the log is not what it was when the table was opened; the store's.
pub async fn standing_adds(snapshot: &Snapshot) -> Result<Vec<Add>> {
    let form = AddForm::of_commits(snapshot)?;
    let schemas = FileSchemas::of(form.fields());
    let mut out = ActionFiles::values(snapshot.location(), &form, &schemas);
    if let Some(checkpoint) = snapshot.checkpoint() {
        from_checkpoint::write_adds(snapshot.adds(), &mut out)
            .await
            .map_err(|error: Error| checkpoint.locate(error))?;
    }
    let files = standing_files(snapshot.adds(), &[]);
    from_lines::write_lines(snapshot.location(), files, snapshot.max_line_bytes(), &mut out).await?;
    out.finish().await?;
    Ok(out.into_values())
}
