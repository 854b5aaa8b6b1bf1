//! Messages about commit attempts: errors, and descriptions of winning commits without a conflict.

use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Conflict, Error, ErrorKind, Version};

use crate::transaction::WinningCommit;
use deltaic_storage::location::TableLocation;

/// How often a version is proposed without a definitive response, in addition to the retries of the store's client.
/// `max_attempts` counts lost proposals, which are normal under contention.
pub(super) const MOST_UNANSWERED: usize = 10;

/// The outcome is unknown: a proposal of this version may have been committed, or still be.
pub(super) fn unknown(location: &TableLocation, version: Version, error: &Error) -> Error {
    Error::new(
        ErrorKind::CommitUnknown,
        format!("No definitive response to the commit request: version {version} may or may not be this commit: {error}"),
    )
    .with("table", location.uri())
    .with("version", version)
    .hint("check the table's history before running the operation again")
}

/// The outcome of a creation is unknown.
pub(super) fn creation_unknown(location: &TableLocation, error: &Error) -> Error {
    Error::new(
        ErrorKind::CommitUnknown,
        format!("No definitive response to the commit request: the table may or may not have been created: {error}"),
    )
    .with("path", location.uri())
    .with("version", Version::ZERO)
    .hint("open the table to see whether it was created")
}

/// The table to create exists.
pub(super) fn exists(location: &TableLocation) -> Error {
    Error::new(ErrorKind::TableExists, "a table already exists at this location")
        .with("path", location.uri())
        .hint("open it with deltaic.Table, or pass if_exists=\"ignore\"")
}

/// The deadline passed. Other writers won `won` versions, the latest of which is `base`.
pub(super) fn out_of_time(location: &TableLocation, base: Option<Version>, won: usize) -> Error {
    let what = match won {
        0 => "the deadline passed before the commit was proposed".to_owned(),
        1 => "the deadline passed after another writer had committed a version".to_owned(),
        won => format!("the deadline passed after other writers had committed {won} consecutive versions"),
    };
    conflict(location, base, what).hint("run the operation again, or with a later deadline")
}

/// The maximum number of proposals lost to other writers.
pub(super) fn outrun(location: &TableLocation, base: Option<Version>, lost: usize) -> Error {
    let what = match lost {
        1 => "another writer committed the proposed version first".to_owned(),
        lost => format!("other writers committed {lost} proposed versions first"),
    };
    conflict(location, base, what).hint("run the operation again, or raise max_attempts")
}

fn conflict(location: &TableLocation, base: Option<Version>, what: String) -> Error {
    let error =
        Error::new(ErrorKind::CommitConflict(Conflict::ConcurrentWrite), what).with("table", location.uri());
    match base {
        Some(base) => error.with("version", base),
        None => error,
    }
}

/// Warning that a commit may not survive a power failure.
pub(super) fn not_synced(version: Version, why: &str) -> String {
    format!("version {version} is committed, but may be lost if the power fails now: {why}")
}

/// Error for a commit whose version may precede a gap left by log cleanup.
pub(super) fn not_shown(version: Version, newest: Version) -> Error {
    Error::new(
        ErrorKind::StorageError,
        format!(
            "version {version} was written after a possible log cleanup, and the newest version, {newest}, does not contain it"
        ),
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
}

pub(super) fn no_answer(version: Version) -> Error {
    Error::new(
        ErrorKind::StorageError,
        format!("no definitive response to the commit request, {MOST_UNANSWERED} times"),
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
    .hint("check that the store accepts writes, then run the operation again")
}

pub(super) fn not_to_be_seen(version: Version) -> Error {
    Error::new(
        ErrorKind::StorageError,
        "the store reports both that the version exists and that it does not",
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
    .hint("check that the store returns objects that were just written, then retry")
}

pub(super) fn no_commit(version: Version) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "the path of the next commit exists but is not a commit file",
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
    .hint("move it away; it may be a folder or a dangling link")
}

/// The commit file is not valid UTF-8.
pub(super) fn not_utf8(version: Version) -> Error {
    Error::new(ErrorKind::CorruptLog, "the commit is not valid UTF-8")
        .with("path", LogPath::commit(version))
        .with("version", version)
        .hint("restore the commit from a backup of the table")
}

/// Describes a winning commit that did not conflict.
pub(super) fn describe(winning_commit: &WinningCommit, united: usize) -> String {
    let operation = winning_commit.operation.as_deref().unwrap_or("a commit");
    let version = winning_commit.version;
    match united {
        0 => format!("version {version}: {operation}"),
        1 => format!("version {version}: {operation}; it deleted other rows of one file"),
        files => format!("version {version}: {operation}; it deleted other rows of {files} files"),
    }
}
