//! The values of expressions, as Arrow arrays of any type, with Spark's ANSI semantics.
//!
//! Whole columns are computed. A branch of CASE, IF or COALESCE is evaluated only for the rows that reach it, so that it
//! raises only their errors.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Field, Schema};

use super::columns::column;
use super::{branches, lazy};
use crate::expr::Scalar;
use crate::expr::bound::{BoundValue, Computed, Node};
use crate::expr::cast::assign::assigned_values;
use crate::expr::cast::known::Known;
use crate::expr::failure::Failure;
use crate::expr::functions::{Call, Function, Meaning};
use crate::expr::kernels::intervals::moved;
use crate::expr::kernels::negation::negate;
use crate::expr::kernels::{Values, cast_or_null, cast_values, nested, primitive, scalars, text_tests};
use crate::expr::span::Source;
use crate::schema::PrimitiveType;
use crate::shown_row::shown_row;
use crate::{Error, ErrorKind, Result};

impl BoundValue {
    /// Evaluates the expression for each row of a batch, which has the columns of the schema.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate` with the position if Spark raises an error for a row: overflow, division by zero, an invalid
    /// cast.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        self.computed.evaluate(batch, self.text.source())
    }
}

impl Computed {
    /// The values of the rows of a batch. `source` is the text to which errors point.
    pub(in crate::expr) fn values(&self, batch: &RecordBatch, source: Source<'_>) -> Result<Values> {
        let rows = batch.num_rows();
        let failed = |failure: Failure| failure.at(source, self.at);
        let of = |part: &Self| part.values(batch, source);
        match &self.node {
            Node::Known(known) => Ok(Values::of_known(known)),
            Node::Null => Ok(Values::constant(new_null_array(&self.data_type.to_arrow()?, 1))),
            Node::Column(path) => column(batch, path).map(Values::of_rows),
            Node::Condition(condition) => condition
                .results(batch)
                .map(|found| Values::of_rows(Arc::new(found))),
            Node::Arithmetic(plan, sides) => {
                let [left, right] = sides.as_ref();
                let order = if plan.divides() { [1, 0] } else { [0, 1] };
                let [left, right] = lazy::pair([left, right], order, batch, source)?;
                plan.apply(&left, &right, rows).map_err(failed)
            }
            Node::Negate(inner) => {
                let from = primitive(&inner.data_type).map_err(failed)?;
                negate(&of(inner)?, from, rows).map_err(failed)
            }
            Node::Moved(inner, interval, backwards) => {
                let from = primitive(&inner.data_type).map_err(failed)?;
                let to = primitive(&self.data_type).map_err(failed)?;
                let values = of(inner)?;
                scalars(&[&values], rows, to, |row| {
                    let known = Known::computed(values.scalar(row, from), from);
                    Ok(moved(&known, *interval, *backwards)?.value)
                })
                .map_err(failed)
            }
            Node::Cast { inner, or_null } => {
                let from = primitive(&inner.data_type).map_err(failed)?;
                let to = primitive(&self.data_type).map_err(failed)?;
                let cast = if *or_null { cast_or_null } else { cast_values };
                cast(&of(inner)?, from, to, rows).map_err(failed)
            }
            Node::Assign { inner, column, hint } => {
                let from = primitive(&inner.data_type).map_err(failed)?;
                let to = primitive(&self.data_type).map_err(failed)?;
                assigned(&of(inner)?, (from, to), (column, hint), batch)
            }
            Node::TextTest(test, sides) => {
                let [text, part] = sides.as_ref();
                let [text, part] = lazy::pair([text, part], [0, 1], batch, source)?;
                text_tests::test(*test, &text, &part, rows).map_err(failed)
            }
            Node::Like(sides, escape) => {
                let [text, pattern] = sides.as_ref();
                let [text, pattern] = lazy::pair([text, pattern], [0, 1], batch, source)?;
                text_tests::like(&text, &pattern, *escape, rows).map_err(failed)
            }
            Node::Call(function, arguments) => self.call(function, arguments, batch, source),
            Node::Struct(parts) => {
                let values = parts.iter().map(of).collect::<Result<Vec<_>>>()?;
                nested::structure(&values, &self.data_type, rows).map_err(failed)
            }
            Node::Case { branches, otherwise } => {
                branches::case(branches, otherwise, &self.data_type, batch, source)
            }
            Node::Coalesce(parts) => branches::coalesce(parts, &self.data_type, batch, source),
            Node::With(operands, body) => body.values(&with_operands(batch, operands, source)?, source),
            Node::Field(inner, index) => nested::field(&of(inner)?, *index),
            Node::Element {
                of: inner,
                key,
                first,
            } => {
                let [values, keys] = lazy::pair([inner, key], [0, 1], batch, source)?;
                nested::element((&values, &inner.data_type), (&keys, &key.data_type), *first, rows)
                    .map_err(failed)
            }
        }
    }

