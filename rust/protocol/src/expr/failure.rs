//! Why a conversion or a calculation of constants failed.

use super::span::{Source, Span};
use crate::{Error, ErrorKind};

/// Why a cast failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failure {
    /// It fails in Spark too.
    Invalid(String),
    /// It fails in Spark too, because the text is malformed.
    Malformed(String),
    /// Spark may support it.
    Unsupported(String),
}

impl Failure {
    pub(super) fn at(self, source: Source<'_>, at: Span) -> Error {
        match self {
            Self::Invalid(message) => source.error(ErrorKind::InvalidPredicate, at, &message, ""),
            Self::Malformed(message) => source.error(
                ErrorKind::InvalidPredicate,
                at,
                &message,
                "write a literal of the column's type, for example DATE '2026-11-01', 9.5, 'text' or X'00FF'",
            ),
            Self::Unsupported(message) => source.error(ErrorKind::UnsupportedExpression, at, &message, ""),
        }
    }
}

pub(super) fn invalid<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Invalid(message.into()))
}

pub(super) fn unsupported<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Unsupported(message.into()))
}
