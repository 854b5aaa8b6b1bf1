//! Whether it is an error to remove something that does not exist.

/// What to do if something to be removed does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// Return an error.
    Error,
    /// Ignore it.
    Ignore,
}
