//! The paths of sidecars.
//!
//! Protocol: *Sidecar Files*.

use std::collections::HashSet;

use deltaic_protocol::Result;
use deltaic_protocol::actions::Sidecar;
use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_storage::location::without_secrets;

use super::columns::damaged;

/// The folder of the sidecars, relative to the log's folder.
pub(crate) const SIDECARS: &str = "_sidecars";

/// The path of a sidecar relative to the table's root.
pub(super) fn sidecar_path(sidecar: &Sidecar) -> Result<String> {
    Ok(format!("{LOG_FOLDER}/{SIDECARS}/{}", sidecar.name()?))
}

/// Verifies before fetching that no sidecar is named twice: its files would be live twice.
pub(super) fn ensure_sidecars_once(sidecars: &[Sidecar]) -> Result<()> {
    let mut seen = HashSet::with_capacity(sidecars.len());
    match sidecars
        .iter()
        .find(|sidecar| !seen.insert(sidecar.path.as_str()))
    {
        Some(sidecar) => Err(damaged("it refers to one sidecar twice")
            .with("field", "sidecar.path")
            .with("path", without_secrets(&sidecar.path))),
        None => Ok(()),
    }
}
