//! The operations that a transaction of files may record.

use deltaic_log::transaction::Operation;
use deltaic_protocol::{Error, ErrorKind, Result};

/// Parses the name of an operation.
///
/// # Errors
///
/// `ValueError` for an operation whose files the caller cannot choose: conflict detection depends on the operation.
pub fn operation(name: &str) -> Result<Operation> {
    let known = Operation::parse(name).filter(|operation| operation.stages_files());
    known.ok_or_else(|| {
        let names = Operation::ALL
            .into_iter()
            .filter(|operation| operation.stages_files());
        let names: Vec<_> = names.map(Operation::name).collect();
        Error::new(
            ErrorKind::InvalidArgument,
            format!("operation may not be {name:?}"),
        )
        .hint(format!("it is one of {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_operations_that_stage_files_are_accepted() {
        assert_eq!(operation("DELETE").ok(), Some(Operation::Delete));
        for name in ["", "write", "CREATE OR REPLACE TABLE", "ROW TRACKING BACKFILL"] {
            let error = operation(name).expect_err("it is refused");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}
