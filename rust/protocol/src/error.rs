//! The error type of deltaic: what happened, on what, and what to do.
//!
//! The kinds correspond to the classes of `deltaic.exceptions`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The result of all fallible functions of deltaic.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure an [`Error`] is. Each kind has one Python class: [`ErrorKind::class_name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no Delta table at this location.
    TableNotFound,
    /// A table to be created already exists.
    TableExists,
    /// The table exists, but not this version or no version at this time.
    VersionNotFound,
    /// The table uses something that is not implemented.
    UnsupportedFeature,
    /// An expression uses something that is not implemented.
    UnsupportedExpression,
    /// A file of the log is missing, damaged or contradicts another.
    CorruptLog,
    /// A data file is missing, damaged or does not fit the schema.
    CorruptData,
    /// A path is outside of the root of the table.
    PathEscape,
    /// A predicate is invalid.
    InvalidPredicate,
    /// Data or a request does not match the schema of the table.
    SchemaMismatch,
    /// Rows violate a constraint of the table.
    ConstraintViolation,
    /// The store failed, denied access or is read-only.
    StorageError,
    /// The commit of another writer conflicts.
    CommitConflict(Conflict),
    /// The outcome of a commit is unknown.
    CommitUnknown,
    /// Internal error in deltaic.
    Internal,
    /// An argument is invalid: a plain `ValueError` in Python.
    InvalidArgument,
}

/// Which conflict a [`ErrorKind::CommitConflict`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Conflict {
    /// The winning commit added files that the operation would have read.
    ConcurrentAppend,
    /// The winning commit added a file that the operation adds too, so that file is live: a
    /// `ConcurrentAppend` in Python.
    AddedTwice,
    /// The winning commit removed a file that the operation read.
    ConcurrentDeleteRead,
    /// The winning commit removed a file that the operation removes too.
    ConcurrentDeleteDelete,
    /// The winning commit advanced an application id or changed a domain that the operation uses.
    ConcurrentTransaction,
    /// The winning commit changed the table's metadata.
    MetadataChanged,
    /// The winning commit changed the table's protocol.
    ProtocolChanged,
    /// Too many consecutive winning commits, or one that cannot be checked.
    ConcurrentWrite,
}

impl ErrorKind {
    /// The name of the Python exception class; `ValueError` for a wrong argument.
    #[must_use]
    pub fn class_name(self) -> &'static str {
        match self {
            Self::TableNotFound => "TableNotFound",
            Self::TableExists => "TableExists",
            Self::VersionNotFound => "VersionNotFound",
            Self::UnsupportedFeature => "UnsupportedFeature",
            Self::UnsupportedExpression => "UnsupportedExpression",
            Self::CorruptLog => "CorruptLog",
            Self::CorruptData => "CorruptData",
            Self::PathEscape => "PathEscape",
            Self::InvalidPredicate => "InvalidPredicate",
            Self::SchemaMismatch => "SchemaMismatch",
            Self::ConstraintViolation => "ConstraintViolation",
            Self::StorageError => "StorageError",
            Self::CommitConflict(Conflict::ConcurrentAppend | Conflict::AddedTwice) => "ConcurrentAppend",
            Self::CommitConflict(Conflict::ConcurrentDeleteRead) => "ConcurrentDeleteRead",
            Self::CommitConflict(Conflict::ConcurrentDeleteDelete) => "ConcurrentDeleteDelete",
            Self::CommitConflict(Conflict::ConcurrentTransaction) => "ConcurrentTransaction",
            Self::CommitConflict(Conflict::MetadataChanged) => "MetadataChanged",
            Self::CommitConflict(Conflict::ProtocolChanged) => "ProtocolChanged",
            Self::CommitConflict(Conflict::ConcurrentWrite) => "ConcurrentWrite",
            Self::CommitUnknown => "CommitUnknown",
            Self::Internal => "InternalError",
            Self::InvalidArgument => "ValueError",
        }
    }
}

/// A value of the context; a number remains a number in Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextValue {
    /// Text, such as a path or a field.
    Text(String),
    /// A number, such as a version.
    Number(i64),
}

impl From<&str> for ContextValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}
impl From<String> for ContextValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}
impl From<i64> for ContextValue {
    fn from(value: i64) -> Self {
        Self::Number(value)
    }
}

/// The error type of deltaic.
///
/// ```
/// use deltaic_protocol::{Error, ErrorKind};
/// let error = Error::new(ErrorKind::CorruptLog, "line 3 is not JSON")
///     .with("path", "_delta_log/00000000000000000007.json")
///     .with("version", 7)
///     .hint("restore the file from a backup of the table");
/// assert_eq!(error.to_string(), "line 3 is not JSON (path: _delta_log/00000000000000000007.json, version: 7)");
/// ```
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<(&'static str, ContextValue)>,
    hint: Option<String>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    is_transient: bool,
}

