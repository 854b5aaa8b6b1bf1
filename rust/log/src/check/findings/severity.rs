//! The severity of a finding.

/// Severity of a finding, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Information; nothing is wrong.
    Info,
    /// An optional file, or something that readers ignore, is wrong: the table's versions can be read.
    Warning,
    /// The log itself is wrong: versions or rows cannot be read, or readers return different results.
    Damage,
}

impl Severity {
    /// `info`, `warning` or `damage`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Damage => "damage",
        }
    }
}
