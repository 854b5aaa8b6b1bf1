//! What a store's failure means here.

use deltaic_protocol::{Error, ErrorKind};

/// A store's failure at a path. Where a file is absent, the caller mostly knows better what that means.
#[must_use]
pub fn store_error(error: &object_store::Error, path: &str) -> Error {
    use object_store::Error as E;
    let (what, hint) = match error {
        E::NotFound { .. } => (
            "the file is not there",
            "check that the path is right and the file was not removed",
        ),
        E::PermissionDenied { .. } => (
            "permission denied",
            "check the rights of the user or the credentials",
        ),
        E::Unauthenticated { .. } => ("the store wants credentials", "check the credentials"),
        E::NotSupported { .. } | E::NotImplemented { .. } => {
            ("the store cannot do this", "use another store")
        }
        _ => (
            "the store failed",
            "try again; check that the place can be reached and written",
        ),
    };
    let cause = innermost(error);
    let message = if cause.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {cause}")
    };
    Error::new(ErrorKind::StorageError, message)
        .with("path", path)
        .hint(hint)
}

/// The cause at the bottom of the chain, which is the operating system's or the server's own word.
fn innermost(error: &object_store::Error) -> String {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    let mut last = String::new();
    while let Some(current) = cause {
        last = current.to_string();
        cause = current.source();
    }
    without_number(&last)
}

/// The system's words without its number for them.
fn without_number(text: &str) -> String {
    match text.rfind(" (os error ") {
        Some(at) if text.ends_with(')') => text.get(..at).unwrap_or(text).to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether a store's failure says that a part of a path is a file and no folder.
#[must_use]
pub fn is_not_a_folder(error: &object_store::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(current) = cause {
        if let Some(io) = current.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::NotADirectory
        {
            return true;
        }
        cause = current.source();
    }
    false
}

/// An operating system's failure at a path.
#[must_use]
pub fn io_error(error: &std::io::Error, path: &str) -> Error {
    if let Some(store) = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<object_store::Error>())
    {
        return store_error(store, path);
    }
    let hint = match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "the folder is read-only for this user: check its rights"
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => "make room on the store",
        _ => "check that the place can be reached and written",
    };
    Error::new(
        ErrorKind::StorageError,
        format!("the store failed: {}", without_number(&error.to_string())),
    )
    .with("path", path)
    .hint(hint)
}
