//! Stages new rows, which are written to data files at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use deltaic_log::Snapshot;
use deltaic_log::progress::Stage;
use deltaic_log::transaction::Output;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::memory_budget::MemoryBudget;

use super::TableTransaction;
use super::attempts::EarlierAttempt;
use super::metrics::Count;
use super::requirement::Requirement;
use super::schema_evolution::SchemaMode;
use crate::rows::new_rows::{UnwrittenRows, WrittenRows};
use crate::write::{ReadAgain, RowStream, Written};

/// The new rows of an append or an overwrite.
pub enum NewRows {
    /// Rows that are written to data files: by the first attempt, and by another one only if the values that the table
    /// generates must be others, if they can be read again.
    Read(Mutex<ReadRows>),
    /// Data files that other processes wrote for a planned write; with the configuration of the table that it sets.
    Planned(PlannedRows),
}

/// Rows to read.
pub struct ReadRows {
    /// `None` if they were read.
    stream: Option<RowStream>,
    again: Option<ReadAgain>,
}

/// Data files that other processes wrote for a planned write.
#[derive(Clone)]
pub struct PlannedRows {
    pub(crate) written: Written,
    /// The configuration of the table that the write sets, if it changes.
    pub(crate) changed: Option<TableConfiguration>,
}

impl NewRows {
    /// The rows of a stream.
    pub fn of(rows: impl Into<RowStream>) -> Self {
        let mut stream = rows.into();
        let again = stream.take_again();
        Self::Read(Mutex::new(ReadRows {
            stream: Some(stream),
            again,
        }))
    }

    /// Verifies that they can be staged after a conflict: the files of the earlier attempt are valid, or other identity
    /// values can be generated.
    ///
    /// # Errors
    ///
    /// The conflict.
    pub(crate) fn ensure_staged_again(&self, snapshot: &Snapshot, earlier: &EarlierAttempt) -> Result<()> {
        if !earlier.reusable.is_empty() {
            return Ok(());
        }
        let conflict = earlier.conflict.clone();
        match (is_of_identity(snapshot, &conflict)?, self.is_read_again()) {
            (false, _) => Err(conflict),
            (true, false) => Err(conflict.hint(IDENTITY_HINT)),
            (true, true) => Ok(()),
        }
    }

    /// Whether they can be written again with other generated values.
    pub(crate) fn is_read_again(&self) -> bool {
        match self {
            Self::Read(rows) => locked(rows).again.is_some(),
            Self::Planned(_) => false,
        }
    }
}

/// What is staged of new rows.
enum Source {
    Stream(RowStream),
    /// Data files that an earlier attempt wrote for the same table configuration.
    Written(Written),
    Planned(PlannedRows),
}

const IDENTITY_HINT: &str = "identity values must be generated again, and a stream cannot be read again: run the call \
     again with a new stream, or pass a table or data frame";

fn locked(rows: &Mutex<ReadRows>) -> MutexGuard<'_, ReadRows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a conflict may come from identity values that another commit generated.
///
/// # Errors
///
/// `CorruptLog` if the table's identity columns are invalid.
fn is_of_identity(snapshot: &Snapshot, conflict: &Error) -> Result<bool> {
    let is_of_metadata = conflict.kind() == ErrorKind::CommitConflict(Conflict::MetadataChanged);
    Ok(is_of_metadata && has_identity(snapshot)?)
}

/// Whether a table generates identity values.
///
/// # Errors
///
/// `CorruptLog` if its identity columns are invalid.
pub(crate) fn has_identity(snapshot: &Snapshot) -> Result<bool> {
    let mut fields = snapshot.schema().fields.iter();
    fields.try_fold(false, |found, field| Ok(found || field.identity()?.is_some()))
}

impl TableTransaction {
    /// The stream at first, and then the data files that were written, if they are still valid.
    async fn source_of(&self, rows: &NewRows) -> Result<Source> {
        let rows = match rows {
            NewRows::Planned(planned) => return Ok(Source::Planned(planned.clone())),
            NewRows::Read(rows) => rows,
        };
        let Some(earlier) = &self.attempts.earlier else {
            let stream = locked(rows).stream.take();
            let stream = stream.ok_or_else(|| Error::internal("a stream was read twice"))?;
            return Ok(Source::Stream(stream));
        };
        if let Some(output) = earlier.reusable.first() {
            return Ok(Source::Written(Written {
                adds: output.adds.clone(),
                rows: earlier.new_rows,
                ..Written::default()
            }));
        }
        let again = locked(rows).again.take();
        let again = again.ok_or_else(|| earlier.conflict.clone())?;
        let mut stream = again().await?;
        locked(rows).again = stream.take_again();
        Ok(Source::Stream(stream))
    }

