//! Maps each error kind to a Python class of `deltaic.exceptions`.

use deltaic_protocol::error::ContextValue;
use deltaic_protocol::{Error, ErrorKind};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An error that is raised in Python.
pub struct Raised(PyErr);

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        Self(Python::attach(|py| {
            raise(py, &error).unwrap_or_else(|failure| failure)
        }))
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        raised.0
    }
}

/// The result of a function that Python calls.
pub(crate) type CallResult<T> = Result<T, Raised>;

fn raise(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    if error.kind() == ErrorKind::InvalidArgument {
        let text = match error.hint_text() {
            Some(hint) => format!("{error}\nhint: {hint}"),
            None => error.to_string(),
        };
        return Ok(PyValueError::new_err(text));
    }
    let class = py
        .import("deltaic.exceptions")?
        .getattr(error.kind().class_name())?;
    let context = PyDict::new(py);
    for (key, value) in error.context() {
        match value {
            ContextValue::Text(text) => context.set_item(key, text)?,
            ContextValue::Number(number) => context.set_item(key, number)?,
        }
    }
    let named = PyDict::new(py);
    named.set_item("context", context)?;
    named.set_item("hint", error.hint_text())?;
    named.set_item("retryable", error.is_retryable())?;
    Ok(PyErr::from_value(class.call((error.message(),), Some(&named))?))
}

/// An error of the runtime itself.
pub(crate) fn broken(what: impl std::fmt::Display) -> Raised {
    Raised(PyRuntimeError::new_err(format!(
        "deltaic's runtime failed: {what}"
    )))
}
