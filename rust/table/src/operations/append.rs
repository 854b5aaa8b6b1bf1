//! Appends rows, which are written to data files at once.

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Operation, RunPolicy};
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, TableConfiguration};

use super::verb::Verb;
use crate::transaction::attempts::EarlierAttempt;
use crate::transaction::new_rows::{NewRows, has_identity};
use crate::transaction::{SchemaMode, TableTransaction};

/// Writes rows to data files and adds these. The result is the number of rows. After a conflict the same data files are
/// added to the newest version.
///
/// # Errors
///
/// `SchemaMismatch`, `ConstraintViolation`, `UnsupportedFeature`; the conflict if the winning commit changed what data
/// files depend on: the protocol, the schema, partition columns or properties.
pub struct Append {
    /// The rows.
    pub rows: NewRows,
    /// What happens to the schema of the table.
    pub schema_mode: SchemaMode,
}

impl Append {
    /// Verifies that the schema is not replaced.
    ///
    /// # Errors
    ///
    /// `ValueError`.
    pub(super) fn ensure_keeps_columns(schema_mode: &SchemaMode) -> Result<()> {
        match schema_mode {
            SchemaMode::Replace(_) => {
                let what = "an append cannot replace the schema, which the other rows have";
                Err(Error::new(ErrorKind::InvalidArgument, what)
                    .hint("pass schema_mode=\"merge\", or overwrite the table"))
            }
            SchemaMode::Keep | SchemaMode::Merge => Ok(()),
        }
    }
}

impl Verb for Append {
    type Staged = u64;

    fn operation(&self) -> Operation {
        Operation::Write
    }

    fn ensure_valid(&self) -> Result<()> {
        Self::ensure_keeps_columns(&self.schema_mode)
    }

    /// The writer verifies it for the configuration that the rows lead to.
    fn ensure_supported(&self, _table: &TableConfiguration) -> Result<()> {
        Ok(())
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<u64> {
        transaction
            .append_rows(&self.rows, &self.schema_mode, None, false)
            .await
    }

    /// Unless the schema changes.
    fn stages_at_once(&self) -> bool {
        self.schema_mode == SchemaMode::Keep
    }

    /// Added again, they depend on no row, so `row_level` does not matter to those with new identity values.
    fn policy(&self, snapshot: &Snapshot, options: &CommitOptions) -> Result<RunPolicy> {
        match generates_again(snapshot, &self.rows)? {
            true => Ok(policy_of_identity(options)),
            false => Ok(RunPolicy::of_rows(options)),
        }
    }

    fn ensure_staged_again(&self, snapshot: &Snapshot, earlier: &EarlierAttempt) -> Result<()> {
        self.rows.ensure_staged_again(snapshot, earlier)
    }

    fn may_plan_again(&self, conflict: &Error) -> bool {
        may_add_again(conflict)
    }
}

/// The maximum number of times that identity values are generated: each other writer of a table with them is a conflict.
const MAX_IDENTITY_PLANS: usize = 100;

/// Whether rows can be written again with other identity values.
pub(super) fn generates_again(snapshot: &Snapshot, rows: &NewRows) -> Result<bool> {
    Ok(rows.is_read_again() && has_identity(snapshot)?)
}

/// How often rows with generated identity values are written.
pub(super) fn policy_of_identity(options: &CommitOptions) -> RunPolicy {
    RunPolicy {
        max_attempts: options.max_attempts.min(MAX_IDENTITY_PLANS),
        deadline: options.deadline,
    }
}

/// Whether the files of new rows may be added to the newest version. Not after too many winning commits, which
/// `max_attempts` limits; after a commit of the same application, because two of its runs write at once; and after a
/// change of the protocol, for which no data file was written.
pub(super) fn may_add_again(conflict: &Error) -> bool {
    !matches!(
        conflict.kind(),
        ErrorKind::CommitConflict(
            Conflict::ConcurrentWrite | Conflict::ConcurrentTransaction | Conflict::ProtocolChanged
        )
    )
}
