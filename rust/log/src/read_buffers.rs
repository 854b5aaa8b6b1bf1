//! Memory that ranges of local files were read into, used again for the next ones.
//!
//! Column chunks of a row group are tens of megabytes. New memory for each costs a page fault for every 4 KiB of it.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// What is smaller comes from what the allocator keeps anyway.
pub(crate) const SMALLEST: u64 = 1 << 20;
/// How many bytes may wait to be used again.
const MOST_WAITING: usize = 64 << 20;

/// Memory that comes back when the last part of what was read into it is let go.
///
/// ```
/// let buffers = deltaic_log::read_buffers::ReadBuffers::default();
/// let path = std::env::temp_dir().join(format!("read-buffers-{}", std::process::id()));
/// std::fs::write(&path, "Delta")?;
/// let bytes = buffers.read(&std::fs::File::open(&path)?, 1..4)?;
/// assert_eq!(bytes, "elt");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadBuffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl ReadBuffers {
    /// Reads a range of a file, and less where the file ends before it. Blocks.
    ///
    /// # Errors
    ///
    /// Those of reading the file.
    pub fn read(&self, mut file: &File, range: Range<u64>) -> Result<Bytes> {
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

    /// The smallest that waits and is large enough, or a new one.
    fn take(&self, wanted: usize) -> Vec<u8> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let large_enough = waiting.iter().enumerate().filter(|(_, one)| one.len() >= wanted);
        let found = large_enough
            .min_by_key(|(_, one)| one.len())
            .map(|(place, _)| place);
        match found {
            Some(place) => waiting.swap_remove(place),
            None => {
                // The next ones are likely to be about as large as this one: what is too small gives way.
                waiting.pop();
                drop(waiting);
                vec![0; wanted.saturating_add(wanted / 8)]
            }
        }
    }

    fn take_back(&self, buffer: Vec<u8>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held: usize = waiting.iter().map(Vec::len).sum();
        if held.saturating_add(buffer.len()) <= MOST_WAITING {
            waiting.push(buffer);
        }
    }
}

/// A buffer of which so many bytes were read.
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
    fn memory_is_used_again_when_nobody_looks_at_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let content: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        std::fs::write(&path, &content).expect("written");
        let buffers = ReadBuffers::default();
        let read = |range: Range<u64>| {
            let file = File::open(&path).expect("it is there");
            buffers.read(&file, range).expect("it is readable")
        };
        let first = read(0..8_000);
        let place = first.as_ptr();
        let part = first.slice(10..20);
        drop(first);
        // A part is still looked at: nothing is written over it.
        let second = read(100..8_100);
        assert_ne!(second.as_ptr(), place);
        assert_eq!(part, &content[10..20]);
        assert_eq!(second, &content[100..8_100]);
        drop(part);
        let third = read(5_000..12_000);
        assert_eq!(third.as_ptr(), place);
        assert_eq!(third, &content[5_000..]);
        drop((second, third));
        assert!(read(3..3).is_empty());
        assert!(read(20_000..20_001).is_empty());
    }

    #[test]
    fn what_waits_is_bounded() {
        let buffers = ReadBuffers::default();
        for _ in 0..5 {
            buffers.take_back(vec![0; MOST_WAITING / 2]);
        }
        let waiting = buffers.0.lock().expect("nobody panicked");
        assert_eq!(waiting.len(), 2);
    }
}
