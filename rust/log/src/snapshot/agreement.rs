//! Whether a version agrees with its version checksum.

/// Result of comparing a version with its checksum or, without one, with that of the older version that it was derived
/// from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// No readable checksum.
    Unasked,
    /// The checksum agrees with the log.
    Agrees,
    /// The checksum disagrees with the log.
    Disagrees,
}

impl Agreement {
    /// The result after the next checksum was compared with these disagreements.
    pub(super) fn found(disagreements: &[String]) -> Self {
        if disagreements.is_empty() {
            Self::Agrees
        } else {
            Self::Disagrees
        }
    }
}
