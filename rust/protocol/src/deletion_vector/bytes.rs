//! Reads numbers from bytes; missing bytes are an error that names the expected value.

/// The unread bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], String> {
        let Some((taken, rest)) = self.0.split_at_checked(count) else {
            let left = self.0.len();
            return Err(format!(
                "it ends too early: {what} take {count} bytes, and {left} are left"
            ));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let Some((taken, rest)) = self.0.split_first_chunk::<N>() else {
            let left = self.0.len();
            return Err(format!(
                "it ends too early: {what} takes {N} bytes, and {left} are left"
            ));
        };
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u16(&mut self, what: &str) -> Result<u16, String> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, String> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, String> {
        self.array(what).map(u64::from_le_bytes)
    }

    pub(super) fn u32_be(&mut self, what: &str) -> Result<u32, String> {
        self.array(what).map(u32::from_be_bytes)
    }
}
