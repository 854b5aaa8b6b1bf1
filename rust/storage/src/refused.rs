//! The reasons why a file of a local table is not opened.

use std::fmt;

use object_store::Error;

/// Reason why a file is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is outside of the table.
    Outside,
    /// It is a folder, a pipe, a device or a socket.
    NoRegularFile,
    /// Its modification time is not within the range of a calendar.
    ImpossibleTime,
}

impl Refused {
    /// Returns the reason that caused a store failure, if the file was not opened.
    pub fn of(error: &Error) -> Option<Self> {
        let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
        while let Some(current) = cause {
            if let Some(refused) = current.downcast_ref::<Self>() {
                return Some(*refused);
            }
            cause = current.source();
        }
        None
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outside => "a symbolic link leaves the table's folder",
            Self::NoRegularFile => "there is no regular file at this path",
            Self::ImpossibleTime => "the file's modification time is not a valid date",
        })
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Self::Generic {
            store: "table",
            source: Box::new(refused),
        }
    }
}
