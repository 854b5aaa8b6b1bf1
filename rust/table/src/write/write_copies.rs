//! Writes files again whose rows keep the values of some columns.

use arrow_array::RecordBatch;
use deltaic_protocol::actions::Add;
use deltaic_protocol::{Error, Result};

use super::copies::copy_source::CopySource;
use super::copies::file_copy::FileCopy;
use super::data_file::DataFile;
use super::partition::PartitionKey;
use super::table_writer::TableWriter;

/// Smaller files, relative to the target size of files, are written together.
const SHARE_OF_TARGET: u64 = 16;

/// Larger files, relative to the target size of files, are divided.
const MOST_TARGETS: u64 = 2;

impl TableWriter {
    /// Starts a file with the next rows, which are all rows of another file in their order, and keep the values of these
    /// columns of completed rows. Chunks of them are copied if that is possible; otherwise, or if the file is small or
    /// large, the rows are written like others.
    ///
    /// # Errors
    ///
    /// `StorageError`, `CorruptData`.
    pub(crate) async fn begin_copy(&mut self, add: &Add, is_kept: &[bool]) -> Result<()> {
        let size = u64::try_from(add.size).unwrap_or(0);
        let target = self.plan.target_bytes();
        let sizes = target / SHARE_OF_TARGET..=target.saturating_mul(MOST_TARGETS);
        if !sizes.contains(&size) || self.plan.shreds() {
            return Ok(());
        }
        // Rows that may move to another partition are in other files.
        if !self.plan.keeps_partition(is_kept) {
            return Ok(());
        }
        let is_kept = self.plan.in_files(is_kept);
        let memory = self.limits.encoded_bytes / 2;
        let source = CopySource::open(&self.location, &self.plan, add, &is_kept, memory).await?;
        self.copy = source.map(|source| FileCopy { source, file: None });
        Ok(())
    }

    /// Writes rows to the file with copied chunks.
    pub(super) async fn write_copy(&mut self, values: PartitionKey, rows: RecordBatch) -> Result<()> {
        let Some(copy) = &mut self.copy else {
            return self.write_partition(values, rows).await;
        };
        // No row group can end before the one that is copied, so the columns that are encoded must fit in memory.
        if copy.file.is_none() && copy.source.encoded_bytes(&rows) > self.limits.encoded_bytes / 2 {
            self.copy = None;
            return self.write_partition(values, rows).await;
        }
        let file = match &mut copy.file {
            Some(file) if *file.values() == values => file,
            Some(_) => return Err(Error::internal("the rows of a file are in several partitions")),
            None => {
                let form = (self.begun, copy.source.is_copied.clone());
                let file = DataFile::begin(&self.location, &self.plan, values, &rows, form)?;
                self.files.add([file.relative().to_owned()]);
                self.begun += 1;
                copy.file.insert(file)
            }
        };
        let mut at = 0;
        while at < rows.num_rows() {
            let count = copy.source.left().min(rows.num_rows() - at);
            if count == 0 {
                return Err(Error::internal("a file has more rows than its footer"));
            }
            file.rows += count;
            file.write(rows.slice(at, count)).await?;
            at += count;
            if let Some(chunks) = copy.source.advance(count).await? {
                file.end_row_group(chunks).await?;
            }
        }
        Ok(())
    }

    /// Finishes the file with copied chunks, if there is one.
    ///
    /// # Errors
    ///
    /// `StorageError`; `Internal` if the rows are not all of the source.
    pub(crate) async fn end_copy(&mut self) -> Result<()> {
        let Some(mut copy) = self.copy.take() else {
            return Ok(());
        };
        let Some(file) = copy.file.take() else {
            return Ok(());
        };
        match copy.source.ensure_whole() {
            Ok(()) => self.finish_file(file).await,
            Err(error) => {
                file.abort().await;
                Err(error)
            }
        }
    }
}
