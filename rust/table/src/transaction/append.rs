//! Stages appended rows, which are written to data files at once.

use deltaic_log::progress::Stage;
use deltaic_log::transaction::Output;
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::memory_budget::MemoryBudget;

use super::TableTransaction;
use super::appended_rows::{UnwrittenRows, WrittenRows};
use super::evolve::SchemaMode;
use crate::write::{RowStream, Written};

/// The data files that a transaction has written.
#[derive(Clone, Default)]
pub(super) struct Appended {
    /// The number of files.
    pub(super) files: usize,
    /// The number of rows.
    pub(super) rows: u64,
    /// The size of the files in bytes.
    pub(super) bytes: i64,
    /// The adds of files that contain only new rows. A later attempt can add them again.
    new_rows: Vec<Add>,
}

impl Appended {
    fn count(&mut self, written: &Written) {
        self.files += written.adds.len();
        self.rows += written.rows;
        let sizes = written.adds.iter().map(|add| add.size);
        self.bytes = sizes.fold(self.bytes, i64::saturating_add);
        self.new_rows.extend_from_slice(&written.adds);
    }
}

/// The new rows of an append or an overwrite.
pub(super) enum NewRows {
    /// Rows that are written to data files.
    Stream(RowStream),
    /// Data files that an earlier attempt wrote for the same table configuration.
    Written(Written),
    /// Data files that other processes wrote for a planned write; with the configuration of the table that it sets.
    Planned(Written, Option<TableConfiguration>),
}

impl TableTransaction {
    /// Writes the rows of a stream to data files and stages them. Returns the number of rows. After a failure the files
    /// are deleted and the transaction is unchanged.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `ConstraintViolation`, `UnsupportedFeature`, `StorageError`.
    pub async fn append(&mut self, rows: impl Into<RowStream>, schema_mode: &SchemaMode) -> Result<u64> {
        let rows = NewRows::Stream(rows.into());
        self.append_new(rows, schema_mode).await
    }

    /// The same for rows that an earlier attempt may have written.
    pub(super) async fn append_new(&mut self, rows: NewRows, schema_mode: &SchemaMode) -> Result<u64> {
        if let SchemaMode::Replace(_) = schema_mode {
            let what = "an append cannot replace the schema, which the other rows have";
            return Err(Error::new(ErrorKind::InvalidArgument, what)
                .hint("pass schema_mode=\"merge\", or overwrite the table"));
        }
        // Otherwise nothing is staged before the rows are written.
        let savepoint = (*schema_mode != SchemaMode::Keep).then(|| self.savepoint());
        let appended = self.append_rows(rows, schema_mode, None, false).await;
        if let (Err(_), Some(savepoint)) = (&appended, savepoint) {
            self.roll_back(savepoint);
        }
        appended
    }

    /// Returns the files that contain only new rows, for [`NewRows::Written`]; `None` if they are valid only with
    /// the metadata of this attempt.
    pub(super) fn output(&self) -> Option<Output> {
        let has_own_metadata =
            self.evolved.is_some() || self.proposal.metadata.is_some() || self.proposal.protocol.is_some();
        (!has_own_metadata).then(|| Output {
            inputs: Vec::new(),
            adds: self.appended.new_rows.clone(),
        })
    }

    /// The same; each row must match the predicate, and change data files have the rows too if requested.
    pub(super) async fn append_rows(
        &mut self,
        rows: NewRows,
        schema_mode: &SchemaMode,
        required: Option<&Predicate>,
        with_feed: bool,
    ) -> Result<u64> {
        if self.is_done() {
            return Ok(0); // without reading the stream
        }
        self.ensure_takes_files()?;
        let rows = match rows {
            NewRows::Stream(rows) => rows,
            NewRows::Written(written) => return self.add_again(written),
            NewRows::Planned(written, configuration) => {
                if let Some(configuration) = configuration {
                    self.stage_configuration(configuration);
                }
                self.stage_high_water_marks(&written.high_water_marks)?;
                return self.add_again(written);
            }
        };
        let memory = self.options.memory;
        let mut unwritten = self.begin_append(rows, schema_mode, with_feed, memory)?;
        if let Some(predicate) = required {
            unwritten.require(predicate, &*self.configuration().schema()?)?;
        }
        self.options.progress.begin(Stage::Rows, 0);
        let written = unwritten.write().await.map_err(|error| match error.kind() {
            // The types of the rows fit, but not one of their values.
            ErrorKind::SchemaMismatch => self.located(error),
            _ => error,
        })?;
        self.stage_appended(written)
    }

    /// Prepares writing rows within a memory budget. Change data files have the rows too if requested, or if earlier
    /// changes of the transaction have written such files.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `UnsupportedFeature`.
    pub(super) fn begin_append(
        &mut self,
        rows: RowStream,
        schema_mode: &SchemaMode,
        with_feed: bool,
        memory: MemoryBudget,
    ) -> Result<UnwrittenRows> {
        // Otherwise they are read again if a later change writes change data files.
        let with_feed = with_feed || !self.proposal.cdc.is_empty();
        self.evolve(rows.schema(), schema_mode)?;
        let context = (&self.snapshot, &self.configuration());
        UnwrittenRows::try_new(rows, context, &self.options, (with_feed, memory))
    }

    /// Stages rows that were written. Returns their number.
    pub(super) fn stage_appended(&mut self, rows: WrittenRows) -> Result<u64> {
        let WrittenRows {
            written,
            changes,
            files,
        } = rows;
        self.files.append(&files);
        self.appended.count(&written);
        self.stage_high_water_marks(&written.high_water_marks)?;
        match changes {
            Some(changes) => self.proposal.cdc.extend(changes),
            None if self.has_feed()? => self.unrecorded.inserted.extend_from_slice(&written.adds),
            None => {}
        }
        self.proposal.adds.extend(written.adds);
        Ok(written.rows)
    }

    /// Stages data files whose rows are written and validated.
    fn add_again(&mut self, written: Written) -> Result<u64> {
        self.appended.count(&written);
        if self.has_feed()? {
            self.unrecorded.inserted.extend_from_slice(&written.adds);
        }
        self.proposal.adds.extend(written.adds);
        Ok(written.rows)
    }
}
