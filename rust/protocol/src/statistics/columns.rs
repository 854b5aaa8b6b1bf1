//! Statistics of many files as typed columns.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder};
use arrow_array::{Array, ArrayRef, Int64Array, StringArray, StructArray};
use arrow_schema::{Field, FieldRef};

use super::text::{self, Kind, Level, Statistics};
use crate::Result;
use crate::expr::Scalar;
use crate::schema::{DataType, PrimitiveType, StructType};

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
        let columns = |kind: Kind| {
            let levels: Vec<Option<Level<'_>>> = parsed
                .iter()
                .map(|stats| stats.as_ref().and_then(|stats| stats.level(kind)))
                .collect();
            fields(&levels, schema, kind)
        };
        Ok(Self {
            num_records: Arc::new(num_records.finish()),
            tight_bounds: Arc::new(tight_bounds.finish()),
            min: columns(Kind::Min)?,
            max: columns(Kind::Max)?,
            null_count: columns(Kind::NullCount)?,
        })
    }
}

fn fields(levels: &[Option<Level<'_>>], schema: &StructType, kind: Kind) -> Result<ArrayRef> {
    let mut columns: Vec<(FieldRef, ArrayRef)> = Vec::new();
    for field in &schema.fields {
        let values = levels
            .iter()
            .map(|level| level.as_ref()?.get(field.name.as_str()).copied());
        let column = match &field.data_type {
            DataType::Struct(inner) => {
                let below: Vec<Option<Level<'_>>> = values.map(|value| value.and_then(text::level)).collect();
                Some(fields(&below, inner, kind)?)
            }
            _ if kind == Kind::NullCount => Some(Arc::new(
                values
                    .map(|value| value.and_then(text::count))
                    .collect::<Int64Array>(),
            ) as ArrayRef),
            DataType::Primitive(primitive) if has_bounds(*primitive) => {
                let scalars: Vec<Option<Scalar>> = values
                    .map(|value| value.and_then(|value| text::bound(value, *primitive)))
                    .collect();
                Some(Scalar::to_column(&scalars, *primitive))
            }
            _ => None,
        };
        if let Some(column) = column {
            columns.push((
                Arc::new(Field::new(&field.name, column.data_type().clone(), true)),
                column,
            ));
        }
    }
    if columns.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(levels.len(), None)));
    }
    Ok(Arc::new(StructArray::from(columns)))
}

fn has_bounds(primitive: PrimitiveType) -> bool {
    !matches!(
        primitive,
        PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant
    )
}
