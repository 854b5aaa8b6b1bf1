//! Bytes in pieces of one size: a single buffer would be copied each time it grows.

use std::io::Write;

use bytes::Bytes;

/// The size of the pieces in which finished bytes are kept.
const PIECE_BYTES: usize = 1 << 20;

/// Finished bytes of a file.
#[derive(Default)]
pub(super) struct Pieces(Vec<Vec<u8>>);

impl Pieces {
    pub(super) fn into_bytes(self) -> Vec<Bytes> {
        self.0.into_iter().map(Bytes::from).collect()
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let last = self.0.pop_if(|last| last.len() < PIECE_BYTES);
        // The first piece grows, because most files of small commits are much smaller.
        let mut last = last.unwrap_or_else(|| match self.0.is_empty() {
            true => Vec::new(),
            false => Vec::with_capacity(PIECE_BYTES),
        });
        let taken = bytes.len().min(PIECE_BYTES - last.len());
        last.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        self.0.push(last);
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
