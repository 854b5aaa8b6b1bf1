//! Alters a table, including changes that its rows must satisfy.
//!
//! Protocol: *CHECK Constraints*.

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Committed, Proved, RowVerifier};
use deltaic_protocol::change::TableChange;
use deltaic_protocol::expr::{Predicate, Subject};
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::read::count;
use crate::scan::{Scan, ScanOptions};

/// Alters a table in one commit, as [`deltaic_log::transaction::alter`]. The existing rows are read if a change
/// requires it: each must satisfy a new constraint.
///
/// Must be called inside a multi-threaded runtime.
///
/// # Errors
///
/// Those of that function; `ConstraintViolation` with the `constraint` and the number of `rows` that violate it.
pub async fn alter(
    snapshot: &Snapshot,
    changes: &[TableChange],
    options: &CommitOptions,
    allowed_roots: Vec<String>,
) -> Result<Committed> {
    let rows = Rows { allowed_roots };
    deltaic_log::transaction::alter(snapshot, changes, options, Some(&rows)).await
}

/// The rows of a table whose files may also be in some folders outside the table.
pub(crate) struct Rows {
    pub(crate) allowed_roots: Vec<String>,
}

impl RowVerifier for Rows {
    fn rows_satisfy<'a>(&'a self, snapshot: &'a Snapshot, name: &'a str, expression: &'a str) -> Proved<'a> {
        Box::pin(async move {
            let scan = Scan::try_new(
                snapshot.clone(),
                ScanOptions {
                    columns: Some(Vec::new()),
                    // A row for which a constraint is NULL violates it.
                    predicate: Some(Predicate::parse_as(
                        &format!(
                            "({}) IS NOT TRUE",
                            Predicate::parse_as(expression, Subject::Constraint)?
                        ),
                        Subject::Constraint,
                    )?),
                    allowed_roots: self.allowed_roots.clone(),
                    ..ScanOptions::default()
                },
            );
            let scan = scan.map_err(|error| match error.kind() {
                ErrorKind::InvalidPredicate => error.hint(
                    "existing rows must be checked: add the constraint in a commit after the other changes",
                ),
                _ => error,
            })?;
            match count(&scan).await? {
                0 => Ok(()),
                rows => Err(Error::new(
                    ErrorKind::ConstraintViolation,
                    format!("the constraint {name} ({expression}) is not true for {rows} rows of the table"),
                )
                .with("constraint", name)
                .with("rows", rows)
                .hint(format!(
                    "find them with the predicate ({expression}) IS NOT TRUE, and correct or delete them first"
                ))),
            }
        })
    }
}
