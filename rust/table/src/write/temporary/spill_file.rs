//! A temporary file of blocks of rows, each an Arrow IPC stream.
//!
//! The file has no name, so it is gone with the process, whatever happens.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use deltaic_storage::temporary_file::temporary_file;

/// A temporary file of blocks of rows. It is created with the first block.
#[derive(Default)]
pub(in crate::write) struct SpillFile {
    file: Mutex<Option<File>>,
    end: u64,
}

impl SpillFile {
    /// Writes rows of one schema. Returns the place of the block; blocks the thread.
    pub(in crate::write) fn append(
        &mut self,
        rows: impl IntoIterator<Item = RecordBatch>,
    ) -> std::result::Result<Range<u64>, ArrowError> {
        let mut rows = rows.into_iter().peekable();
        let Some(first) = rows.peek() else {
            return Ok(self.end..self.end);
        };
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let file = match file {
            Some(file) => file,
            none => none.insert(temporary_file()?),
        };
        file.seek(SeekFrom::Start(self.end))?;
        let mut stream = StreamWriter::try_new(BufWriter::new(&*file), &first.schema())?;
        for rows in rows {
            stream.write(&rows)?;
        }
        stream.into_inner()?.flush()?;
        let start = std::mem::replace(&mut self.end, file.stream_position()?);
        Ok(start..self.end)
    }

    /// Reads a block; blocks the thread.
    pub(in crate::write) fn read(
        &self,
        block: &Range<u64>,
    ) -> std::result::Result<Vec<RecordBatch>, ArrowError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match file.as_mut() {
            Some(file) if !block.is_empty() => {
                file.seek(SeekFrom::Start(block.start))?;
                let bytes = BufReader::new(file.take(block.end - block.start));
                StreamReader::try_new(bytes, None)?.collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether rows were written.
    #[cfg(test)]
    pub(in crate::write) fn is_used(&self) -> bool {
        self.end > 0
    }
}
