//! Outcomes of proposed commits.

use deltaic_protocol::Version;

/// Outcome of a proposed commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The commit is the version.
    Committed(Version),
    /// The commit is the version, but the store could not ensure that it survives a power failure, for this
    /// reason.
    NotSynced(Version, String),
    /// The staged proposal was deleted before it got the version's name, as by a cleanup that deletes the
    /// version. It is not committed and never will be.
    Withdrawn(Version),
    /// The version exists already, possibly by our own commit: a store that lost a response reports this for
    /// a retry of a put that succeeded. Read the version to find out.
    Lost(Version),
    /// The version exists already, and this proposal was sent more than once: an earlier request may have been
    /// committed, even if the version now is another commit. It must not be proposed again.
    Taken(Version),
    /// No definitive response; the version must be read.
    Unknown(Version),
}
