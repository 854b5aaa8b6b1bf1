//! Shreds the variants of a file: values that most rows have are stored in typed columns.
//!
//! Parquet: *Variant Shredding*. Types are chosen from the first rows of a file. A value is stored in a typed column only
//! if it has exactly its type, so that it is read back unchanged.

mod infer;
mod shape;
mod shred;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{DataType as ArrowType, Field, FieldRef, Schema, SchemaRef};
use deltaic_protocol::schema::VARIANT_EXTENSION;
use deltaic_protocol::{Error, Result};

use infer::infer;
use shape::Shape;
use shred::shred;

/// How the columns of a file are shredded, by position.
pub(in crate::write) struct Shredding {
    columns: Vec<Node>,
    schema: SchemaRef,
}

/// How a column is written.
enum Node {
    Unchanged,
    Shredded(Shape),
    Struct(Vec<Node>),
}

impl Shredding {
    /// Chooses how to shred the variants of a file with these columns from its first rows; `None` if nothing is shredded.
    /// Only variants outside of arrays and maps are shredded.
    ///
    /// # Errors
    ///
    /// `CorruptData` for an invalid variant.
    pub(in crate::write) fn choose(file: &SchemaRef, first: &RecordBatch) -> Result<Option<Self>> {
        let parts = file.fields().iter().zip(first.columns());
        let columns: Vec<Node> = parts
            .map(|(field, column)| Node::choose(field, column))
            .collect::<Result<_>>()?;
        if columns.iter().all(Node::is_unchanged) {
            return Ok(None);
        }
        let fields = file.fields().iter().zip(&columns);
        let fields: Vec<FieldRef> = fields.map(|(field, node)| node.field(field)).collect();
        Ok(Some(Self {
            columns,
            schema: Arc::new(Schema::new(fields)),
        }))
    }

    /// The schema of the file.
    pub(in crate::write) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Shreds the variants of a batch.
    ///
    /// # Errors
    ///
    /// `CorruptData` for an invalid variant.
    pub(in crate::write) fn apply(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.columns.iter().zip(rows.columns());
        let columns: Vec<ArrayRef> = columns
            .map(|(node, column)| node.apply(column))
            .collect::<Result<_>>()?;
        let fields = self.schema.fields().iter().zip(&columns);
        // The levels of the file follow from its schema; the batch has the nullability of the arrays.
        let fields: Vec<Field> = fields
            .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
            .map_err(|error| Error::internal(format!("variants cannot be shredded: {error}")))
    }
}

impl Node {
    fn choose(field: &Field, column: &ArrayRef) -> Result<Self> {
        let Some(group) = column.as_struct_opt() else {
            return Ok(Self::Unchanged);
        };
        if field.extension_type_name() == Some(VARIANT_EXTENSION) {
            return Ok(infer(group)?.map_or(Self::Unchanged, Self::Shredded));
        }
        let ArrowType::Struct(fields) = field.data_type() else {
            return Ok(Self::Unchanged);
        };
        let parts = fields.iter().zip(group.columns());
        let parts: Vec<Self> = parts
            .map(|(field, column)| Self::choose(field, column))
            .collect::<Result<_>>()?;
        Ok(match parts.iter().all(Self::is_unchanged) {
            true => Self::Unchanged,
            false => Self::Struct(parts),
        })
    }

    fn is_unchanged(&self) -> bool {
        matches!(self, Self::Unchanged)
    }

    fn field(&self, field: &FieldRef) -> FieldRef {
        let data_type = match (self, field.data_type()) {
            (Self::Shredded(shape), _) => shape.group_with_metadata(),
            (Self::Struct(parts), ArrowType::Struct(fields)) => {
                let fields = fields.iter().zip(parts);
                ArrowType::Struct(fields.map(|(field, part)| part.field(field)).collect())
            }
            _ => return Arc::clone(field),
        };
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    }

    fn apply(&self, column: &ArrayRef) -> Result<ArrayRef> {
        let (Self::Shredded(_) | Self::Struct(_), Some(group)) = (self, column.as_struct_opt()) else {
            return Ok(Arc::clone(column));
        };
        let parts = match self {
            Self::Shredded(shape) => return shred(group, shape),
            Self::Struct(parts) => parts,
            Self::Unchanged => return Ok(Arc::clone(column)),
        };
        let columns = parts.iter().zip(group.columns());
        let columns: Vec<ArrayRef> = columns
            .map(|(part, column)| part.apply(column))
            .collect::<Result<_>>()?;
        let fields = group.fields().iter().zip(&columns);
        let fields = fields.map(|(field, column)| {
            Arc::new(field.as_ref().clone().with_data_type(column.data_type().clone()))
        });
        let rebuilt = StructArray::try_new(fields.collect(), columns, group.nulls().cloned());
        Ok(Arc::new(rebuilt.map_err(|error| {
            Error::internal(format!("variants cannot be shredded: {error}"))
        })?))
    }
}

#[cfg(test)]
mod tests;
