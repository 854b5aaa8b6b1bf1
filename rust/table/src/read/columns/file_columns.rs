//! Builds columns of the table from the batches of a file.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow_schema::{Fields, SchemaRef};
use arrow_select::take::take;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::schema::{DeclaredType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::conform::conform;
use super::leaves::{InFile, in_file};
use super::padded::padded;
use super::string_form::laid_out;
use super::unfit::{UNFIT, unfit};
use crate::scan::Constants;

/// Columns of the table and their locations in a file.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    fields: Vec<StructField>,
    schema: SchemaRef,
    in_file: Vec<InFile>,
    /// The declared types of columns with texts of `char(n)`.
    declared: Vec<Option<DeclaredType>>,
    mode: ColumnMappingMode,
}

impl Columns {
    /// Finds columns in a file, except those for which `is_elsewhere` returns true.
    pub(crate) fn find(
        fields: Vec<StructField>,
        file: &Fields,
        mode: ColumnMappingMode,
        is_elsewhere: &dyn Fn(&StructField) -> bool,
    ) -> Result<Self> {
        let found = fields.iter().map(|field| match is_elsewhere(field) {
            true => Ok(InFile::default()),
            false => in_file(file, field, mode),
        });
        let in_file = found.collect::<Result<_>>()?;
        let wanted = StructType { fields };
        let declared = wanted.fields.iter().map(StructField::declared_lengths);
        Ok(Self {
            declared: declared
                .map(|declared| declared.filter(DeclaredType::has_char))
                .collect(),
            schema: Arc::new(wanted.to_arrow()?),
            fields: wanted.fields,
            in_file,
            mode,
        })
    }

    /// The columns, as in the schema of the table.
    pub(crate) fn fields(&self) -> &[StructField] {
        &self.fields
    }

    /// The leaves of the file that contain the columns.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = usize> {
        self.in_file.iter().flat_map(|found| found.leaves.iter().copied())
    }

    /// The root columns of the file that contain the columns.
    pub(crate) fn roots(&self) -> impl Iterator<Item = usize> {
        self.in_file.iter().filter_map(|found| found.root)
    }

    /// Builds the columns from a batch with these root columns of the file. Partition columns come from `constants`,
    /// and `elsewhere` may provide others. Strings that are views stay views.
    pub(crate) fn arrays(
        &self,
        batch: &RecordBatch,
        roots: &Roots,
        constants: &Constants,
        elsewhere: &dyn Fn(&StructField) -> Option<Result<ArrayRef>>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = batch.num_rows();
        let parts = self.fields.iter().zip(&self.in_file).zip(&self.declared);
        let columns = parts.map(|((field, found), declared)| {
            if let Some((_, one)) = constants.iter().find(|(name, _)| *name == field.name) {
                return take(one, &UInt32Array::from(vec![0; rows]), None).map_err(unfit);
            }
            if let Some(column) = elsewhere(field) {
                return column;
            }
            match found.root.and_then(|root| roots.place(root)) {
                Some(place) => {
                    let column = conform(batch.column(place), &field.data_type, &field.name, self.mode)?;
                    match declared {
                        Some(declared) => padded(&laid_out(column)?, declared, &field.name),
                        None => Ok(column),
                    }
                }
                None => Ok(new_null_array(&field.data_type.to_arrow()?, rows)),
            }
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        ensure_nulls(&self.schema, &columns)?;
        Ok(columns)
    }

    /// The same as a batch, of which no string is a view.
    pub(crate) fn of_batch(
        &self,
        batch: &RecordBatch,
        roots: &Roots,
        constants: &Constants,
        elsewhere: &dyn Fn(&StructField) -> Option<Result<ArrayRef>>,
    ) -> Result<RecordBatch> {
        let columns = self.arrays(batch, roots, constants, elsewhere)?.into_iter();
        let columns = columns.map(laid_out).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options).map_err(unfit)
    }
}

/// The root columns of a file that its batches contain, in the file's order.
#[derive(Clone, Debug)]
pub(crate) struct Roots(Vec<usize>);

impl Roots {
    pub(crate) fn new(mut roots: Vec<usize>) -> Self {
        roots.sort_unstable();
        roots.dedup();
        Self(roots)
    }

    /// The root columns, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }

    /// Returns the position of a root column in a batch.
    pub(crate) fn place(&self, root: usize) -> Option<usize> {
        self.0.binary_search(&root).ok()
    }

    /// The number of root columns; further columns of a batch are not from the file.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Verifies that no NOT NULL column contains a NULL.
fn ensure_nulls(schema: &SchemaRef, columns: &[ArrayRef]) -> Result<()> {
    let mut both = schema.fields().iter().zip(columns);
    match both.find(|(field, column)| !field.is_nullable() && column.logical_null_count() > 0) {
        Some((field, _)) => Err(Error::new(
            ErrorKind::CorruptData,
            format!(
                "the file has NULL in {}, which the table does not allow",
                field.name()
            ),
        )
        .with("field", field.name().as_str())
        .hint(UNFIT)),
        None => Ok(()),
    }
}
