//! Imports schemas of the C data interface.

use std::ffi::{CStr, c_char};

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field};
use deltaic_protocol::Result;
use deltaic_table::write::{Checked, Fault, MAX_NESTING};

use super::children::{MAX_FIELDS, children};
use super::structures::RawSchema;
use super::violation::violation;

/// Returns the field that a schema describes, with its name.
pub(crate) fn field(schema: &FFI_ArrowSchema) -> Result<Field> {
    // SAFETY: both types are the interface's structure.
    let raw = unsafe { &*(&raw const *schema).cast::<RawSchema>() };
    checked_field(raw, schema).map_err(|fault| fault.into_error(0))
}

fn checked_field(raw: &RawSchema, schema: &FFI_ArrowSchema) -> Checked<Field> {
    check(raw, 0, &mut 0)?;
    Field::try_from(schema).map_err(|error| unsupported(&error.to_string()))
}

fn unsupported(what: &str) -> Fault {
    Fault::new(what).hint("nothing was written; convert the column to a type that the table supports")
}

/// Checks the structures of a schema, and that arrow-rs supports each type, so that an error names the path of the
/// field.
fn check(schema: &RawSchema, depth: usize, fields: &mut usize) -> Checked {
    *fields += 1;
    if depth > MAX_NESTING {
        return Err(Fault::new(format!(
            "the schema nests deeper than {MAX_NESTING} levels"
        )));
    }
    if *fields > MAX_FIELDS {
        return Err(Fault::new(format!(
            "the schema has more than {MAX_FIELDS} fields"
        )));
    }
    if schema.release.is_none() {
        return Err(violation("the schema was released"));
    }
    let format = match schema.format.is_null() {
        true => return Err(violation("the schema has no format string")),
        false => text(schema.format, "format string")?,
    };
    // SAFETY: the interface guarantees this number of pointers to structures.
    let children = unsafe { children(schema.children, schema.n_children) }?;
    let expected = match format {
        "+l" | "+L" | "+vl" | "+vL" | "+m" => Some(1),
        "+r" => Some(2),
        format if format.starts_with("+w:") => Some(1),
        _ => None,
    };
    if expected.is_some_and(|expected| children.len() < expected) {
        return Err(violation(format!(
            "the schema has {} children, too few for the format {format:?}",
            children.len()
        )));
    }
    for child in children {
        let name = match child.name.is_null() {
            true => "",
            false => text(child.name, "name of a field")?,
        };
        let checked = check(child, depth + 1, fields);
        checked.map_err(|fault| match format {
            "+s" => fault.below(name),
            "+r" | "+m" => fault,
            _ => fault.below("element"),
        })?;
    }
    // SAFETY: the interface guarantees a valid structure or null.
    if let Some(dictionary) = unsafe { schema.dictionary.as_ref() } {
        check(dictionary, depth + 1, fields)?;
    }
    if format.starts_with('+') {
        return Ok(());
    }
    // SAFETY: both types are the interface's structure.
    let leaf = unsafe { &*(&raw const *schema).cast::<FFI_ArrowSchema>() };
    match DataType::try_from(leaf) {
        Ok(_) => Ok(()),
        Err(_) => Err(unsupported(&format!(
            "the type with the Arrow format string {format:?} is not supported"
        ))),
    }
}

fn text<'a>(text: *const c_char, what: &str) -> Checked<&'a str> {
    // SAFETY: the pointer is not null, and strings of the interface end with a zero byte.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| {
        Fault::new(format!(
            "the {what} {:?} is not valid UTF-8",
            text.to_string_lossy()
        ))
    })
}
