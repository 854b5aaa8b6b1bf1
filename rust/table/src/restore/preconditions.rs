//! What a table must allow to be restored.

use deltaic_protocol::features::{ensure_appendable, ensure_changeable, ensure_removable};
use deltaic_protocol::{Result, TableConfiguration};

/// The preconditions of each kind of plan.
pub(super) fn ensure_restorable<const ADDS: bool, const REMOVES: bool>(
    table: &TableConfiguration,
) -> Result<()> {
    ensure_changeable(table)?;
    if ADDS {
        ensure_appendable(table)?;
    }
    if REMOVES {
        ensure_removable(table)?;
    }
    Ok(())
}
