//! The secrets of the tests: each contains a mark, so that it is recognized in any output.
//!
//! The Python tests use the same marks, and `tests/run.py` searches for them in all output of the Rust tests.

use deltaic_protocol::Error;

/// The mark of every secret: as text, and in base64.
pub const MARKS: [&str; 2] = ["PlAnTeD", "UGxBblRlR"];

/// Verifies that an error contains no secret in its message, context or hint.
///
/// # Panics
///
/// If it contains one. The panic does not repeat the secret.
///
/// ```
/// use deltaic_protocol::{Error, ErrorKind};
/// use deltaic_testkit::secrets::reveals_no_secret;
///
/// reveals_no_secret(&Error::new(ErrorKind::StorageError, "the store failed"));
/// let told = Error::new(ErrorKind::StorageError, "the store failed").hint("the key is not PlAnTeD-key");
/// assert!(std::panic::catch_unwind(|| reveals_no_secret(&told)).is_err());
/// ```
pub fn reveals_no_secret(error: &Error) {
    let message = format!("{error} {error:?}");
    for mark in MARKS {
        assert!(
            !message.contains(mark),
            "an error contains a secret: {}",
            message.replace(mark, "…")
        );
    }
}
