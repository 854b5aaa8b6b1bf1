//! Findings of a check.

use std::collections::BTreeMap;

use deltaic_protocol::error::ContextValue;
use deltaic_protocol::{Error, Version};

use super::diagnosis::Diagnosis;
use super::severity::Severity;

/// Maximum number of stored findings per code; further ones are only counted.
pub const KEPT_OF_A_CODE: usize = 20;

/// A single finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding, with its meaning and remedy.
    pub diagnosis: &'static Diagnosis,
    /// The severity.
    pub severity: Severity,
    /// What is wrong, without the location.
    pub message: String,
    /// The file, relative to the table's root or as in the log; never contains a secret.
    pub path: Option<String>,
    /// The version.
    pub version: Option<i64>,
    /// The line of the file, starting at 1.
    pub line: Option<i64>,
    /// The field or column.
    pub field: Option<String>,
}

impl Finding {
    /// Creates a finding with the severity of its diagnosis.
    #[must_use]
    pub fn new(diagnosis: &'static Diagnosis, message: impl Into<String>) -> Self {
        Self {
            diagnosis,
            severity: diagnosis.severity,
            message: message.into(),
            path: None,
            version: None,
            line: None,
            field: None,
        }
    }

    /// Creates a finding from an error, with the location in its context.
    #[must_use]
    pub fn of(diagnosis: &'static Diagnosis, error: &Error) -> Self {
        let mut finding = Self::new(diagnosis, error.what());
        for (key, value) in error.context() {
            match (*key, value) {
                ("path", ContextValue::Text(path)) => finding.path = Some(path.clone()),
                ("version", ContextValue::Number(version)) => finding.version = Some(*version),
                ("line", ContextValue::Number(line)) => finding.line = Some(*line),
                ("field", ContextValue::Text(field)) => finding.field = Some(field.clone()),
                _ => {}
            }
        }
        finding
    }

    /// Sets the file unless it is set.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    /// Sets the version unless it is set.
    #[must_use]
    pub fn of_version(mut self, version: Version) -> Self {
        self.version.get_or_insert_with(|| version.as_i64());
        self
    }

    /// Sets the line, starting at 1, unless it is set.
    #[must_use]
    pub fn on_line(mut self, line: usize) -> Self {
        self.line
            .get_or_insert_with(|| i64::try_from(line).unwrap_or(i64::MAX));
        self
    }

    /// Sets the field unless it is set.
    #[must_use]
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.field.get_or_insert_with(|| field.into());
        self
    }

    /// Sets the severity.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// Findings: of each code the first [`KEPT_OF_A_CODE`], and the number of all.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    counts: BTreeMap<&'static str, u64>,
    worst: Option<Severity>,
}

impl Findings {
    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        self.worst = self.worst.max(Some(finding.severity));
        let count = self.counts.entry(finding.diagnosis.code).or_default();
        *count = count.saturating_add(1);
        if usize::try_from(*count).is_ok_and(|count| count <= KEPT_OF_A_CODE) {
            self.kept.push(finding);
        }
    }

    /// Returns the stored findings, worst first, then in the order in which they were found.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<Finding> {
        self.kept
            .sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.kept
    }

    /// Number of findings of each code, including those that are not stored.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// The worst severity; `None` without findings.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnosis::{BROKEN_CHECKSUM, MISSING_COMMIT, STALE_HINT};
    use super::*;

    #[test]
    fn equal_findings_are_counted_and_sorted_by_severity() {
        let mut findings = Findings::default();
        for number in 0..100 {
            findings.add(Finding::new(&BROKEN_CHECKSUM, number.to_string()));
        }
        findings.add(Finding::new(&STALE_HINT, "behind"));
        findings.add(Finding::new(&MISSING_COMMIT, "gone"));
        assert_eq!(findings.counts().get("BROKEN_CHECKSUM"), Some(&100));
        assert_eq!(findings.worst(), Some(Severity::Damage));
        let sorted = findings.into_sorted();
        assert_eq!(sorted.len(), KEPT_OF_A_CODE + 2);
        let severities: Vec<Severity> = sorted.iter().map(|finding| finding.severity).collect();
        assert!(severities.is_sorted_by(|left, right| left >= right));
        assert_eq!(sorted.get(1).map(|finding| finding.message.as_str()), Some("0"));
    }
}
