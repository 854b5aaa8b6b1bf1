//! The door for what differs from run to run: the time of day and unique ids.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch, now.
#[must_use]
pub fn now_ms() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the ban points to"
    )]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}

/// A random UUID in its usual spelling.
#[must_use]
pub fn new_id() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the ban points to"
    )]
    let id = uuid::Uuid::new_v4();
    id.to_string()
}