impl Error {
    /// Creates an error; the message says what is wrong, and the context where.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            context: Vec::new(),
            hint: None,
            source: None,
            is_transient: false,
        }))
    }

    /// Creates an error for a defect of deltaic: a condition that no input can cause.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message).hint("please report it, with the message")
    }

    /// Adds a value to the context, such as `path`, `version` or `field`. An existing value is retained,
    /// because the code that detected the error knows the location best.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<ContextValue>) -> Self {
        if !self.0.context.iter().any(|(known, _)| *known == key) {
            self.0.context.push((key, value.into()));
        }
        self
    }

    /// Renames a value of the context, so that its name can be used for another value.
    #[must_use]
    pub fn renamed(mut self, key: &str, name: &'static str) -> Self {
        for (known, _) in self.0.context.iter_mut().filter(|(known, _)| *known == key) {
            *known = name;
        }
        self
    }

    /// Sets the hint: what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(shortened(&hint.into(), MESSAGE).into_owned());
        self
    }

    /// Sets the hint unless there is one.
    #[must_use]
    pub fn or_hint(self, hint: &str) -> Self {
        if self.0.hint.is_some() {
            self
        } else {
            self.hint(hint)
        }
    }

    /// Sets the error that caused this one. Its text must contain no secret.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Marks the failure of a store as one that may pass, such as a timeout.
    #[must_use]
    pub fn transient(mut self, is_transient: bool) -> Self {
        self.0.is_transient = is_transient;
        self
    }

    /// Whether the same operation may succeed if it is run again: after a conflict, on the newest version, and after
    /// a failure of the store that may pass. Not after [`ErrorKind::CommitUnknown`]: the commit may have succeeded.
    ///
    /// ```
    /// use deltaic_protocol::{Conflict, Error, ErrorKind};
    /// let conflict = ErrorKind::CommitConflict(Conflict::ConcurrentAppend);
    /// assert!(Error::new(conflict, "the winning commit added a file").is_retryable());
    /// assert!(!Error::new(ErrorKind::CommitUnknown, "no response").is_retryable());
    /// ```
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.kind() {
            // The file that was added twice may have been added by this commit.
            ErrorKind::CommitConflict(conflict) => conflict != Conflict::AddedTwice,
            ErrorKind::StorageError => self.0.is_transient,
            _ => false,
        }
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message with its context.
    #[must_use]
    pub fn message(&self) -> String {
        self.to_string()
    }

    /// The message without context.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.0.message
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> &[(&'static str, ContextValue)] {
        &self.0.context
    }

    /// The hint, if there is one.
    #[must_use]
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shortened(&self.0.message, MESSAGE))?;
        for (index, (key, value)) in self.0.context.iter().enumerate() {
            f.write_str(if index == 0 { " (" } else { ", " })?;
            match value {
                ContextValue::Text(text) => write!(f, "{key}: {}", visible(&shortened(text, PLACE)))?,
                ContextValue::Number(number) => write!(f, "{key}: {number}")?,
            }
        }
        if !self.0.context.is_empty() {
            f.write_str(")")?;
        }
        Ok(())
    }
}

// An error is never changed through a shared reference, its source included.
impl std::panic::RefUnwindSafe for Error {}
impl std::panic::UnwindSafe for Error {}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

/// Maximum number of characters of a message or context value that are displayed: untrusted input may
/// contain names of megabytes.
const MESSAGE: usize = 1000;
const PLACE: usize = 250;

/// The start of a long text, and its length.
fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let start = text.get(..end).unwrap_or_default();
            Cow::Owned(format!("{start}… ({} bytes)", text.len()))
        }
    }
}

/// A text without control characters that would break the line or move the cursor of a terminal.
fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(
            text.chars()
                .flat_map(|c| {
                    if c.is_control() {
                        c.escape_default().collect()
                    } else {
                        vec![c]
                    }
                })
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the candidate that is most similar to a name that does not exist, for a hint; `None` if none
/// is similar.
///
/// ```
/// use deltaic_protocol::error::nearest;
/// assert_eq!(nearest("amuont", ["id", "amount"]), Some("amount"));
/// assert_eq!(nearest("zzz", ["id", "amount"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let length = name.chars().count();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.chars().count();
            let most = 1 + other.min(length) / 3;
            // Each extra character is a separate edit.
            let distance =
                (other.abs_diff(length) <= most).then(|| edits(&lower, &candidate.to_lowercase()))?;
            (distance <= most).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of edits between two names, of which long ones are compared at their start only.
fn edits(left: &str, right: &str) -> usize {
    let start = |text: &str| text.chars().take(256).collect::<String>();
    strsim::osa_distance(&start(left), &start(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_an_untrusted_table_are_shown_in_bounds_and_on_one_line() {
        let error = Error::new(ErrorKind::CorruptLog, "é".repeat(100_000))
            .with("path", format!("a\n\u{1b}[2J{}", "x".repeat(100_000)))
            .hint("y".repeat(100_000));
        let text = error.to_string();
        assert!(text.len() < 3 * (MESSAGE + PLACE), "{}", text.len());
        assert!(
            text.contains("(200000 bytes)") && text.contains(r"a\n\u{1b}[2Jx"),
            "{text}"
        );
        assert!(!text.chars().any(char::is_control));
        assert!(error.hint_text().is_some_and(|hint| hint.len() < 2 * MESSAGE));
        // The context contains the complete value.
        assert!(matches!(error.context(), [("path", ContextValue::Text(path))] if path.len() > 100_000));
    }
}
