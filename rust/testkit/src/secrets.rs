//! The secrets of the tests: what they hold, so that they are known again wherever they are told.
//!
//! The Python tests plant the same, and `tests/run.py` looks for them in all that the Rust tests print.

use deltaic_protocol::Error;

/// What every planted secret holds: as text, and as base64 has it.
pub const MARKS: [&str; 2] = ["PlAnTeD", "UGxBblRlR"];

/// An error tells no secret: not in its message, its context or its hint.
///
/// # Panics
///
/// Where it does; without the secret.
///
/// ```
/// use deltaic_protocol::{Error, ErrorKind};
/// use deltaic_testkit::secrets::tells_no_secret;
///
/// tells_no_secret(&Error::new(ErrorKind::StorageError, "the store failed"));
/// let told = Error::new(ErrorKind::StorageError, "the store failed").hint("the key is not PlAnTeD-key");
/// assert!(std::panic::catch_unwind(|| tells_no_secret(&told)).is_err());
/// ```
pub fn tells_no_secret(error: &Error) {
    let said = format!("{error} {error:?}");
    for mark in MARKS {
        assert!(
            !said.contains(mark),
            "an error tells a secret: {}",
            said.replace(mark, "…")
        );
    }
}
