//! The Arrow PyCapsule protocol, import and export. It uses `unsafe`, because Arrow's C interface consists of
//! raw pointers.
//!
//! Safety: the name of a capsule determines the type of its pointer, and moving a structure out of a capsule leaves an
//! empty one, so nothing is released twice. The tests round-trip every type through another library.
#![allow(unsafe_code, reason = "the C interface of Arrow; see above")]

mod c_data;
mod reads;
mod rows;

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions, RecordBatchReader};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use deltaic_protocol::{Error, ErrorKind};
use deltaic_storage::fault;
use deltaic_table::scan::StringsAs;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::calls::error::CallResult;
use crate::calls::fault::guarded;

pub(crate) use reads::is_read_once;

use c_data::Stream;
use reads::{Reading, Reads, Watched};
use rows::{Rows, Source};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// An Arrow schema imported from any object with `__arrow_c_schema__`.
pub(crate) struct SchemaIn(pub Schema);

impl<'py> FromPyObject<'_, 'py> for SchemaIn {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let capsule = object
            .call_method0("__arrow_c_schema__")
            .map_err(|_| not_arrow(&object, "__arrow_c_schema__"))?;
        let schema = guarded(|| import_schema(capsule.cast::<PyCapsule>().map_err(PyErr::from)?))?;
        Ok(Self(schema))
    }
}

/// An Arrow field imported from any object with `__arrow_c_schema__`: a type is a field without a name, a schema a
/// struct.
pub(crate) struct FieldIn(pub Field);

impl<'py> FromPyObject<'_, 'py> for FieldIn {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let capsule = object
            .call_method0("__arrow_c_schema__")
            .map_err(|_| not_arrow(&object, "__arrow_c_schema__"))?;
        let field = guarded(|| import_field(capsule.cast::<PyCapsule>().map_err(PyErr::from)?))?;
        Ok(Self(field))
    }
}

/// Record batches imported from any object with `__arrow_c_stream__` or `__arrow_c_array__`.
pub(crate) struct BatchesIn {
    pub(crate) rows: Box<dyn RecordBatchReader + Send>,
    /// The object, if its rows can be read again.
    pub(crate) again: Option<Py<PyAny>>,
}

impl<'py> FromPyObject<'_, 'py> for BatchesIn {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let again = match Reads::of(&object)? {
            Reads::Again => Some(object.to_owned().unbind()),
            Reads::Once | Reads::Unknown => None,
        };
        let rows = guarded(|| take_batches(object))?;
        Ok(Self { rows, again })
    }
}

fn take_batches(object: Borrowed<'_, '_, PyAny>) -> CallResult<Box<dyn RecordBatchReader + Send>> {
    let reading = Reading::of(&object)??;
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let pointer = capsule
            .cast::<PyCapsule>()
            .map_err(PyErr::from)?
            .pointer_checked(Some(STREAM))?
            .cast::<FFI_ArrowArrayStream>();
        // SAFETY: the name guarantees the type of the pointer; the stream is moved out and replaced by an empty one.
        let stream = unsafe { Stream::take(pointer.as_ptr()) };
        let mut stream = stream.ok_or_else(|| taken_before("stream"))?;
        let field = stream.schema()?;
        return rows(Source::Stream(stream), &field, reading);
    }
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
        let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: the names guarantee the types of the pointers; they are only read, while the capsules are alive.
        let is_used = unsafe { array.as_ref().is_released() };
        if is_used {
            return Err(taken_before("array").into());
        }
        // SAFETY: the names guarantee the types of the pointers; both are moved out and replaced by empty ones.
        let (schema, array) = unsafe {
            let schema = FFI_ArrowSchema::from_raw(schema.as_ptr());
            (schema, FFI_ArrowArray::from_raw(array.as_ptr()))
        };
        let field = c_data::field(&schema)?;
        return rows(Source::Array(Some(array)), &field, reading);
    }
    Err(not_arrow(&object, "__arrow_c_stream__").into())
}

/// The name under which an Arrow schema has the extension type of a column.
const EXTENSION: &str = "ARROW:extension:name";

/// Refuses columns and fields that are exported as numbers although they are none.
fn ensure_values(field: &Field) -> Result<(), Error> {
    match field.data_type() {
        DataType::Struct(parts) => parts
            .iter()
            .try_for_each(|part| ensure_no_period(part, part.name())),
        _ => Ok(()),
    }
}

fn ensure_no_period(field: &Field, column: &str) -> Result<(), Error> {
    let extension = field.metadata().get(EXTENSION);
    if extension.is_some_and(|name| name == "pandas.period") {
        let what = format!("the column {column} has periods of pandas, for which Delta has no type");
        return Err(Error::new(ErrorKind::SchemaMismatch, what)
            .with("field", column)
            .hint(format!(
                "convert it first: df[{column:?}] = df[{column:?}].dt.to_timestamp()"
            )));
    }
    match field.data_type() {
        DataType::Struct(parts) => parts.iter().try_for_each(|part| ensure_no_period(part, column)),
        DataType::List(part) | DataType::LargeList(part) | DataType::FixedSizeList(part, _) => {
            ensure_no_period(part, column)
        }
        DataType::Map(entries, _) => ensure_no_period(entries, column),
        _ => Ok(()),
    }
}

fn rows(source: Source, field: &Field, reading: Reading) -> CallResult<Box<dyn RecordBatchReader + Send>> {
    ensure_values(field)?;
    let rows = Rows::new(source, field)
        .ok_or_else(|| PyTypeError::new_err("an Arrow array of structs is expected: the rows of a table"))?;
    Ok(Box::new(Watched::new(rows, reading)))
}

