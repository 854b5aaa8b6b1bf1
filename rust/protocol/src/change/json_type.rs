//! Types in the JSON of callers in other languages.

use arrow_schema::{Field, Schema};
use serde::Deserialize;

use crate::schema::{StructField, schema_from_arrow};
use crate::{Error, ErrorKind, Result};

/// A type: the index of an Arrow field that is passed with the text, or SQL text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum JsonType {
    Arrow(usize),
    Sql(String),
}

impl JsonType {
    /// A column with this name and type.
    pub(super) fn column(&self, name: &str, types: &[Field]) -> Result<StructField> {
        match self {
            Self::Arrow(index) => field_of(name, told_type(types, *index)?),
            Self::Sql(text) => StructField::from_sql(name, text),
        }
    }
}

pub(super) fn told_type(types: &[Field], place: usize) -> Result<&Field> {
    types
        .get(place)
        .ok_or_else(|| wrong(format!("there is no Arrow type {place}")))
}

/// A column with this name and the type of an Arrow field.
fn field_of(name: &str, given: &Field) -> Result<StructField> {
    let named = given.clone().with_name(name);
    let mut schema = schema_from_arrow(&Schema::new(vec![named]))?;
    schema
        .fields
        .pop()
        .ok_or_else(|| Error::internal("a schema of one column has none"))
}

pub(super) fn wrong(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
