//! How the batches of a file become those of the scan: columns chosen and conformed, rows judged.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array,
};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{ArrowError, Fields, SchemaRef};
use arrow_select::filter::{filter_record_batch, prep_null_mask_filter};
use arrow_select::take::take;
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::{Scalar, evaluate};
use deltaic_protocol::partition::value_of;
use deltaic_protocol::schema::{StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::conform::{UNFIT, conform};
use super::find::{find, find_name};
use super::row_identity::RowIdentity;
use super::variant::to_json;
use crate::scan::{ROW_COMMIT_VERSION, ROW_ID, ScanTask, VariantAs};

/// How a file's batches become the scan's.
pub(super) struct FilePlan {
    /// All columns that are needed: those of the scan and those of the predicate.
    needed: StructType,
    /// Those of them that the file holds, if it is not too old to have them.
    from_file: Vec<StructField>,
    /// Where each needed column stands in the file's batches, once these are known.
    places: Vec<Option<usize>>,
    /// Partition values, an array of one row each.
    constants: Vec<(String, ArrayRef)>,
    /// What gives rows their identity, where that is asked for.
    identity: Option<RowIdentity>,
    needed_schema: SchemaRef,
    output_schema: SchemaRef,
    task: ScanTask,
}

impl FilePlan {
    pub(super) fn of(task: &ScanTask) -> Result<Self> {
        let context = &task.context;
        // As the table has them, whatever they are to come out as.
        let in_table = |field: &StructField| context.table_schema.field(&field.name).unwrap_or(field).clone();
        let mut needed = StructType {
            fields: context.output.fields.iter().map(in_table).collect(),
        };
        if let Some((_, predicate)) = &context.predicate {
            for column in predicate.columns() {
                if needed.field(column).is_none()
                    && let Some(field) = context.table_schema.field(column)
                {
                    needed.fields.push(field.clone());
                }
            }
        }
        let is_partition = |field: &StructField| context.partition_columns.contains(&field.name);
        let identity = RowIdentity::of(task);
        let is_identity = |field: &StructField| {
            identity.is_some() && [ROW_ID, ROW_COMMIT_VERSION].contains(&field.name.as_str())
        };
        let mut constants = Vec::new();
        // All partition values of a file are judged, asked for or not: one that cannot be read makes the file doubtful.
        for name in &context.partition_columns {
            if let Some(field) = context.table_schema.field(name) {
                let in_log = StructField {
                    name: name_in_log(field, context.column_mapping).to_owned(),
                    ..field.clone()
                };
                let scalar = value_of(&in_log, &task.partition_values)?;
                if let Some(primitive) = field.data_type.as_primitive() {
                    constants.push((name.clone(), Scalar::to_array(scalar.as_ref(), primitive)));
                }
            }
        }
        Ok(Self {
            from_file: needed
                .fields
                .iter()
                .filter(|field| !is_partition(field) && !is_identity(field))
                .cloned()
                .collect(),
            places: Vec::new(),
            identity,
            needed_schema: Arc::new(needed.to_arrow()?),
            output_schema: Arc::new(context.output.to_arrow()?),
            needed,
            constants,
            task: task.clone(),
        })
    }

    /// The columns of a file that are to be read.
    pub(super) fn roots(&self, file: &Fields) -> Result<Vec<usize>> {
        let mode = self.task.context.column_mapping;
        let found = self.from_file.iter().map(|field| find(file, field, mode));
        let mut roots: Vec<usize> = found.filter_map(Result::transpose).collect::<Result<_>>()?;
        let identity = self.identity.iter().flat_map(RowIdentity::columns);
        for name in identity {
            roots.extend(find_name(file, name)?);
        }
        Ok(roots)
    }

    /// Notes where the needed columns stand in batches of these columns: they are all of one schema.
    pub(super) fn settle(&mut self, batches: &Fields) -> Result<()> {
        let mode = self.task.context.column_mapping;
        let fields = self.needed.fields.iter();
        self.places = fields
            .map(|field| find(batches, field, mode))
            .collect::<Result<_>>()?;
        Ok(())
    }

    /// A batch of the file, the first of its rows at a position, as the scan's: of its rows those that are kept.
    pub(super) fn batch(
        &self,
        batch: &RecordBatch,
        first: u64,
        kept: Option<BooleanBuffer>,
    ) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let mode = self.task.context.column_mapping;
        let columns = self
            .needed
            .fields
            .iter()
            .zip(&self.places)
            .map(|(field, place)| {
                if let Some((_, one)) = self.constants.iter().find(|(name, _)| *name == field.name) {
                    return take(one, &UInt32Array::from(vec![0; rows]), None).map_err(failed);
                }
                match (&self.identity, field.name.as_str()) {
                    (Some(identity), ROW_ID) => return identity.row_ids(batch, first),
                    (Some(identity), ROW_COMMIT_VERSION) => return identity.row_commit_versions(batch),
                    _ => {}
                }
                match place {
                    Some(index) => conform(batch.column(*index), &field.data_type, &field.name, mode),
                    None => Ok(new_null_array(&field.data_type.to_arrow()?, rows)),
                }
            })
            .collect::<Result<Vec<ArrayRef>>>()?;
        ensure_nulls(&self.needed_schema, &columns)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let needed = RecordBatch::try_new_with_options(Arc::clone(&self.needed_schema), columns, &options)
            .map_err(failed)?;
        let kept = kept.map(|kept| BooleanArray::new(kept, None));
        let kept = match &self.task.context.predicate {
            None => kept,
            Some((_, predicate)) => {
                let answer = evaluate(predicate, &needed)?;
                Some(match kept {
                    None => answer,
                    // NULL is no yes.
                    Some(kept) => both(&kept, &answer),
                })
            }
        };
        let kept = match kept {
            None => needed,
            Some(kept) => filter_record_batch(&needed, &kept).map_err(failed)?,
        };
        let options = RecordBatchOptions::new().with_row_count(Some(kept.num_rows()));
        let asked = self.output_schema.fields().len();
        let columns = kept.columns().iter().zip(&self.needed.fields).take(asked);
        let columns = columns.map(|(column, field)| match self.task.context.variant {
            VariantAs::Arrow => Ok(Arc::clone(column)),
            VariantAs::Json => to_json(column, &field.data_type, &field.name),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new_with_options(Arc::clone(&self.output_schema), columns, &options).map_err(failed)
    }
}

/// Rows that are kept and match; NULL is no match.
fn both(kept: &BooleanArray, answer: &BooleanArray) -> BooleanArray {
    let answer = match answer.null_count() {
        0 => answer.values().clone(),
        _ => prep_null_mask_filter(answer).values().clone(),
    };
    BooleanArray::new(kept.values() & &answer, None)
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("the data file does not fit the table's schema: {error}"),
    )
    .hint(UNFIT)
}

/// Proves that no column has NULL where the table has none.
fn ensure_nulls(schema: &SchemaRef, columns: &[ArrayRef]) -> Result<()> {
    let mut both = schema.fields().iter().zip(columns);
    match both.find(|(field, column)| !field.is_nullable() && column.logical_null_count() > 0) {
        Some((field, _)) => Err(Error::new(
            ErrorKind::CorruptData,
            format!(
                "the file holds NULL in {}, which the table does not allow",
                field.name()
            ),
        )
        .with("field", field.name().as_str())
        .hint(UNFIT)),
        None => Ok(()),
    }
}