fn taken_before(what: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "the Arrow {what} was consumed before: it can be consumed once"
    ))
}

fn not_arrow(object: &Borrowed<'_, '_, PyAny>, method: &str) -> PyErr {
    let type_name = object
        .get_type()
        .name()
        .map_or_else(|_| "this".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "{type_name} contains no Arrow data: an object with {method} is expected"
    ))
}

fn import_field(capsule: &Bound<'_, PyCapsule>) -> CallResult<Field> {
    let pointer = capsule.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    // SAFETY: the name guarantees the type of the pointer; it is only read, while the capsule is alive.
    Ok(c_data::field(unsafe { pointer.as_ref() })?)
}

fn import_schema(capsule: &Bound<'_, PyCapsule>) -> CallResult<Schema> {
    let field = import_field(capsule)?;
    ensure_values(&field)?;
    let DataType::Struct(fields) = field.data_type() else {
        return Err(PyTypeError::new_err(format!(
            "a schema describes columns, such as pyarrow.schema(…) does, but this is a single type, {}",
            field.data_type()
        ))
        .into());
    };
    Ok(Schema::new(fields.clone()).with_metadata(field.metadata().clone()))
}

/// Returns the form of strings for a requested schema: the one in which a scan, whose columns in this form `schema_of`
/// returns, has the types of strings that are requested. `None` if there is none, or no schema is requested.
pub(crate) fn requested_strings(
    capsule: Option<&Bound<'_, PyCapsule>>,
    schema_of: impl Fn(StringsAs) -> deltaic_protocol::Result<Schema>,
) -> CallResult<Option<StringsAs>> {
    let Some(capsule) = capsule else {
        return Ok(None);
    };
    let requested = import_schema(capsule)?;
    let views = schema_of(StringsAs::View)?;
    let is_view = |field: &FieldRef| matches!(field.data_type(), DataType::Utf8View | DataType::BinaryView);
    for form in [StringsAs::View, StringsAs::Utf8] {
        let own = schema_of(form)?;
        let mut pairs = own.fields().iter().zip(views.fields()).zip(requested.fields());
        let is_requested = pairs.all(|((own, view), requested)| {
            own.name() == requested.name() && (!is_view(view) || own.data_type() == requested.data_type())
        });
        if is_requested && own.fields().len() == requested.fields().len() {
            return Ok(Some(form));
        }
    }
    Ok(None)
}

/// A reader that a C library calls. A panic there would abort the process, so it becomes an error.
struct Guarded {
    schema: SchemaRef,
    reader: Option<Box<dyn RecordBatchReader + Send>>,
}

impl Iterator for Guarded {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        catch_unwind(AssertUnwindSafe(|| reader.next())).unwrap_or_else(|_| {
            // After a panic the reader may be in any state: it is neither called again nor dropped.
            std::mem::forget(self.reader.take());
            let fault = fault::caught();
            let text = format!("{}: {fault}", fault.kind().class_name());
            Some(Err(ArrowError::ExternalError(text.into())))
        })
    }
}

impl RecordBatchReader for Guarded {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let reader = self.reader.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(reader)));
    }
}

/// Exports a schema as a PyCapsule.
pub(crate) fn export_schema<'py>(py: Python<'py>, schema: &Schema) -> CallResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(schema).map_err(cannot_leave)?;
    Ok(PyCapsule::new_with_value(py, exported, SCHEMA)?)
}

/// Exports batches as a stream in a PyCapsule, in the requested schema if they convert to it without loss.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
    requested: Option<Bound<'py, PyCapsule>>,
) -> CallResult<Bound<'py, PyCapsule>> {
    let reader = match requested {
        None => reader,
        Some(capsule) => cast_reader(reader, import_schema(&capsule)?),
    };
    let reader = Box::new(Guarded {
        schema: reader.schema(),
        reader: Some(reader),
    });
    Ok(PyCapsule::new_with_value(
        py,
        FFI_ArrowArrayStream::new(reader),
        STREAM,
    )?)
}

fn cannot_leave(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::UnsupportedFeature,
        format!("the data cannot be handed out as Arrow: {error}"),
    )
}

/// The protocol allows a producer that cannot provide the requested schema to use its own: the batches then stay
/// unchanged.
fn cast_reader(
    reader: Box<dyn RecordBatchReader + Send>,
    requested: Schema,
) -> Box<dyn RecordBatchReader + Send> {
    let own = reader.schema();
    let castable = own.fields().len() == requested.fields().len()
        && own.fields().iter().zip(requested.fields()).all(|(from, to)| {
            from.name() == to.name() && arrow_cast::can_cast_types(from.data_type(), to.data_type())
        });
    if !castable || own.fields() == requested.fields() {
        return reader;
    }
    let schema: SchemaRef = Arc::new(requested);
    let target = Arc::clone(&schema);
    let batches = reader.map(move |batch| cast_batch(&batch?, &target));
    Box::new(RecordBatchIterator::new(batches, schema))
}

fn cast_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    let cast = |(column, to): (&ArrayRef, &DataType)| cast_with_options(column, to, &options);
    let columns = batch
        .columns()
        .iter()
        .zip(schema.fields().iter().map(|field| field.data_type()));
    let columns = columns.map(cast).collect::<Result<Vec<_>, _>>()?;
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)
}
