//! Replaces rows by new ones.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*.

mod matching;
mod replaced;

use std::collections::BTreeSet;

use deltaic_log::Snapshot;
use deltaic_log::snapshot::{Pruning, WithStatistics};
use deltaic_log::transaction::{CommitOptions, Operation, RunPolicy};
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::{BoundPredicate, Comparison, Operand, Scalar};
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::partition::value_of;
use deltaic_protocol::schema::StructField;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::clock::now_ms;

pub use self::replaced::{MatchedBy, Replaced};
use super::append::{generates_again, may_add_again, policy_of_identity};
use super::delete::Delete;
use super::verb::Verb;
use crate::rows::change_data::DeletedRows;
use crate::rows::live_files::live_files;
use crate::transaction::attempts::EarlierAttempt;
use crate::transaction::new_rows::NewRows;
use crate::transaction::requirement::Requirement;
use crate::transaction::{SchemaMode, TableTransaction};

/// Replaces rows by new ones. The result is the number of new rows. After a conflict the rows to replace are searched
/// again in the newest version, and the same data files are added to it.
///
/// # Errors
///
/// Those of [`Append`](super::Append) and [`Delete`]; `ConstraintViolation` if a new row does not match the predicate.
pub struct Overwrite {
    /// The new rows.
    pub rows: NewRows,
    /// The rows that they replace.
    pub replaced: Replaced,
    /// What happens to the schema of the table.
    pub schema_mode: SchemaMode,
}

impl Overwrite {
    /// Verifies that the schema is replaced only together with all rows.
    ///
    /// # Errors
    ///
    /// `ValueError`.
    pub(super) fn ensure_replaces_columns(replaced: &Replaced, schema_mode: &SchemaMode) -> Result<()> {
        match (schema_mode, replaced) {
            (SchemaMode::Keep | SchemaMode::Merge, _) | (SchemaMode::Replace(_), Replaced::All) => Ok(()),
            (SchemaMode::Replace(_), Replaced::Where(_) | Replaced::Partitions | Replaced::Matching(_)) => {
                let what = "schema_mode=\"replace\" replaces all rows, so it excludes where and partitions=\"dynamic\"";
                Err(Error::new(ErrorKind::InvalidArgument, what)
                    .hint("pass schema_mode=\"merge\" to add columns"))
            }
        }
    }
}

impl Verb for Overwrite {
    type Staged = u64;

    fn operation(&self) -> Operation {
        Operation::Write
    }

    fn ensure_valid(&self) -> Result<()> {
        Self::ensure_replaces_columns(&self.replaced, &self.schema_mode)
    }

    fn ensure_supported(&self, table: &TableConfiguration) -> Result<()> {
        ensure_removable(table)?;
        ensure_appendable(table)
    }

    async fn stage(&self, transaction: &mut TableTransaction) -> Result<u64> {
        let (rows, schema_mode) = (&self.rows, &self.schema_mode);
        transaction.ensure_may_replace_schema(schema_mode)?;
        // Which rows are replaced may depend on the rows that are read.
        transaction.staged.has_read_rows = true;
        transaction.staged.described.overwritten = Some(match &self.replaced {
            Replaced::Where(predicate) => Some(predicate.text().to_owned()),
            Replaced::Matching(matched) => Some(matched.on.text().to_owned()),
            Replaced::All | Replaced::Partitions => None,
        });
        let has_partitions = !transaction.snapshot.metadata().partition_columns.is_empty();
        let before = transaction.staged.proposal.adds.len();
        let number = match &self.replaced {
            Replaced::Partitions if has_partitions => {
                let number = transaction.append_rows(rows, schema_mode, None, false).await?;
                transaction.remove_partitions_of(before).await?;
                number
            }
            Replaced::Matching(matched) => {
                let number = transaction.append_rows(rows, schema_mode, None, false).await?;
                transaction.delete_matching(matched, before).await?;
                number
            }
            Replaced::All | Replaced::Partitions => {
                Delete::default().stage(transaction).await?;
                transaction.append_rows(rows, schema_mode, None, false).await?
            }
            Replaced::Where(predicate) => {
                let delete = Delete {
                    predicate: Some(predicate.clone()),
                };
                let deleted = delete.stage(transaction).await?;
                // New files contain copied rows too, so a reader can derive the changes only from change data files.
                let with_feed = deleted.rewritten_files > 0 && transaction.has_feed()?;
                let required = Some(predicate);
                transaction
                    .append_rows(rows, schema_mode, required, with_feed)
                    .await?
            }
        };
        Ok(number)
    }

