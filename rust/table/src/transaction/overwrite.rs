//! Stages the replacement of rows by new ones.
//!
//! Protocol: *Add File and Remove File*, *Add CDC File*.

use std::collections::BTreeSet;

use deltaic_log::snapshot::{Pruning, WithStatistics};
use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::{BoundPredicate, Comparison, Operand, Scalar};
use deltaic_protocol::features::{ensure_appendable, ensure_removable};
use deltaic_protocol::partition::value_of;
use deltaic_protocol::schema::StructField;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::clock::now_ms;

use super::TableTransaction;
use super::append::NewRows;
use super::change_data::DeletedRows;
use super::evolve::SchemaMode;
use super::replaced::Replaced;
use crate::write::RowStream;

impl TableTransaction {
    /// Stages the replacement of rows by those of a stream. Returns the number of new rows. After a failure nothing of the
    /// call is staged.
    ///
    /// # Errors
    ///
    /// Those of [`TableTransaction::append`] and [`TableTransaction::delete`]; `ConstraintViolation` if a new row does not
    /// match the predicate.
    pub async fn overwrite(
        &mut self,
        rows: impl Into<RowStream>,
        replaced: &Replaced,
        schema_mode: &SchemaMode,
    ) -> Result<u64> {
        let rows = NewRows::Stream(rows.into());
        self.overwrite_new(rows, replaced, schema_mode).await
    }

    /// The same for rows that an earlier attempt may have written.
    pub(super) async fn overwrite_new(
        &mut self,
        rows: NewRows,
        replaced: &Replaced,
        schema_mode: &SchemaMode,
    ) -> Result<u64> {
        self.ensure_may_replace_schema(replaced, schema_mode)?;
        let savepoint = self.savepoint();
        let overwritten = self.overwrite_rows(rows, replaced, schema_mode).await;
        if overwritten.is_err() {
            self.roll_back(savepoint);
        }
        overwritten
    }

    /// Verifies that the schema is replaced only together with all rows.
    pub(super) fn ensure_may_replace_schema(
        &self,
        replaced: &Replaced,
        schema_mode: &SchemaMode,
    ) -> Result<()> {
        let invalid = |what: &str, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, what).hint(hint));
        match (schema_mode, replaced) {
            (SchemaMode::Keep | SchemaMode::Merge, _) => Ok(()),
            (SchemaMode::Replace(_), Replaced::Where(_) | Replaced::Partitions | Replaced::Matching(_)) => {
                invalid(
                    "schema_mode=\"replace\" replaces all rows, so it excludes where and partitions=\"dynamic\"",
                    "pass schema_mode=\"merge\" to add columns",
                )
            }
            (SchemaMode::Replace(_), Replaced::All) if self.has_files() => invalid(
                "the schema cannot be replaced after other changes of rows in the transaction",
                "overwrite first, or in a transaction of its own",
            ),
            (SchemaMode::Replace(_), Replaced::All) => Ok(()),
        }
    }

    async fn overwrite_rows(
        &mut self,
        rows: NewRows,
        replaced: &Replaced,
        schema_mode: &SchemaMode,
    ) -> Result<u64> {
        if self.is_done() {
            return Ok(0); // without reading the stream
        }
        let table = self.snapshot.configuration();
        ensure_removable(table)
            .and_then(|()| ensure_appendable(table))
            .map_err(|error| self.located(error))?;
        // Which rows are replaced may depend on the rows that are read.
        self.has_read_rows = true;
        self.overwritten = Some(match replaced {
            Replaced::Where(predicate) => Some(predicate.text().to_owned()),
            Replaced::Matching(matched) => Some(matched.on.text().to_owned()),
            Replaced::All | Replaced::Partitions => None,
        });
        let has_partitions = !self.snapshot.metadata().partition_columns.is_empty();
        match replaced {
            Replaced::Partitions if has_partitions => {
                let before = self.proposal.adds.len();
                let rows = self.append_rows(rows, schema_mode, None, false).await?;
                let added = self.proposal.adds.get(before..).unwrap_or_default().to_vec();
                self.remove_partitions_of(&added).await?;
                Ok(rows)
            }
            Replaced::Matching(matched) => {
                let before = self.proposal.adds.len();
                let rows = self.append_rows(rows, schema_mode, None, false).await?;
                let added = self.proposal.adds.get(before..).unwrap_or_default().to_vec();
                self.delete_matching(matched, &added).await?;
                Ok(rows)
            }
            Replaced::All | Replaced::Partitions => {
                self.delete_where(None).await?;
                self.append_rows(rows, schema_mode, None, false).await
            }
            Replaced::Where(predicate) => {
                let deleted = self.delete_where(Some(predicate)).await?;
                // New files contain copied rows too, so a reader can derive the changes only from change data files.
                let with_feed = deleted.rewritten_files > 0 && self.has_feed()?;
                self.append_rows(rows, schema_mode, Some(predicate), with_feed)
                    .await
            }
        }
    }

    /// Stages the removal of all live files in the partitions of these files.
    async fn remove_partitions_of(&mut self, added: &[Add]) -> Result<()> {
        let snapshot = self.snapshot.clone();
        let Some(predicate) = self.partitions_of(added)? else {
            return Ok(());
        };
        self.read.read_where(Some(&predicate));
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
        self.ensure_staged_once(paths.iter().map(String::as_str))?;
        let now = now_ms();
        let removes = super::live_files::live_files(&snapshot, &paths).await?;
        if self.has_feed()? {
            let deleted = removes.iter().cloned().map(DeletedRows::all);
            self.unrecorded.deleted.extend(deleted);
        }
        self.proposal
            .removes
            .extend(removes.iter().map(|add| Remove::of(add, now)));
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
