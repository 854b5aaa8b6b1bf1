//! Completes a change: adds what it makes necessary.

use super::{generated, invariants};
use crate::change_context::ChangeContext;
use crate::features::needed_features;
use crate::{Result, TableConfiguration, property_change};

/// Adds what a change makes necessary, and verifies the result.
pub(super) fn finished(
    table: &TableConfiguration,
    mut after: TableConfiguration,
    context: &mut ChangeContext<'_>,
) -> Result<TableConfiguration> {
    // Newly used features are added to the protocol; features that were already used are left unchanged.
    let before = needed_features(table.metadata(), &*table.schema()?);
    let mut new = needed_features(after.metadata(), &*after.schema()?);
    new.retain(|name| !before.contains(name));
    after.require(&new)?;
    property_change::follow(table, &mut after, context)?;
    generated::ensure_types_agree(table, &after)?;
    invariants::ensure_consistent(&after, table)?;
    Ok(after)
}
