//! The operations that a transaction of files may record.

use deltaic_protocol::{Error, ErrorKind, Result};

/// The names that a transaction of files may record, in delta-spark's words.
const OPERATIONS: &[&str] = &[
    "WRITE",
    "STREAMING UPDATE",
    "DELETE",
    "UPDATE",
    "MERGE",
    "TRUNCATE",
    "OPTIMIZE",
    "RESTORE",
];

/// The operation of a name.
///
/// # Errors
///
/// `ValueError` for any other name: conflict detection depends on the operation.
pub fn operation(name: &str) -> Result<&'static str> {
    let found = OPERATIONS.iter().find(|known| **known == name);
    found.copied().ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("operation may not be {name:?}"),
        )
        .hint(format!("it is one of {}", OPERATIONS.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_one_of_those_that_are_known() {
        assert_eq!(operation("DELETE").ok(), Some("DELETE"));
        for name in ["", "write", "REPLACE TABLE", "ROW TRACKING BACKFILL"] {
            let error = operation(name).expect_err("it has a meaning of its own");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}
