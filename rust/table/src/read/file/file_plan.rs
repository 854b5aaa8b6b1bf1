//! The read plan of a file: which columns are decoded to filter and for output, and how batches become those of the
//! scan.

use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_select::filter::{filter_record_batch, prep_null_mask_filter};
use deltaic_protocol::expr::{BoundPredicate, evaluate};
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::skipping::columns_of;
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::arrow_reader::RowSelectionPolicy;

use super::batch_rows::batch_rows;
use super::known_plans::{KnownPlans, OutputPlan};
use super::row_identity::RowIdentity;
use crate::read::columns::decimals::Decimals;
use crate::read::columns::file_columns::{Columns, Roots};
use crate::read::columns::find::find_name;
use crate::read::columns::leaves::{of_root, on_paths};
use crate::read::columns::string_form::in_form;
use crate::read::columns::unfit::unfit;
use crate::read::columns::variant::to_json;
use crate::read::parquet::footer::Footer;
use crate::read::pruning::selection::Group;
use crate::scan::{
    Constants, FILE_PATH, FILE_POSITION, ROW_COMMIT_VERSION, ROW_ID, Residual, ScanTask, VariantAs,
};

/// Runs of rows that are shorter than this on average are decoded together with the gaps between them, which is faster.
const SHORT_RUN: usize = 32;
/// The same threshold if most rows are selected, as by a deletion vector: then the gaps cost little.
const SHORT_RUN_OF_MOST: usize = 1024;

/// A filter on rows, and its columns.
pub(crate) struct Stage {
    predicate: BoundPredicate,
    pub(crate) columns: Columns,
}

/// How batches of a file become batches of the scan.
pub(crate) struct FilePlan {
    pub(crate) task: ScanTask,
    constants: Constants,
    output: Arc<OutputPlan>,
    /// The filters on rows, cheap ones first.
    pub(crate) stages: Vec<Stage>,
    /// The row ids and row commit versions, if requested, and the columns in which the file stores them.
    identity: Option<RowIdentity>,
    /// The leaves of the output columns.
    pub(crate) output_leaves: Vec<usize>,
    /// The leaves of the output columns and of the filters.
    pub(crate) leaves: Vec<usize>,
    /// Whether rows are filtered before the output columns are decoded.
    pub(crate) is_late: bool,
    /// The file's root columns in the decoded batches: those of the output, and without late decoding also those of the
    /// filters.
    pub(crate) roots: Roots,
    pub(crate) batch_rows: usize,
    /// Decimals that are decoded as bytes.
    pub(crate) decimals: Decimals,
    /// The path of the file, as often as the first batch has rows: other batches use a part of it.
    paths: OnceLock<StringArray>,
}

impl FilePlan {
    pub(crate) fn new(
        task: &ScanTask,
        residual: &Residual,
        footer: &Footer,
        known: &KnownPlans,
    ) -> Result<Self> {
        let context = &task.context;
        let file = footer.schema.fields();
        let mode = context.column_mapping;
        let identity = RowIdentity::of(task);
        let is_elsewhere = |field: &StructField| {
            context.partition_columns.contains(&field.name)
                || identity.is_some() && [ROW_ID, ROW_COMMIT_VERSION].contains(&field.name.as_str())
                || context.positions && [FILE_PATH, FILE_POSITION].contains(&field.name.as_str())
        };
        let output = known.of(context, &footer.schema, || {
            Ok(OutputPlan {
                columns: Columns::find(context.in_table(), file, mode, &is_elsewhere)?,
                schema: Arc::new(context.arrow_schema()?),
            })
        })?;
        let mut stages = Vec::new();
        let stages_of = |predicate| stages_of(predicate, &context.table_schema);
        for predicate in residual.predicate.iter().flat_map(stages_of) {
            let paths = columns_of(&predicate);
            let fields = on_paths(&context.table_schema, &paths);
            let is_partition = |field: &StructField| context.partition_columns.contains(&field.name);
            let columns = Columns::find(fields, file, mode, &is_partition)?;
            stages.push(Stage { predicate, columns });
        }
        let mut roots: Vec<usize> = output.columns.roots().collect();
        let mut output_leaves: Vec<usize> = output.columns.leaves().collect();
        for name in identity.iter().flat_map(RowIdentity::columns) {
            if let Some(root) = find_name(file, name)? {
                roots.push(root);
                output_leaves.extend(of_root(file, root));
            }
        }
        let evaluated: Vec<usize> = stages.iter().flat_map(|stage| stage.columns.leaves()).collect();
        let is_late = !stages.is_empty() && output_leaves.iter().any(|leaf| !evaluated.contains(leaf));
        if !is_late {
            roots.extend(stages.iter().flat_map(|stage| stage.columns.roots()));
        }
        let leaves = [output_leaves.as_slice(), &evaluated].concat();
        let batch_rows = context
            .batch_size
            .unwrap_or_else(|| batch_rows(&footer.metadata, &leaves));
        let decimals = Decimals::find(&footer.metadata, &footer.schema, &leaves);
        Ok(Self {
            task: task.clone(),
            constants: residual.constants.clone(),
            output,
            stages,
            identity,
            leaves,
            output_leaves,
            is_late,
            roots: Roots::new(roots),
            batch_rows,
            decimals,
            paths: OnceLock::new(),
        })
    }