    /// Records the files that contain only new rows for the next attempt, unless they are valid only with the metadata of
    /// this one. A verb that has recorded its files has no others.
    pub(crate) fn record_new_rows(&mut self) {
        if !self.attempts.now.outputs.is_empty() {
            return;
        }
        let proposal = &self.staged.proposal;
        let has_own_metadata =
            self.staged.evolved.is_some() || proposal.metadata.is_some() || proposal.protocol.is_some();
        if !has_own_metadata {
            self.attempts.now.outputs.push(Output {
                inputs: Vec::new(),
                adds: self.staged.new_rows.clone(),
            });
            self.attempts.now.new_rows = self.staged.described.metrics.number(Count::NewRows);
        }
    }

    /// Stages new rows. Each must match the predicate, and change data files have the rows too if requested. Returns their
    /// number.
    ///
    /// # Errors
    ///
    /// Those of [`Append`](crate::operations::Append).
    pub(crate) async fn append_rows(
        &mut self,
        rows: &NewRows,
        schema_mode: &SchemaMode,
        required: Option<&Predicate>,
        with_feed: bool,
    ) -> Result<u64> {
        self.ensure_takes_files()?;
        let before = self.staged.new_rows.len();
        let rows = self.write_rows(rows, schema_mode, required, with_feed).await?;
        // They may be copies whose row ids are lost.
        self.staged.may_copy_rows |= self.staged.new_rows.len() > before;
        Ok(rows)
    }

    async fn write_rows(
        &mut self,
        rows: &NewRows,
        schema_mode: &SchemaMode,
        required: Option<&Predicate>,
        with_feed: bool,
    ) -> Result<u64> {
        let rows = match self.source_of(rows).await? {
            Source::Stream(rows) => rows,
            Source::Written(written) => return self.add_again(written),
            Source::Planned(PlannedRows { written, changed }) => {
                if let Some(configuration) = changed {
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
    pub(crate) fn begin_append(
        &mut self,
        rows: RowStream,
        schema_mode: &SchemaMode,
        with_feed: bool,
        memory: MemoryBudget,
    ) -> Result<UnwrittenRows> {
        // Otherwise they are read again if a later change writes change data files.
        let with_feed = with_feed || !self.staged.proposal.cdc.is_empty();
        self.evolve(rows.schema(), schema_mode)?;
        let context = (&self.snapshot, &self.configuration());
        UnwrittenRows::try_new(rows, context, &self.options, (with_feed, memory))
    }

    /// Stages rows that were written. Returns their number.
    pub(crate) fn stage_appended(&mut self, rows: WrittenRows) -> Result<u64> {
        let WrittenRows {
            written,
            changes,
            files,
        } = rows;
        let rows = written.rows;
        self.files.append(&files);
        self.stage_high_water_marks(&written.high_water_marks)?;
        match changes {
            Some(changes) => {
                let metrics = &mut self.staged.described.metrics;
                metrics.add(Count::ChangeFiles, changes.len());
                self.staged.proposal.cdc.extend(changes);
            }
            None if self.has_feed()? => self.staged.unrecorded.inserted.extend_from_slice(&written.adds),
            None => {}
        }
        self.stage_new_files(written);
        Ok(rows)
    }

    /// Stages data files whose rows are written and validated.
    fn add_again(&mut self, written: Written) -> Result<u64> {
        let rows = written.rows;
        if self.has_feed()? {
            self.staged.unrecorded.inserted.extend_from_slice(&written.adds);
        }
        self.stage_new_files(written);
        Ok(rows)
    }

    fn stage_new_files(&mut self, written: Written) {
        let staged = &mut self.staged;
        let metrics = &mut staged.described.metrics;
        metrics.add_files(Count::NewFiles, Count::NewBytes, &written.adds);
        metrics.add(Count::NewRows, written.rows);
        if !written.adds.is_empty() {
            staged.requirement = staged.requirement.and(Requirement::ADDS);
        }
        staged.new_rows.extend_from_slice(&written.adds);
        staged.proposal.adds.extend(written.adds);
    }
}