    fn policy(&self, snapshot: &Snapshot, options: &CommitOptions) -> Result<RunPolicy> {
        // Run again, it replaces rows of the other writer too, which `row_level` may forbid.
        match options.row_level && generates_again(snapshot, &self.rows)? {
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

impl TableTransaction {
    /// Verifies that the schema is not replaced after rows were staged that have it.
    pub(super) fn ensure_may_replace_schema(&self, schema_mode: &SchemaMode) -> Result<()> {
        match schema_mode {
            SchemaMode::Replace(_) if self.has_files() => {
                let what = "the schema cannot be replaced after other changes of rows in the transaction";
                Err(Error::new(ErrorKind::InvalidArgument, what)
                    .hint("overwrite first, or in a transaction of its own"))
            }
            SchemaMode::Replace(_) | SchemaMode::Keep | SchemaMode::Merge => Ok(()),
        }
    }

    /// Stages the removal of all live files in the partitions of the files that were staged since there were so many.
    async fn remove_partitions_of(&mut self, before: usize) -> Result<()> {
        let snapshot = self.snapshot.clone();
        let added = self.staged.proposal.adds.get(before..).unwrap_or_default();
        let Some(predicate) = self.partitions_of(added)? else {
            return Ok(());
        };
        self.staged.read.read_where(Some(&predicate));
        let (files, _) = snapshot
            .prune(Pruning {
                predicate: Some(&predicate),
                statistics: WithStatistics::None,
            })
            .await?;
        snapshot.ensure_partition_values(&files)?;
        let paths = files
            .batches
            .iter()
            .flat_map(|batch| batch.adds.path.iter().flatten());
        let paths: Vec<String> = paths.map(str::to_owned).collect();
        self.staged.ensure_once(paths.iter().map(String::as_str))?;
        let now = now_ms();
        let removes = live_files(&snapshot, &paths).await?;
        if self.has_feed()? {
            let deleted = removes.iter().cloned().map(DeletedRows::all);
            self.staged.unrecorded.deleted.extend(deleted);
        }
        if !removes.is_empty() {
            self.require(Requirement::REMOVES);
        }
        let removes = removes.iter().map(|add| Remove::of(add, now));
        self.staged.proposal.removes.extend(removes);
        Ok(())
    }

    /// Returns the predicate of the partitions of some files; `None` without files.
    fn partitions_of(&self, files: &[Add]) -> Result<Option<BoundPredicate>> {
        let snapshot = &self.snapshot;
        let names = snapshot.metadata().partition_columns.iter();
        let columns: Vec<&StructField> = names
            .map(|name| {
                let missing = || Error::internal("a partition column is not in the schema");
                snapshot.schema().field(name).ok_or_else(missing)
            })
            .collect::<Result<_>>()?;
        let keys: BTreeSet<_> = files.iter().map(|add| &add.partition_values).collect();
        let partition = |values| {
            let equal = columns.iter().map(|column| {
                let in_log = StructField {
                    name: name_in_log(column, snapshot.column_mapping()).to_owned(),
                    ..(*column).clone()
                };
                Ok(equals(column, value_of(&in_log, values)?))
            });
            Ok(BoundPredicate::And(equal.collect::<Result<_>>()?))
        };
        let partitions: Vec<BoundPredicate> = keys.into_iter().map(partition).collect::<Result<_>>()?;
        Ok((!partitions.is_empty()).then_some(BoundPredicate::Or(partitions)))
    }
}

fn equals(column: &StructField, value: Option<Scalar>) -> BoundPredicate {
    let path = vec![column.name.clone()];
    match value {
        None => BoundPredicate::IsNull(path),
        Some(value) => BoundPredicate::Compare {
            op: Comparison::NullSafeEqual,
            left: Operand::Column(path),
            common: value.data_type(),
            right: Operand::Scalar(value),
        },
    }
}