    /// The rows of each batch of so many rows. The Parquet reader allocates and zeroes every buffer for a full batch,
    /// so they have about the same size.
    pub(crate) fn batch_rows_of(&self, rows: usize) -> usize {
        let rows = rows.max(1);
        match self.task.context.batch_size {
            Some(size) => size.min(rows),
            None => rows.div_ceil(rows.div_ceil(self.batch_rows)),
        }
    }

    /// The path of the file for each row.
    fn paths(&self, rows: usize) -> ArrayRef {
        let repeated = || StringArray::from_iter_values(std::iter::repeat_n(self.task.path.as_str(), rows));
        let paths = self.paths.get_or_init(repeated);
        match rows <= paths.len() {
            true => Arc::new(paths.slice(0, rows)),
            false => Arc::new(repeated()),
        }
    }

    /// Returns how the rows of row groups that are not selected are skipped.
    pub(crate) fn selection_policy(&self, groups: &[Group]) -> RowSelectionPolicy {
        let selected: u64 = groups.iter().map(|group| group.rows).sum();
        let spanned: u64 = groups.iter().map(Group::span).sum();
        let threshold = match self.stages.is_empty() && selected >= spanned / 2 {
            true => SHORT_RUN_OF_MOST,
            false => SHORT_RUN,
        };
        RowSelectionPolicy::Auto { threshold }
    }

    /// Whether the positions of rows in the file are needed.
    pub(crate) fn needs_positions(&self) -> bool {
        self.identity.is_some() || self.task.context.positions
    }

    /// Returns whether each row of a batch matches a filter stage; NULL counts as false.
    pub(crate) fn evaluate_filters(
        &self,
        stage: usize,
        batch: &RecordBatch,
        roots: &Roots,
    ) -> Result<BooleanArray> {
        let Some(stage) = self.stages.get(stage) else {
            return Ok(BooleanArray::from(vec![true; batch.num_rows()]));
        };
        let batch = self.decimals.of_batch(batch, roots)?;
        let columns = stage
            .columns
            .of_batch(&batch, roots, &self.constants, &|_| None)?;
        let answer = evaluate(&stage.predicate, &columns)?;
        Ok(match answer.null_count() {
            0 => answer,
            _ => prep_null_mask_filter(&answer),
        })
    }

    /// Converts a batch of the file to a batch of the scan. Filters its rows first, unless they were filtered before
    /// decoding.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let roots = &self.roots;
        let batch = self.decimals.of_batch(batch, roots)?;
        let batch = batch.as_ref();
        let evaluated;
        let batch = match self.stages.is_empty() || self.is_late {
            true => batch,
            false => {
                let mut kept: Option<BooleanArray> = None;
                for stage in 0..self.stages.len() {
                    let answer = self.evaluate_filters(stage, batch, roots)?;
                    kept = Some(match kept {
                        None => answer,
                        Some(kept) => BooleanArray::new(kept.values() & answer.values(), None),
                    });
                }
                evaluated = match kept {
                    Some(kept) => filter_record_batch(batch, &kept).map_err(unfit)?,
                    None => batch.clone(),
                };
                &evaluated
            }
        };
        let of_identity = |field: &StructField| match (field.name.as_str(), &self.identity) {
            (ROW_ID, Some(identity)) => Some(
                positions(batch, roots).and_then(|positions| identity.row_ids(batch, positions.values())),
            ),
            (ROW_COMMIT_VERSION, Some(identity)) => Some(identity.row_commit_versions(batch)),
            (FILE_PATH, _) if self.task.context.positions => Some(Ok(self.paths(batch.num_rows()))),
            (FILE_POSITION, _) if self.task.context.positions => {
                Some(positions(batch, roots).map(|positions| Arc::new(positions.clone()) as ArrayRef))
            }
            _ => None,
        };
        let columns = self
            .output
            .columns
            .arrays(batch, roots, &self.constants, &of_identity)?;
        let context = &self.task.context;
        let columns = columns
            .into_iter()
            .zip(self.output.columns.fields())
            .map(|(column, field)| {
                let column = match context.variant {
                    VariantAs::Arrow => column,
                    VariantAs::Json => to_json(&column, &field.data_type, &field.name)?,
                };
                in_form(column, context.strings)
            });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.output.schema), columns, &options).map_err(unfit)
    }
}

/// Returns the positions in the file of a batch's rows, which are in the column after those of the file.
fn positions<'a>(batch: &'a RecordBatch, roots: &Roots) -> Result<&'a Int64Array> {
    let column = batch.columns().get(roots.len());
    column
        .and_then(|column| column.as_primitive_opt())
        .ok_or_else(|| Error::new(ErrorKind::CorruptData, "the rows of the file have no positions"))
}

/// Splits the conjuncts of a predicate into two filters: those on numeric columns alone, which decode fast, and the
/// others, which are then evaluated for fewer rows. Conjuncts that can fail for a row are among the latter.
fn stages_of(predicate: &BoundPredicate, table: &StructType) -> Vec<BoundPredicate> {
    let (cheap, dear): (Vec<_>, Vec<_>) =
        predicate.conjuncts().into_iter().cloned().partition(|part| {
            !part.can_fail() && on_paths(table, &columns_of(part)).iter().all(is_of_numbers)
        });
    [cheap, dear]
        .into_iter()
        .filter_map(BoundPredicate::all_of)
        .collect()
}

fn is_of_numbers(field: &StructField) -> bool {
    match &field.data_type {
        DataType::Primitive(PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Variant) => false,
        DataType::Primitive(_) => true,
        DataType::Struct(below) => below.fields.iter().all(is_of_numbers),
        _ => false,
    }
}
