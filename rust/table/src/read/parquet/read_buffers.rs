//! Reuses the memory into which pages of local files were read.
//!
//! Pages are megabytes in size, and new memory costs a page fault for every 4 KiB.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Smaller pages are allocated separately: the allocator reuses such blocks anyway, and a small page that is held for
/// long would block a large buffer.
const SMALLEST: usize = 64 * 1024;
/// The maximum total bytes of unused buffers.
const MOST_WAITING: usize = 64 << 20;

/// A pool of buffers. A buffer returns to it when the last slice of its bytes is dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadBuffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl ReadBuffers {
    /// Reads a range of a file, or less if the file ends before it. Blocks.
    pub(crate) fn read(&self, mut file: &File, range: Range<u64>) -> Result<Bytes> {
        let wanted = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let mut filled = Filled {
            buffer: self.take(wanted),
            length: 0,
            home: self.clone(),
        };
        file.seek(SeekFrom::Start(range.start))?;
        while let Some(rest) = filled
            .buffer
            .get_mut(filled.length..wanted)
            .filter(|rest| !rest.is_empty())
        {
            match file.read(rest) {
                Ok(0) => break,
                Ok(more) => filled.length += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Bytes::from_owner(filled))
    }

    /// Returns the smallest unused buffer that is large enough but at most twice the size, or a new one.
    fn take(&self, wanted: usize) -> Vec<u8> {
        if wanted < SMALLEST {
            return vec![0; wanted];
        }
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = wanted..=wanted.saturating_mul(2);
        let large_enough = waiting
            .iter()
            .enumerate()
            .filter(|(_, one)| fitting.contains(&one.len()));
        let found = large_enough
            .min_by_key(|(_, one)| one.len())
            .map(|(place, _)| place);
        match found {
            Some(place) => waiting.swap_remove(place),
            None => {
                drop(waiting);
                vec![0; wanted.saturating_add(wanted / 8)]
            }
        }
    }

    fn take_back(&self, buffer: Vec<u8>) {
        if buffer.len() < SMALLEST {
            return;
        }
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(buffer);
        // Sizes change from column to column, so the oldest unused buffers are freed.
        while waiting.iter().map(Vec::len).sum::<usize>() > MOST_WAITING {
            waiting.remove(0);
        }
    }
}

/// A buffer with the number of bytes that were read.
struct Filled {
    buffer: Vec<u8>,
    length: usize,
    home: ReadBuffers,
}

impl AsRef<[u8]> for Filled {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or(&[])
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        self.home.take_back(std::mem::take(&mut self.buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "what is tested reads files, not a store"
    )]
    fn memory_is_used_again_when_no_client_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..=255).cycle().take(200_000).collect();
        std::fs::write(&path, &content).expect("written");
        let buffers = ReadBuffers::default();
        let read = |range: Range<u64>| {
            let file = File::open(&path).expect("it is there");
            buffers.read(&file, range).expect("it is readable")
        };
        let first = read(0..100_000);
        let place = first.as_ptr();
        let part = first.slice(10..20);
        drop(first);
        // A slice is still in use: its buffer is not overwritten.
        let second = read(100..100_100);
        assert_ne!(second.as_ptr(), place);
        assert_eq!(part, &content[10..20]);
        assert_eq!(second, &content[100..100_100]);
        drop(part);
        let third = read(120_000..220_000);
        assert_eq!(third.as_ptr(), place);
        assert_eq!(third, &content[120_000..]);
        drop((second, third));
        assert!(read(3..3).is_empty());
        assert!(read(300_000..300_001).is_empty());
    }

    #[test]
    fn waiting_batches_are_bounded() {
        let buffers = ReadBuffers::default();
        for _ in 0..5 {
            buffers.take_back(vec![0; MOST_WAITING / 2]);
        }
        let waiting = buffers.0.lock().expect("nobody panicked");
        assert_eq!(waiting.len(), 2);
    }
}
