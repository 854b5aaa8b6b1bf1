//! The process that a transaction belongs to. A child of `fork` inherits the transaction, but not the files it staged.

use deltaic_protocol::{Error, ErrorKind, Result};

/// The id of the process that owns a transaction and its files.
#[derive(Clone, Copy, Debug)]
pub struct OwnerProcess(u32);

impl OwnerProcess {
    /// The running process.
    #[must_use]
    pub fn current() -> Self {
        Self(std::process::id())
    }

    /// Whether the owner is the running process, not a parent that forked it.
    #[must_use]
    pub fn is_current(self) -> bool {
        self.0 == std::process::id()
    }

    /// Verifies that a transaction is used by the process that began it.
    ///
    /// # Errors
    ///
    /// `ValueError` in a child of `fork`.
    pub fn ensure_current(self) -> Result<()> {
        if self.is_current() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "The transaction belongs to process {}, which began it and then forked this process",
                self.0
            ),
        )
        .hint("call table.transaction() in this process"))
    }
}

impl Default for OwnerProcess {
    fn default() -> Self {
        Self::current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_is_refused() {
        assert!(OwnerProcess::current().ensure_current().is_ok());
        let another = OwnerProcess(std::process::id() ^ 1);
        let error = another.ensure_current().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.what().contains(&another.0.to_string()), "{error}");
    }
}
