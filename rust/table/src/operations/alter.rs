//! Alters a table, including changes that its rows must satisfy.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*, *CHECK Constraints*.

use deltaic_log::Snapshot;
use deltaic_log::transaction::{
    CommitOptions, Committed, Operation, Proved, RowVerifier, Staging, describe, stage,
};
use deltaic_protocol::change::TableChange;
use deltaic_protocol::expr::{Predicate, Subject};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};

use super::verb::Verb;
use crate::read::count;
use crate::scan::{Scan, ScanOptions};
use crate::transaction::TableTransaction;
use crate::transaction::requirement::Requirement;

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
) -> Result<Committed> {
    deltaic_log::transaction::alter(snapshot, changes, options, Some(&Rows)).await
}

/// Stages changes one after another, in addition to those already staged.
///
/// Files and changes can share a commit only if the changes do not affect how files are written: the table's name and
/// description, the user's own properties and domains, and properties of log maintenance.
///
/// # Errors
///
/// Those of [`alter`], except those of the commit; `ValueError` for a change that cannot share a commit with files.
#[derive(Clone, Debug)]
pub struct Alter {
    /// The changes, in order.
    pub changes: Vec<TableChange>,
}

impl Verb for Alter {
    type Staged = ();

    fn operation(&self) -> Operation {
        describe(&self.changes).0
    }

    /// Each change verifies it for the configuration that those before lead to.
    fn ensure_supported(&self, _table: &TableConfiguration) -> Result<()> {
        Ok(())
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<()> {
        let snapshot = transaction.snapshot.clone();
        let mut staging = Staging {
            snapshot: &snapshot,
            read: &mut transaction.staged.read,
            proposal: &mut transaction.staged.proposal,
        };
        let staged = stage(&mut staging, &self.changes, Some(&Rows)).await;
        staged.map_err(|error| snapshot.located(error))?;
        if transaction.has_files() {
            transaction.ensure_takes_files()?;
        }
        transaction.require(Requirement::ALTERS);
        transaction.staged.altered.extend_from_slice(&self.changes);
        Ok(())
    }
}

/// The rows of a table.
struct Rows;

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
