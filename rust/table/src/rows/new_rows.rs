//! Writes new rows to data files, and to change data files if requested, apart from the transaction that stages them.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::progress::Progress;
use deltaic_log::transaction::{CommitOptions, StagedFiles};
use deltaic_protocol::actions::Cdc;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Result, TableConfiguration};
use deltaic_storage::memory_budget::MemoryBudget;

use crate::rows::change_data::{ChangeWriter, to_cdc};
use crate::write::{FileContents, RowStream, TableWriter, Written};

/// New rows that are not written yet.
pub(crate) struct UnwrittenRows {
    rows: RowStream,
    writer: TableWriter,
    changes: Option<ChangeWriter>,
    progress: Arc<Progress>,
}

/// New rows in data files.
pub(crate) struct WrittenRows {
    pub(crate) written: Written,
    /// The change data files that have the rows too, if requested.
    pub(crate) changes: Option<Vec<Cdc>>,
    /// All files that were written.
    pub(crate) files: StagedFiles,
}

impl UnwrittenRows {
    /// Prepares writing rows for a table's configuration, with change data files if requested, within a memory budget.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `UnsupportedFeature`.
    pub(crate) fn try_new(
        rows: RowStream,
        (snapshot, table): (&Snapshot, &TableConfiguration),
        options: &CommitOptions,
        (with_feed, memory): (bool, MemoryBudget),
    ) -> Result<Self> {
        let mut writer = TableWriter::of_contents(snapshot, table, rows.schema(), FileContents::Rows)?;
        writer.expect_new_rows(options.empty_partition_text);
        let memory = memory.divided(1 + usize::from(with_feed));
        writer.limit_memory(memory);
        let changes = match with_feed {
            true => {
                let mut changes =
                    ChangeWriter::try_new(snapshot, table, writer.completed_schema(), "insert")?;
                changes.limit_memory(memory);
                Some(changes)
            }
            false => None,
        };
        Ok(Self {
            rows,
            writer,
            changes,
            progress: Arc::clone(&options.progress),
        })
    }

    /// Requires that each row matches a predicate.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`, `UnsupportedExpression`.
    pub(crate) fn require(&mut self, predicate: &Predicate, schema: &StructType) -> Result<()> {
        self.writer.require(predicate, schema)
    }

    /// Writes the rows. After a failure the files are deleted.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch`, `ConstraintViolation`, `StorageError`, and those of the stream.
    pub(crate) async fn write(mut self) -> Result<WrittenRows> {
        match self.write_files().await {
            Ok((written, changes)) => {
                let files = self.writer.into_files();
                if let Some(writer) = self.changes {
                    files.append(&writer.into_files());
                }
                Ok(WrittenRows {
                    written,
                    changes,
                    files,
                })
            }
            Err(error) => {
                self.writer.abort().await;
                if let Some(mut changes) = self.changes {
                    changes.abort().await;
                }
                Err(error)
            }
        }
    }

    async fn write_files(&mut self) -> Result<(Written, Option<Vec<Cdc>>)> {
        while let Some(batch) = self.rows.next().await? {
            match &mut self.changes {
                Some(changes) => {
                    for piece in self.writer.pieces(&batch) {
                        let rows = self.writer.completed(&piece)?;
                        self.writer.write_completed(&rows).await?;
                        changes.write(&rows).await?;
                    }
                }
                None => self.writer.write(&batch).await?,
            }
            self.progress.advance(batch.num_rows());
        }
        let changes = match &mut self.changes {
            Some(changes) => Some(to_cdc(changes.finish().await?)),
            None => None,
        };
        Ok((self.writer.finish().await?, changes))
    }
}
