//! An error in Arrow data and its location, which is built from the inside outwards.

use arrow_schema::DataType;
use deltaic_protocol::{Error, ErrorKind};

/// The result of a check of an array.
pub type Checked<T = ()> = Result<T, Fault>;

/// A violation of Arrow's rules. Each level above adds its name to the path and maps the row to its own.
#[derive(Debug)]
pub struct Fault {
    what: String,
    hint: &'static str,
    /// Field names, innermost first.
    path: Vec<String>,
    row: Option<usize>,
}

/// A fault of the array as a whole.
pub(super) fn fault<T>(what: impl Into<String>) -> Checked<T> {
    Err(Fault::new(what))
}

impl Fault {
    /// A fault without a path or a row yet.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: "nothing was written; fix the code that creates the data \
                   (pyarrow's Table.validate(full=True) finds most invalid data)",
            path: Vec::new(),
            row: None,
        }
    }

    /// Replaces the hint.
    #[must_use]
    pub fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    /// Sets the row, counted from the start of the array.
    #[must_use]
    pub fn in_row(mut self, row: usize) -> Self {
        self.row = Some(row);
        self
    }

    /// Maps the row of a child to a row of its parent; `None` if no row of the parent contains it.
    pub(super) fn at(mut self, row_of: impl FnOnce(usize) -> Option<usize>) -> Self {
        self.row = self.row.and_then(row_of);
        self
    }

    /// Prepends a field name to the path.
    #[must_use]
    pub fn below(mut self, name: &str) -> Self {
        self.path.push(name.to_owned());
        self
    }

    /// Prepends the name of a child of an array: the field of a struct, `element`, or `key` or `value` of a map,
    /// whatever the producer names these.
    #[must_use]
    pub fn in_child(mut self, parent: &DataType, index: usize) -> Self {
        match parent {
            DataType::Struct(fields) => match fields.get(index) {
                Some(field) => self.below(field.name()),
                None => self,
            },
            DataType::Map(entries, _) => {
                if let (Some(name), DataType::Struct(fields)) = (self.path.last_mut(), entries.data_type()) {
                    let is_key = fields.first().is_some_and(|key| key.name() == name);
                    *name = if is_key { "key" } else { "value" }.to_owned();
                }
                self
            }
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) => self,
            _ => self.below("element"),
        }
    }

    /// A `SchemaMismatch` that names the column and the row, which is counted from `first_row`.
    #[must_use]
    pub fn into_error(self, first_row: u64) -> Error {
        let names: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
        let path = names.join(".");
        let row = self
            .row
            .and_then(|row| u64::try_from(row).ok()?.checked_add(first_row));
        let place = match (path.as_str(), row) {
            ("", None) => String::new(),
            ("", Some(row)) => format!(" in row {row}"),
            (path, None) => format!(" in column {path}"),
            (path, Some(row)) => format!(" in column {path}, row {row}"),
        };
        let message = format!("invalid Arrow data{place}: {}", self.what);
        let mut error = Error::new(ErrorKind::SchemaMismatch, message).hint(self.hint);
        if !path.is_empty() {
            error = error.with("field", path);
        }
        match row.and_then(|row| i64::try_from(row).ok()) {
            Some(row) => error.with("row", row),
            None => error,
        }
    }
}
