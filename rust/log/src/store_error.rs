//! What a store's failure means here.

use deltaic_protocol::{Error, ErrorKind};

/// A store's failure at a path. Where a file is absent, the caller mostly knows better what that means.
#[must_use]
pub fn store_error(error: &object_store::Error, path: &str) -> Error {
    use object_store::Error as E;
    let (what, hint) = match error {
        E::NotFound { .. } => ("the file is not there", "check that the path is right and the file was not removed"),
        E::PermissionDenied { .. } => ("permission denied", "check the rights of the user or the credentials"),
        E::Unauthenticated { .. } => ("the store wants credentials", "check the credentials"),
        E::NotSupported { .. } | E::NotImplemented { .. } => ("the store cannot do this", "use another store"),
        _ => ("the store failed", "try again; check that the place can be reached and written"),
    };
    let cause = innermost(error);
    let message = if cause.is_empty() { what.to_owned() } else { format!("{what}: {cause}") };
    Error::new(ErrorKind::StorageError, message).with("path", path).hint(hint)
}

/// The cause at the bottom of the chain, which is the operating system's or the server's own word.
fn innermost(error: &object_store::Error) -> String {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    let mut last = String::new();
    while let Some(current) = cause {
        last = current.to_string();
        cause = current.source();
    }
    last
}

/// An operating system's failure at a path.
#[must_use]
pub fn io_error(error: &std::io::Error, path: &str) -> Error {
    let hint = match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "the folder is read-only for this user: check its rights"
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => "make room on the store",
        _ => "check that the place can be reached and written",
    };
    Error::new(ErrorKind::StorageError, format!("the store failed: {error}")).with("path", path).hint(hint)
}