    /// The results of a function of values.
    fn call(
        &self,
        function: &Function,
        arguments: &[Self],
        batch: &RecordBatch,
        source: Source<'_>,
    ) -> Result<Values> {
        let Meaning::Values { laziness, kernel, .. } = function.meaning else {
            return Err(Error::internal(format!(
                "{} is not a function of values",
                function.name()
            )));
        };
        let values = lazy::arguments(laziness, arguments, batch, source)?;
        let types: Vec<_> = arguments.iter().map(|argument| &argument.data_type).collect();
        let call = Call {
            values: &values,
            types: &types,
            data_type: &self.data_type,
            rows: batch.num_rows(),
        };
        kernel(&call).map_err(|failure| failure.at(source, self.at))
    }

    /// One value for each row of a batch, in an array of the expression's type.
    pub(in crate::expr) fn evaluate(&self, batch: &RecordBatch, source: Source<'_>) -> Result<ArrayRef> {
        self.values(batch, source)?.into_rows(batch.num_rows())
    }

    /// The value of an expression of a primitive type without columns.
    pub(in crate::expr) fn constant(&self, source: Source<'_>) -> Result<Option<Scalar>> {
        let Some(data_type) = self.data_type.as_primitive() else {
            return Err(Error::internal("a constant has a primitive type"));
        };
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options);
        let batch = batch.map_err(|error| Error::internal(format!("a row without columns: {error}")))?;
        Ok(self.values(&batch, source)?.scalar(0, data_type))
    }

    /// Whether the value is the same for all rows and depends on no operand.
    pub(in crate::expr) fn is_constant(&self) -> bool {
        let mut is_constant = true;
        self.for_each_path(&mut |_| is_constant = false);
        is_constant
    }
}

/// Numbers as the values of a column, which must keep them. An error has the row of the first one that it does not keep.
fn assigned(
    values: &Values,
    (from, to): (PrimitiveType, PrimitiveType),
    (column, hint): (&str, &str),
    batch: &RecordBatch,
) -> Result<Values> {
    match assigned_values(&values.array, from, to)? {
        Ok(kept) => Ok(values.with(kept)),
        Err(refused) => {
            let error = refused.error(column, &values.array, from, to);
            let row = match values.is_constant {
                true => None,
                false => shown_row(batch, refused.row),
            };
            let error = row.into_iter().fold(error, |error, row| error.with("row", row));
            Err(error.hint(hint))
        }
    }
}

/// The batch with the values of operands as further columns.
pub(in crate::expr) fn with_operands(
    batch: &RecordBatch,
    operands: &[(String, Computed)],
    source: Source<'_>,
) -> Result<RecordBatch> {
    let mut batch = batch.clone();
    for (name, operand) in operands {
        let array = operand.evaluate(&batch, source)?;
        let field = Field::new(name, array.data_type().clone(), true);
        let mut fields = batch.schema().fields().to_vec();
        fields.push(Arc::new(field));
        let schema = Schema::new(fields);
        let columns = batch.columns().iter().cloned().chain([array]).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        batch = RecordBatch::try_new_with_options(Arc::new(schema), columns, &options).map_err(|error| {
            Error::new(
                ErrorKind::InvalidPredicate,
                format!("the values of an operand do not form a batch: {error}"),
            )
        })?;
    }
    Ok(batch)
}
