//! A version of a table: the number of a commit.
//!
//! Protocol: *Delta Log Entries*. Versions are contiguous, start at 0 and fit a signed 64-bit integer.

use std::fmt;

use crate::error::ContextValue;
use crate::{Error, ErrorKind, Result};

/// The number of a commit, between 0 and `i64::MAX`.
///
/// ```
/// use deltaic_protocol::Version;
/// let version = Version::try_new(7)?;
/// assert_eq!(version.file_stem(), "00000000000000000007");
/// assert_eq!(version.next()?, Version::try_new(8)?);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(i64);

impl Version {
    /// The first version of every table.
    pub const ZERO: Self = Self(0);

    /// Creates a version from a number; negative numbers are an error.
    pub fn try_new(number: i64) -> Result<Self> {
        if number < 0 {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("version {number} is negative"),
            )
            .hint("versions start at 0"));
        }
        Ok(Self(number))
    }

    /// The version as a signed number, as in the log.
    #[must_use]
    pub fn as_i64(self) -> i64 {
        self.0
    }

    /// The next version.
    pub fn next(self) -> Result<Self> {
        self.0.checked_add(1).map(Self).ok_or_else(|| {
            Error::new(
                ErrorKind::CorruptLog,
                "the table is at the highest possible version",
            )
            .with("version", self)
            .hint("no writer reaches this version: look for an unrelated file in _delta_log")
        })
    }

    /// The previous version; `None` for the first one.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        (self.0 > 0).then(|| Self(self.0 - 1))
    }

    /// The version padded with zeros to 20 digits, as in file names of the log.
    #[must_use]
    pub fn file_stem(self) -> String {
        format!("{:020}", self.0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Version> for ContextValue {
    fn from(value: Version) -> Self {
        Self::Number(value.as_i64())
    }
}
