//! Conversion of store failures to errors.

use std::fmt;

use deltaic_protocol::log_path::LOG_FOLDER;
use deltaic_protocol::{Error, ErrorKind};

use crate::refused::Refused;

/// The root cause of a store failure, in few words: the operating system's error, or the server's response.
///
/// Only the code and message of a response are used. Its details repeat request data, such as the string to
/// sign or an unknown access key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    text: String,
    status: Option<u16>,
    code: Option<String>,
}

/// Error texts of the operating system and the HTTP client for a server that did not respond; they have no common type.
const NOT_REACHED: [&str; 9] = [
    "connection refused",
    "connection reset",
    "connection closed",
    "dns error",
    "failed to lookup",
    "network is unreachable",
    "no route to host",
    "timed out",
    "deadline has elapsed",
];

/// Maximum length of a server's message.
const MESSAGE: usize = 300;

impl Cause {
    /// Extracts the cause of a failure.
    pub fn of(error: &object_store::Error) -> Self {
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
        let mut last = String::new();
        while let Some(current) = cause {
            if let Some(known) = current.downcast_ref::<Self>() {
                return known.clone();
            }
            last = current.to_string();
            cause = current.source();
        }
        Self::parse(&last)
    }

    fn parse(text: &str) -> Self {
        const ANSWERED: &str = "Server returned non-2xx status code: ";
        const FAILED: &str = "Server returned error response: ";
        let (status, body) = if let Some(answer) = text.strip_prefix(ANSWERED) {
            let (status, body) = answer.split_once(':').unwrap_or((answer, ""));
            (Some(status.trim()), body)
        } else if let Some(body) = text.strip_prefix(FAILED) {
            (None, body)
        } else if text.starts_with("Received redirect without LOCATION") {
            return Self {
                text: "the bucket is in another region".to_owned(),
                status: Some(301),
                code: None,
            };
        } else {
            return Self {
                text: shortened(&without_number(text)),
                ..Self::default()
            };
        };
        let code = between(body, "<Code>", "</Code>")
            .filter(|code| code.len() < 80 && code.chars().all(|c| c.is_ascii_alphanumeric()));
        let message = between(body, "<Message>", "</Message>")
            .and_then(|message| message.lines().next())
            .map(shortened)
            .filter(|message| !message.is_empty());
        let mut words = format!("the server responded with {}", status.unwrap_or("an error"));
        if let Some(code) = code {
            words.push_str(&format!(" ({code})"));
        }
        if let Some(message) = message {
            words.push_str(&format!(": {message}"));
        }
        Self {
            text: words,
            status: status.and_then(|status| status.split(' ').next()?.parse().ok()),
            code: code.map(str::to_owned),
        }
    }

    /// Returns the cause with its text changed.
    pub(crate) fn without(self, change: impl Fn(&str) -> String) -> Self {
        Self {
            text: change(&self.text),
            ..self
        }
    }

    /// Whether a rejected creation leaves open whether the file exists: S3 responds so during a concurrent
    /// request.
    pub fn is_undecided(&self) -> bool {
        self.status == Some(409) && self.code.as_deref() != Some("BlobAlreadyExists")
    }

    /// Whether the same request may succeed later: the server is overloaded or failed, or it was not reached.
    fn is_transient(&self) -> bool {
        match (self.code.as_deref().unwrap_or_default(), self.status) {
            ("SlowDown" | "ServerBusy", _) => true,
            (_, Some(501 | 507)) => false,
            (_, Some(status)) => matches!(status, 408 | 409 | 429 | 500..),
            _ => self.text.is_empty() || NOT_REACHED.iter().any(|words| self.contains(words)),
        }
    }

    fn contains(&self, words: &str) -> bool {
        self.text.to_ascii_lowercase().contains(words)
    }

