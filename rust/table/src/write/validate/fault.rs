//! What is wrong with Arrow data, and where, found from the inside outwards.

use std::fmt::Write;

use deltaic_protocol::{Error, ErrorKind};

/// The result of a check of an array.
pub(super) type Checked<T = ()> = Result<T, Fault>;

/// A broken rule of Arrow. Each level that it passes adds its name and translates the row into its own.
#[derive(Debug)]
pub(super) struct Fault {
    what: String,
    /// Field names, innermost first.
    path: Vec<String>,
    row: Option<usize>,
}

/// A fault that concerns the array as a whole.
pub(super) fn fault<T>(what: impl Into<String>) -> Checked<T> {
    Err(Fault::new(what.into()))
}

impl Fault {
    pub(super) fn new(what: String) -> Self {
        Self {
            what,
            path: Vec::new(),
            row: None,
        }
    }

    pub(super) fn in_row(mut self, row: usize) -> Self {
        self.row = Some(row);
        self
    }

    /// The same fault, where a row of the part belongs to a row of the whole; none where no row refers to it.
    pub(super) fn at(mut self, row_of: impl FnOnce(usize) -> Option<usize>) -> Self {
        self.row = self.row.and_then(row_of);
        self
    }

    pub(super) fn below(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }

    pub(super) fn into_error(self, first_row: u64) -> Error {
        let names: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        let path = names.join(".");
        let mut message = match path.as_str() {
            "" => "The data are not valid Arrow data: ".to_owned(),
            path => format!("The column {path} is not valid Arrow data: "),
        };
        message.push_str(&self.what);
        let row = self
            .row
            .and_then(|row| u64::try_from(row).ok()?.checked_add(first_row));
        if let Some(row) = row {
            // Writing to a String cannot fail.
            let _ = write!(message, ", in row {row}");
        }
        let error = Error::new(ErrorKind::SchemaMismatch, message).hint(
            "nothing was written; validate the data where they are made: of pyarrow, validate(full=True)",
        );
        let error = match path.as_str() {
            "" => error,
            path => error.with("field", path),
        };
        match row.and_then(|row| i64::try_from(row).ok()) {
            Some(row) => error.with("row", row),
            None => error,
        }
    }
}
