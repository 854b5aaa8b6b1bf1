//! The error for exported data that violates the C data interface.

use deltaic_table::write::Fault;

/// A violation of the interface itself, as opposed to an invalid value.
pub(super) fn violation(what: impl Into<String>) -> Fault {
    Fault::new(what).hint(
        "nothing was written; the library that exported the data violates the Arrow C data interface: \
         report it there, and convert the data with another library, such as pyarrow, until it is fixed",
    )
}
