//! The residual predicate on the rows of a file, given its partition values.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::expr::{BoundPredicate, Scalar, evaluate};
use deltaic_protocol::partition::value_of;
use deltaic_protocol::schema::StructField;
use deltaic_protocol::{Error, Result};

use super::task::ScanTask;

/// The values of the partition columns of a file, as arrays of one row each.
pub(crate) type Constants = Vec<(String, ArrayRef)>;

/// The partition values of a file, and what they leave of the predicate: known before the file is opened.
pub(crate) struct Residual {
    /// The partition values.
    pub(crate) constants: Constants,
    /// The residual predicate on the rows; `None` if all rows match.
    pub(crate) predicate: Option<BoundPredicate>,
    /// Rows for which this is not true are skipped as far as the file's statistics show them; `None` skips none.
    pub(crate) skips: Option<BoundPredicate>,
}

impl ScanTask {
    /// Parses all partition values of the file, requested or not: an invalid one is an error.
    pub(crate) fn residual(&self) -> Result<Residual> {
        let context = &self.context;
        let mut constants = Vec::new();
        for name in &context.partition_columns {
            if let Some(field) = context.table_schema.field(name) {
                let in_log = StructField {
                    name: name_in_log(field, context.column_mapping).to_owned(),
                    ..field.clone()
                };
                let scalar = value_of(&in_log, &self.partition_values)?;
                if let Some(primitive) = field.data_type.as_primitive() {
                    constants.push((name.clone(), Scalar::to_array(scalar.as_ref(), primitive)));
                }
            }
        }
        let of_file = |predicate: Option<&BoundPredicate>| -> Result<Option<BoundPredicate>> {
            let Some(predicate) = predicate else {
                return Ok(None);
            };
            let residual = residual(predicate, &row_of(&constants)?)?;
            Ok(Some(residual).filter(|residual| *residual != BoundPredicate::Constant(Some(true))))
        };
        let predicate = of_file(context.predicate.as_ref().map(|(_, predicate)| predicate))?;
        let skips = of_file(context.skips.as_ref())?;
        let skips = BoundPredicate::all_of(predicate.iter().cloned().chain(skips).collect());
        Ok(Residual {
            constants,
            predicate,
            skips,
        })
    }
}

impl Residual {
    /// Whether no row can match, whatever the file contains.
    pub(crate) fn matches_no_row(&self) -> bool {
        let conjuncts = self.skips.iter().flat_map(BoundPredicate::conjuncts);
        let is_no = |part: &BoundPredicate| {
            matches!(
                part,
                BoundPredicate::Constant(None) | BoundPredicate::Constant(Some(false))
            )
        };
        conjuncts.into_iter().any(is_no)
    }
}

/// Returns the partition values as a batch of one row.
fn row_of(constants: &Constants) -> Result<RecordBatch> {
    let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = constants
        .iter()
        .map(|(name, one)| (Field::new(name, one.data_type().clone(), true), Arc::clone(one)))
        .unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(|error| {
        let message = format!("the partition values do not form a batch: {error}");
        Error::internal(message)
    })
}

/// Replaces every part of the predicate that uses only these columns by its result; `values` has one row.
///
/// For any values of the file's other columns, the result is TRUE for the same rows as the predicate.
fn residual(predicate: &BoundPredicate, values: &RecordBatch) -> Result<BoundPredicate> {
    Ok(match predicate {
        BoundPredicate::And(parts) => joined(parts, values, true)?,
        BoundPredicate::Or(parts) => joined(parts, values, false)?,
        BoundPredicate::Not(inner) => match residual(inner, values)? {
            BoundPredicate::Constant(value) => BoundPredicate::Constant(value.map(|value| !value)),
            inner => BoundPredicate::Not(Box::new(inner)),
        },
        BoundPredicate::Constant(_) => predicate.clone(),
        question => {
            let columns = question.columns();
            let is_known = |column: &&str| values.column_by_name(column).is_some();
            if columns.is_empty() || !columns.iter().all(is_known) {
                return Ok(question.clone());
            }
            let answer = match evaluate(question, values) {
                Ok(answer) => answer,
                // The rows raise the error, if there are any.
                Err(_) if question.can_fail() => return Ok(question.clone()),
                Err(error) => return Err(error),
            };
            let answer = (answer.len() == 1 && answer.is_valid(0)).then(|| answer.value(0));
            BoundPredicate::Constant(answer)
        }
    })
}

/// Simplifies the parts of an AND, for which `neutral` is true, or of an OR.
fn joined(parts: &[BoundPredicate], values: &RecordBatch, neutral: bool) -> Result<BoundPredicate> {
    let mut left = Vec::with_capacity(parts.len());
    for part in parts {
        match residual(part, values)? {
            BoundPredicate::Constant(Some(value)) if value == neutral => {}
            BoundPredicate::Constant(Some(value)) => return Ok(BoundPredicate::Constant(Some(value))),
            part => left.push(part),
        }
    }
    let only = if left.len() == 1 { left.pop() } else { None };
    Ok(match only {
        Some(only) => only,
        None if left.is_empty() => BoundPredicate::Constant(Some(neutral)),
        None if left.iter().all(|part| *part == BoundPredicate::Constant(None)) => {
            BoundPredicate::Constant(None)
        }
        None if neutral => BoundPredicate::And(left),
        None => BoundPredicate::Or(left),
    })
}
