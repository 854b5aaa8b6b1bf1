//! What an optimization would do.

use deltaic_log::Snapshot;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::statistics::num_records;

use super::purge::plan_of;
use super::request::Optimize;
use crate::transaction::DryRun;

/// What optimizing a version would do. No data file is read; for a purge, their footers are.
///
/// # Errors
///
/// Those of [`Optimize`] that need no data file.
pub(super) async fn preview(snapshot: &Snapshot, request: &Optimize) -> Result<DryRun> {
    ensure_appendable(snapshot.configuration())?;
    let plan = plan_of(snapshot, request, &[]).await?;
    Ok(DryRun {
        rows: rows_of(plan.files()),
        rewritten_files: plan.files().count(),
        rewritten_bytes: plan.files().fold(0, |sum, add| sum.saturating_add(add.size)),
        added_files: plan.bins.iter().map(|bin| plan.new_files(bin)).sum(),
        ..DryRun::default()
    })
}

/// The number of rows in files that are not deleted; `None` if the log does not have it.
pub(crate) fn rows_of<'a>(adds: impl Iterator<Item = &'a Add>) -> Option<u64> {
    adds.map(|add| {
        let deleted = add
            .deletion_vector
            .as_ref()
            .map_or(0, |vector| vector.cardinality);
        let records = add.stats.as_deref().and_then(num_records)?;
        u64::try_from(records.checked_sub(deleted)?).ok()
    })
    .sum()
}
