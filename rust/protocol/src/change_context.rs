//! Version, time and ids of the commit that makes a change.

use crate::Version;

/// Values that a change needs from its caller.
pub struct ChangeContext<'a> {
    /// The version that commits the change.
    pub version: Version,
    /// The in-commit timestamp of that version in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// Generates unique ids, such as UUIDs.
    pub new_id: &'a mut dyn FnMut() -> String,
}
