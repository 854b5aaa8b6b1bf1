//! Whether the rows of a caller's object can be read once or again, and what was read of them before.
//!
//! A used stream has no rows, like an empty one: taken as empty, it would empty a table that it overwrites.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use deltaic_protocol::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyWeakrefMethods, PyWeakrefReference};

/// The classes of Arrow libraries and data frames that hold their rows.
const HOLDERS: [&str; 7] = [
    "ArrowTable",
    "ChunkedArray",
    "DataFrame",
    "RecordBatch",
    "Series",
    "StructArray",
    "Table",
];

/// How often the rows of an object can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A stream.
    Once,
    /// Rows in memory, or a scan.
    Again,
    /// An object of another library, which may be either.
    Unknown,
}

impl Reads {
    /// Returns how often the rows of an object can be read, from its class alone.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.hasattr("__next__")? {
            return Ok(Self::Once);
        }
        let classes = object.get_type().getattr("__mro__")?.cast_into::<PyTuple>()?;
        for class in classes {
            let name = class.getattr("__name__")?.to_string();
            let module = class.getattr("__module__")?.to_string();
            // Those of the extension itself are streams of batches.
            let is_own = module.starts_with("deltaic.") && !module.starts_with("deltaic._rust");
            if is_own || HOLDERS.contains(&name.as_str()) {
                return Ok(Self::Again);
            }
        }
        Ok(Self::Unknown)
    }
}

/// What was read of an object that may be a stream.
#[derive(Default)]
struct State {
    has_begun: AtomicBool,
    has_ended: AtomicBool,
    rows: AtomicU64,
}

/// The objects of which something was read, as long as they live.
static READ: Mutex<Vec<(Py<PyWeakrefReference>, Arc<State>)>> = Mutex::new(Vec::new());

/// One reading of the rows of an object.
pub(super) struct Reading {
    /// The class of the object.
    class: String,
    /// `None` if the object can be read again.
    state: Option<Arc<State>>,
    /// The number of rows that an earlier reading found.
    earlier: u64,
}

impl Reading {
    /// Begins a reading.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if the object is a stream that was read before, or only in part.
    pub(super) fn of(object: &Bound<'_, PyAny>) -> PyResult<Result<Self>> {
        let reads = Reads::of(object)?;
        let class = object.get_type().name()?.to_string();
        let state = match reads {
            Reads::Again => None,
            Reads::Once | Reads::Unknown => state_of(object),
        };
        let earlier = match &state {
            Some(state) if state.has_begun.load(Ordering::Acquire) => {
                let rows = state.rows.load(Ordering::Acquire);
                let is_complete = state.has_ended.load(Ordering::Acquire);
                if !is_complete || (reads == Reads::Once && rows > 0) {
                    return Ok(Err(used(&class)));
                }
                rows
            }
            _ => 0,
        };
        Ok(Ok(Self {
            class,
            state,
            earlier,
        }))
    }

    /// Records that rows are requested.
    fn begin(&self) {
        if let Some(state) = &self.state {
            state.has_ended.store(false, Ordering::Release);
            state.has_begun.store(true, Ordering::Release);
        }
    }

    /// Records the end, after the given number of rows.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if there was no row, but an earlier reading found some.
    fn end(&self, rows: u64) -> Result<()> {
        if rows == 0 && self.earlier > 0 {
            return Err(used(&self.class));
        }
        if let Some(state) = &self.state {
            state.rows.store(rows, Ordering::Release);
            state.has_ended.store(true, Ordering::Release);
        }
        Ok(())
    }
}

/// Rows whose reading is recorded.
pub(super) struct Watched<R> {
    batches: R,
    reading: Reading,
    rows: u64,
    has_ended: bool,
}

impl<R> Watched<R> {
    pub(super) fn new(batches: R, reading: Reading) -> Self {
        Self {
            batches,
            reading,
            rows: 0,
            has_ended: false,
        }
    }
}

impl<R: RecordBatchReader> Iterator for Watched<R> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        self.reading.begin();
        match self.batches.next() {
            Some(Ok(batch)) => {
                self.rows = self.rows.saturating_add(batch.num_rows() as u64);
                Some(Ok(batch))
            }
            Some(Err(error)) => {
                self.has_ended = true;
                Some(Err(error))
            }
            None => {
                self.has_ended = true;
                let ended = self.reading.end(self.rows);
                ended
                    .err()
                    .map(|error| Err(ArrowError::ExternalError(Box::new(error))))
            }
        }
    }
}

impl<R: RecordBatchReader> RecordBatchReader for Watched<R> {
    fn schema(&self) -> SchemaRef {
        self.batches.schema()
    }
}

/// Returns what was read of an object; `None` if Python cannot remember objects of its class.
fn state_of(object: &Bound<'_, PyAny>) -> Option<Arc<State>> {
    let reference = PyWeakrefReference::new(object).ok()?;
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.retain(|(known, _)| known.bind(object.py()).upgrade().is_some());
    let known = read.iter().find(|(known, _)| {
        let known = known.bind(object.py()).upgrade();
        known.is_some_and(|known| known.is(object))
    });
    if let Some((_, state)) = known {
        return Some(Arc::clone(state));
    }
    let state = Arc::new(State::default());
    read.push((reference.unbind(), Arc::clone(&state)));
    Some(state)
}

fn used(class: &str) -> Error {
    let what = format!("the rows of this {class} were read before: a stream can be read once");
    Error::new(ErrorKind::InvalidArgument, what).hint(
        "pass rows that can be read again, such as a pyarrow.Table (reader.read_all()) or a data frame, or a new stream",
    )
}

/// Whether the rows of an object can be read once: `True` for a stream, `False` for rows in memory and scans, `None` for
/// objects of other libraries, which may be either.
#[pyfunction]
pub(crate) fn is_read_once(object: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    Ok(match Reads::of(object)? {
        Reads::Once => Some(true),
        Reads::Again => Some(false),
        Reads::Unknown => None,
    })
}
