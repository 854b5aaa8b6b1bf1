//! Stages appended rows, which are written to data files at once.

use deltaic_log::progress::Stage;
use deltaic_log::transaction::Output;
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::TableTransaction;
use super::change_data::{ChangeWriter, to_cdc};
use super::evolve::SchemaMode;
use crate::write::{FileContents, RowStream, TableWriter, Written};

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
        let mut batches = match rows {
            NewRows::Stream(batches) => batches,
            NewRows::Written(written) => return self.add_again(written),
        };
        // Otherwise they are read again if a later change writes change data files.
        let with_feed = with_feed || !self.proposal.cdc.is_empty();
        let empty_text = self.options.empty_partition_text;
        self.evolve(batches.schema(), schema_mode)?;
        let table = self.configuration();
        let mut writer =
            TableWriter::of_contents(&self.snapshot, &table, batches.schema(), FileContents::Rows)?;
        writer.expect_new_rows(empty_text);
        let memory = self.options.memory.divided(1 + usize::from(with_feed));
        writer.limit_memory(memory);
        if let Some(predicate) = required {
            writer.require(predicate, &*table.schema()?)?;
        }
        let mut changes = match with_feed {
            true => {
                let rows = writer.completed_schema();
                let mut changes = ChangeWriter::try_new(&self.snapshot, &table, rows, "insert")?;
                changes.limit_memory(memory);
                Some(changes)
            }
            false => None,
        };
        let progress = &self.options.progress;
        progress.begin(Stage::Rows, 0);
        let written = async {
            while let Some(batch) = batches.next().await? {
                match &mut changes {
                    Some(changes) => {
                        for piece in writer.pieces(&batch) {
                            let rows = writer.completed(&piece)?;
                            writer.write_completed(&rows).await?;
                            changes.write(&rows).await?;
                        }
                    }
                    None => writer.write(&batch).await?,
                }
                progress.advance(batch.num_rows());
            }
            let cdc = match &mut changes {
                Some(changes) => to_cdc(changes.finish().await?),
                None => Vec::new(),
            };
            Ok((writer.finish().await?, cdc))
        };
        match written.await {
            Ok((written, cdc)) => {
                let rows = written.rows;
                self.appended.count(&written);
                self.stage_high_water_marks(&written.high_water_marks)?;
                if !with_feed && self.has_feed()? {
                    self.unrecorded.inserted.extend_from_slice(&written.adds);
                }
                self.proposal.adds.extend(written.adds);
                self.proposal.cdc.extend(cdc);
                self.files.append(&writer.into_files());
                if let Some(changes) = changes {
                    self.files.append(&changes.into_files());
                }
                Ok(rows)
            }
            Err(error) => {
                writer.abort().await;
                if let Some(mut changes) = changes {
                    changes.abort().await;
                }
                Err(error)
            }
        }
    }

    /// Stages data files of an earlier attempt, which wrote and validated their rows.
    fn add_again(&mut self, written: Written) -> Result<u64> {
        self.appended.count(&written);
        if self.has_feed()? {
            self.unrecorded.inserted.extend_from_slice(&written.adds);
        }
        self.proposal.adds.extend(written.adds);
        Ok(written.rows)
    }
}
