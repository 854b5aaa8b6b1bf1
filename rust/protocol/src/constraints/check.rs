//! The CHECK constraints of a table.

use crate::actions::Metadata;

pub(super) const PREFIX: &str = "delta.constraints.";

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckConstraint<'a> {
    /// The name of the constraint.
    pub name: &'a str,
    /// The SQL expression that must be true for every row.
    pub expression: &'a str,
}

/// The CHECK constraints of a table, by name.
///
/// ```
/// use deltaic_protocol::actions::Metadata;
/// use deltaic_protocol::constraints::check_constraints;
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],
///         "configuration":{"delta.constraints.positive":"id > 0"}}"#,
/// )?;
/// let found: Vec<_> = check_constraints(&metadata).map(|check| (check.name, check.expression)).collect();
/// assert_eq!(found, [("positive", "id > 0")]);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn check_constraints(metadata: &Metadata) -> impl Iterator<Item = CheckConstraint<'_>> {
    metadata.configuration.iter().filter_map(|(key, value)| {
        Some(CheckConstraint {
            name: key.strip_prefix(PREFIX)?,
            expression: value.as_deref()?,
        })
    })
}