    /// Returns what happened and a hint, if the cause itself determines them.
    fn meaning(&self) -> Option<(&'static str, &'static str)> {
        match (self.code.as_deref().unwrap_or_default(), self.status) {
            ("NoSuchBucket" | "ContainerNotFound" | "ContainerBeingDeleted" | "AccountNotFound", _) => {
                Some((
                    "the bucket or container does not exist",
                    "check the URI, and the store's region and endpoint",
                ))
            }
            (
                "InvalidAccessKeyId"
                | "SignatureDoesNotMatch"
                | "AuthenticationFailed"
                | "ExpiredToken"
                | "InvalidToken"
                | "AuthorizationFailure"
                | "InvalidAuthenticationInfo"
                | "RequestTimeTooSkewed",
                _,
            ) => Some((
                "the store rejected the credentials",
                "check the keys or tokens in storage_options or the environment, and this machine's clock",
            )),
            ("AuthorizationHeaderMalformed" | "PermanentRedirect", _) | (_, Some(301 | 307)) => Some((
                "the store redirected the request to another endpoint",
                "set the bucket's region (aws_region)",
            )),
            ("NotImplemented", _) | (_, Some(501)) => {
                Some(("the store does not support the request", "use another store"))
            }
            ("SlowDown" | "ServerBusy", _) | (_, Some(429)) => Some((
                "the store throttled the request",
                "try again later, or raise max_retries and retry_timeout",
            )),
            (_, Some(401 | 403)) => Some((
                "permission denied",
                "check the credentials and their permissions: read, list and, for writers, put",
            )),
            (_, Some(507)) => Some(FULL),
            (_, Some(_)) => None,
            _ if self.contains("certificate") => Some((
                "the store's certificate is not trusted",
                "install the certificate authority on this machine (ca-certificates), or set SSL_CERT_FILE to its file",
            )),
            _ if NOT_REACHED.iter().any(|words| self.contains(words)) => Some((
                "the store cannot be reached",
                "check the endpoint and the network; without credentials, the metadata service may be unreachable",
            )),
            _ => None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Cause {}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

fn shortened(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(MESSAGE).collect();
    text.trim().to_owned()
}

const FULL: (&str, &str) = ("the store is full", "free space on the store, and try again");

const PERMISSION_DENIED: (&str, &str) = (
    "permission denied",
    "check the permissions of the user or the credentials",
);

/// Converts a store failure at a path. Callers usually handle an absent file themselves.
#[must_use]
pub fn store_error(error: &object_store::Error, path: &str) -> Error {
    use object_store::Error as E;
    if let Some(refused) = Refused::of(error) {
        return refusal(refused, path);
    }
    let cause = Cause::of(error);
    let (what, hint) = match (cause.meaning(), error) {
        (Some(meaning), _) => meaning,
        (None, E::NotFound { .. }) => (
            "the file does not exist",
            "check that the path is correct and that the file was not deleted",
        ),
        (None, E::PermissionDenied { .. } | E::Unauthenticated { .. }) => PERMISSION_DENIED,
        (None, _) if io_kind(error) == Some(std::io::ErrorKind::PermissionDenied) => PERMISSION_DENIED,
        (None, _) if io_kind(error).is_some_and(is_full) => FULL,
        (None, E::NotSupported { .. } | E::NotImplemented { .. }) => {
            ("the store does not support the request", "use another store")
        }
        (None, _) => (
            "the store failed",
            "retry; check that the location is reachable and writable",
        ),
    };
    let message = if cause.text.is_empty() || cause.text.eq_ignore_ascii_case(what) {
        what.to_owned()
    } else {
        format!("{what}: {cause}")
    };
    let is_permanent = matches!(
        error,
        E::NotFound { .. }
            | E::PermissionDenied { .. }
            | E::Unauthenticated { .. }
            | E::NotSupported { .. }
            | E::NotImplemented { .. }
    );
    Error::new(ErrorKind::StorageError, message)
        .with("path", path)
        .hint(hint)
        .transient(!is_permanent && cause.is_transient())
        .caused_by(cause)
}

fn refusal(refused: Refused, path: &str) -> Error {
    let (kind, hint) = match refused {
        Refused::Outside => (
            ErrorKind::PathEscape,
            "if you trust its target, add that folder to allowed_roots",
        ),
        Refused::ImpossibleTime => (
            ErrorKind::StorageError,
            "set the file's modification time, for example with touch",
        ),
        Refused::NoRegularFile => (
            if is_of_the_log(path) {
                ErrorKind::CorruptLog
            } else {
                ErrorKind::CorruptData
            },
            "restore the file from a backup of the table",
        ),
    };
    Error::new(kind, refused.to_string())
        .with("path", path)
        .hint(hint)
}

/// Whether a path below the root is a file of the log: `_delta_logs/x` is a data file.
fn is_of_the_log(path: &str) -> bool {
    let below = path.strip_prefix(LOG_FOLDER);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Returns the text of an operating system error without its number.
fn without_number(text: &str) -> String {
    match text.rfind(" (os error ") {
        Some(at) if text.ends_with(')') => text.get(..at).unwrap_or(text).to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether a store failure means that a parent in the path is a file and not a folder.
#[must_use]
pub fn is_not_a_folder(error: &object_store::Error) -> bool {
    io_kind(error) == Some(std::io::ErrorKind::NotADirectory)
}

/// Returns the operating system's error that caused a store failure, if any.
fn io_kind(error: &object_store::Error) -> Option<std::io::ErrorKind> {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(current) = cause {
        if let Some(io) = current.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        cause = current.source();
    }
    None
}

fn is_full(kind: std::io::ErrorKind) -> bool {
    matches!(
        kind,
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
    )
}

/// Converts an operating system error at a path.
#[must_use]
pub fn io_error(error: &std::io::Error, path: &str) -> Error {
    if let Some(store) = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<object_store::Error>())
    {
        return store_error(store, path);
    }
    let what = if is_full(error.kind()) {
        FULL.0
    } else {
        "the store failed"
    };
    let hint = match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "the folder is read-only for this user: check its permissions"
        }
        kind if is_full(kind) => FULL.1,
        _ => "check that the location is reachable and writable",
    };
    let cause = Cause::parse(&error.to_string());
    Error::new(ErrorKind::StorageError, format!("{what}: {cause}"))
        .with("path", path)
        .hint(hint)
        .transient(cause.is_transient())
        .caused_by(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_answer_its_code_and_message_are_retained() {
        let secret = "<AWSAccessKeyId>AKIASECRET</AWSAccessKeyId><StringToSign>SECRET</StringToSign>";
        let body = format!(
            "<?xml?>\n<Error><Code>InvalidAccessKeyId</Code><Message>Not known.\nSECRET</Message>{secret}</Error>"
        );
        let cause = Cause::parse(&format!(
            "Server returned non-2xx status code: 403 Forbidden: {body}"
        ));
        assert_eq!(
            cause,
            Cause {
                text: "the server responded with 403 Forbidden (InvalidAccessKeyId): Not known.".to_owned(),
                status: Some(403),
                code: Some("InvalidAccessKeyId".to_owned()),
            }
        );
        for body in [
            "SECRET",
            "{\"error\": \"SECRET\"}",
            "<Code>SECRET key</Code>",
            "<Message>\u{1b}[1m</Message>",
        ] {
            let cause = Cause::parse(&format!("Server returned non-2xx status code: 500 Oops: {body}"));
            assert!(
                !cause.text.contains("SECRET") && !cause.text.contains('\u{1b}'),
                "{cause}"
            );
            assert_eq!(cause.status, Some(500));
        }
    }

    #[test]
    fn a_full_disk_is_reported_with_a_hint() {
        for kind in [std::io::ErrorKind::StorageFull, std::io::ErrorKind::QuotaExceeded] {
            let store = object_store::Error::Generic {
                store: "LocalFileSystem",
                source: Box::new(std::io::Error::from(kind)),
            };
            let wrapped = object_store::Error::Generic {
                store: "LocalFileSystem",
                source: Box::new(std::io::Error::from(kind)),
            };
            for error in [
                store_error(&store, "part-0.parquet"),
                io_error(&std::io::Error::other(wrapped), "part-0.parquet"),
                io_error(&std::io::Error::from(kind), "part-0.parquet"),
            ] {
                assert_eq!(
                    error.hint_text(),
                    Some("free space on the store, and try again"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn a_failure_that_may_pass_can_be_retried() {
        let answered = |status: &str| format!("Server returned non-2xx status code: {status}: ");
        for (cause, is_transient) in [
            (answered("503 Service Unavailable"), true),
            (answered("500 Internal Server Error"), true),
            (answered("429 Too Many Requests"), true),
            (answered("403 Forbidden"), false),
            (answered("400 Bad Request"), false),
            (answered("501 Not Implemented"), false),
            (answered("507 Insufficient Storage"), false),
            (
                "tcp connect error: Connection refused (os error 111)".to_owned(),
                true,
            ),
            ("operation timed out".to_owned(), true),
            ("invalid peer certificate: UnknownIssuer".to_owned(), false),
            ("No space left on device (os error 28)".to_owned(), false),
        ] {
            let store = |source: &str| object_store::Error::Generic {
                store: "S3",
                source: source.into(),
            };
            let error = store_error(&store(&cause), "part-0.parquet");
            assert_eq!(error.is_retryable(), is_transient, "{cause}");
            let source = std::error::Error::source(&error).map(ToString::to_string);
            assert!(
                source.is_some_and(|source| error.what().contains(&source)),
                "{error}"
            );
        }
        let absent = object_store::Error::NotFound {
            path: "a".to_owned(),
            source: "operation timed out".into(),
        };
        assert!(!store_error(&absent, "a").is_retryable());
    }

    #[test]
    fn only_a_conflict_that_names_no_blob_is_undecided() {
        for (status, code, undecided) in [
            ("412 Precondition Failed", "PreconditionFailed", false),
            ("409 Conflict", "ConditionalRequestConflict", true),
            ("409 Conflict", "LeaseIdMissing", true),
            ("409 Conflict", "BlobAlreadyExists", false),
        ] {
            let text =
                format!("Server returned non-2xx status code: {status}: <Error><Code>{code}</Code></Error>");
            assert_eq!(Cause::parse(&text).is_undecided(), undecided, "{code}");
        }
    }
}
