//! Statistics of many files as typed columns.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder};
use arrow_array::{Array, ArrayRef, StringArray, StructArray};
use arrow_schema::{Field, FieldRef};
use arrow_select::concat::concat;

use super::text::{Part, Statistics};
use crate::expr::Scalar;
use crate::schema::{DataType, PrimitiveType, StructType};
use crate::{Error, ErrorKind, Result};

/// Statistics of many files, a row each, under the names and with the types of the schema; NULL where a file's
/// cannot be used.
#[derive(Clone, Debug)]
pub struct StatisticsColumns {
    /// Rows of the file.
    pub num_records: ArrayRef,
    /// Whether the bounds are exact.
    pub tight_bounds: ArrayRef,
    /// The smallest values.
    pub min: ArrayRef,
    /// The largest values.
    pub max: ArrayRef,
    /// How many values are NULL.
    pub null_count: ArrayRef,
}

/// What a leaf's column holds.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Bound(Part),
    NullCount,
}

impl StatisticsColumns {
    /// Reads the statistics of each file; partition columns have none, and are left out of `schema`.
    pub fn parse(stats: &StringArray, schema: &StructType) -> Result<Self> {
        let parsed: Vec<Option<Statistics<'_>>> =
            stats.iter().map(|text| text.map(Statistics::parse)).collect();
        let mut num_records = Int64Builder::with_capacity(parsed.len());
        let mut tight_bounds = BooleanBuilder::with_capacity(parsed.len());
        for stats in &parsed {
            num_records.append_option(stats.as_ref().and_then(Statistics::num_records));
            tight_bounds.append_option(stats.as_ref().map(Statistics::tight_bounds));
        }
        let columns = |kind| fields(&parsed, schema, kind, &mut Vec::new());
        Ok(Self {
            num_records: Arc::new(num_records.finish()),
            tight_bounds: Arc::new(tight_bounds.finish()),
            min: columns(Kind::Bound(Part::Min))?,
            max: columns(Kind::Bound(Part::Max))?,
            null_count: columns(Kind::NullCount)?,
        })
    }
}

fn failed(error: arrow_schema::ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("statistics cannot be put into columns: {error}"),
    )
}

fn fields(
    parsed: &[Option<Statistics<'_>>],
    schema: &StructType,
    kind: Kind,
    path: &mut Vec<String>,
) -> Result<ArrayRef> {
    let mut columns: Vec<(FieldRef, ArrayRef)> = Vec::new();
    for field in &schema.fields {
        path.push(field.name.clone());
        let column = match &field.data_type {
            DataType::Struct(inner) => Some(fields(parsed, inner, kind, path)?),
            DataType::Primitive(primitive) => leaf(parsed, *primitive, kind, path)?,
            DataType::Array(_) | DataType::Map(_) if kind == Kind::NullCount => {
                Some(null_counts(parsed, path))
            }
            DataType::Array(_) | DataType::Map(_) => None,
        };
        path.pop();
        if let Some(column) = column {
            columns.push((
                Arc::new(Field::new(&field.name, column.data_type().clone(), true)),
                column,
            ));
        }
    }
    if columns.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(parsed.len(), None)));
    }
    Ok(Arc::new(StructArray::from(columns)))
}

fn null_counts(parsed: &[Option<Statistics<'_>>], path: &[String]) -> ArrayRef {
    let mut counts = Int64Builder::with_capacity(parsed.len());
    parsed
        .iter()
        .for_each(|stats| counts.append_option(stats.as_ref().and_then(|stats| stats.null_count(path))));
    Arc::new(counts.finish())
}

fn leaf(
    parsed: &[Option<Statistics<'_>>],
    primitive: PrimitiveType,
    kind: Kind,
    path: &[String],
) -> Result<Option<ArrayRef>> {
    let part = match kind {
        Kind::NullCount => return Ok(Some(null_counts(parsed, path))),
        Kind::Bound(part) => part,
    };
    if matches!(
        primitive,
        PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant
    ) {
        return Ok(None);
    }
    let values: Vec<ArrayRef> = parsed
        .iter()
        .map(|stats| {
            let bound = stats
                .as_ref()
                .and_then(|stats| stats.bound(part, path, primitive));
            Scalar::to_array(bound.as_ref(), primitive)
        })
        .collect();
    if values.is_empty() {
        return Ok(Some(Scalar::to_array(None, primitive).slice(0, 0)));
    }
    let values: Vec<&dyn Array> = values.iter().map(AsRef::as_ref).collect();
    concat(&values).map(Some).map_err(failed)
}
