//! Opens a data file, prunes it, and splits it into read units that are read concurrently.

use std::num::NonZero;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef};
use deltaic_protocol::{Error, Result};
use deltaic_storage::location::without_secrets;
use parquet::arrow::RowNumber;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::ConvertedType;
use parquet::file::metadata::ParquetMetaData;

use super::across_files::AcrossFiles;
use super::read_unit::ReadUnit;
use crate::read::columns::find::ensure_ids;
use crate::read::deletion_vectors::read_vectors::{read_vectors, vectors_of};
use crate::read::file::file_plan::FilePlan;
use crate::read::file::open_file::OpenFile;
use crate::read::local::page_starts::page_starts;
use crate::read::local::pages::indexed;
use crate::read::parquet::footer::{Footer, damaged, options};
use crate::read::parquet::page_guard::Packing;
use crate::read::parquet::page_index::with_page_index;
use crate::read::pruning::chunk_statistics::PruningPredicate;
use crate::read::pruning::chunk_values::with_values;
use crate::read::pruning::selection::{Group, PART_ROWS, cuts, cuts_at, rows_of as rows_of_group};
use crate::scan::Rows;
use crate::scan::{ScanTask, Selection, StringsAs};

/// Row groups of a local file are combined into one read unit up to this number of rows.
const UNIT_ROWS: u64 = 64 * 1024;

/// How a file is split for concurrent reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitPolicy {
    /// The maximum number of rows that will be used.
    pub(crate) limit: Option<usize>,
    /// Whether large row groups are split: there are more cores than files.
    pub(crate) in_parts: bool,
}

impl SplitPolicy {
    /// No split: the file is read sequentially.
    pub(crate) const WHOLE: Self = Self {
        limit: None,
        in_parts: false,
    };
}

/// Opens a task's file; `None` if partition values already rule out all of its rows.
#[tracing::instrument(target = "deltaic::scan", name = "open file", level = "debug", skip_all, fields(path = without_secrets(&task.path)))]
pub(crate) async fn open(task: ScanTask, cut: SplitPolicy, shared: &AcrossFiles) -> Result<Option<OpenFile>> {
    let (path, version) = (without_secrets(&task.path), task.context.version);
    let located = |error: Error| error.with("path", path.as_str()).with("version", version);
    try_open(task, cut, shared, &path).await.map_err(located)
}

async fn try_open(
    task: ScanTask,
    cut: SplitPolicy,
    shared: &AcrossFiles,
    shown: &str,
) -> Result<Option<OpenFile>> {
    let context = Arc::clone(&task.context);
    let residual = task.residual()?;
    if residual.matches_no_row() {
        return Ok(None);
    }
    let rows = rows_of(&task).await?;
    let path = context.location.resolve(&task.path)?;
    let store = Arc::clone(context.location.store());
    let footer = Footer::fetch(store, path, task.size, shown).await?;
    let mut footer = footer.with_rows(task.num_records)?;
    ensure_rows(&task, &rows, &footer.metadata)?;
    ensure_ids(footer.metadata.file_metadata().schema(), context.column_mapping)?;
    let plan = FilePlan::new(&task, &residual, &footer, &shared.plans)?;
    let question = match &residual.skips {
        Some(predicate) => Some(PruningPredicate::new(
            predicate,
            &context.table_schema,
            &|field| context.partition_columns.contains(&field.name),
            &footer,
            context.column_mapping,
        )?),
        None => None,
    };
    let mut kept = row_groups(question.as_ref(), &footer)?;
    if let Some(question) = &question {
        kept = with_values(
            question,
            &context.table_schema,
            &footer,
            kept,
            &plan.leaves,
            shown,
        )
        .await?;
    }
    let is_large =
        |(group, _): &(usize, u64)| cut.in_parts && rows_of_group(&footer.metadata, *group) >= 2 * PART_ROWS;
    if question.is_some() || cut.limit.is_some() || kept.iter().any(is_large) {
        let asked: Vec<usize> = question.iter().flat_map(PruningPredicate::leaves).collect();
        footer.metadata = with_page_index(
            &mut footer.file,
            &footer.metadata,
            &kept.iter().map(|(group, _)| *group).collect::<Vec<_>>(),
            &asked,
            &plan.leaves,
            shown,
        )
        .await?;
    }
    let is_local = context.location.file_system().is_some();
    let mut groups = Vec::new();
    for (index, first) in kept {
        let row_ranges = match &question {
            Some(question) => question.pages(&footer.metadata, index)?,
            None => None,
        };
        let Some(group) = Group::select(&footer.metadata, index, first, &rows, row_ranges.as_deref())? else {
            continue;
        };
        groups.extend(group.split(&cuts_of(&footer, index, &plan.leaves, cut, is_local).await)?);
    }
    let units = units_of(groups, is_local);
    let mut options = options().with_schema(decoded_as(&footer, &plan));
    if plan.needs_positions() {
        let position = Field::new("", ArrowType::Int64, false).with_extension_type(RowNumber);
        options = options
            .with_virtual_columns(vec![Arc::new(position)])
            .map_err(|error| damaged(&error, shown))?;
    }
    let bytes = plan.decimals.as_bytes(&footer.metadata);
    let arrow = bytes.and_then(|metadata| ArrowReaderMetadata::try_new(metadata, options));
    let arrow = arrow.map_err(|error| damaged(&error, shown))?;
    let packing = Packing::of(&footer.metadata);
    let indexed = Arc::new(indexed(&footer.metadata));
    Ok(Some(OpenFile {
        plan: Arc::new(plan),
        footer,
        arrow,
        units,
        limit: cut.limit,
        buffers: shared.buffers.clone(),
        packing,
        indexed,
    }))
}

/// Returns the rows at which a row group is split. Each part of a row group without a page index reads the headers of all
/// pages before it, so there are few.
async fn cuts_of(
    footer: &Footer,
    group: usize,
    leaves: &[usize],
    cut: SplitPolicy,
    is_local: bool,
) -> Vec<u64> {
    let rows = rows_of_group(&footer.metadata, group);
    if !cut.in_parts || rows < 2 * PART_ROWS {
        return Vec::new();
    }
    let cuts = cuts(&footer.metadata, group, leaves);
    if !cuts.is_empty() || !is_local {
        return cuts;
    }
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let part_rows = rows / u64::try_from(2 * cores).unwrap_or(u64::MAX);
    let starts = page_starts(footer, group, leaves).await;
    cuts_at(&starts, rows, part_rows.max(PART_ROWS))
}

/// Returns the types in which the file's columns are decoded. Strings are decoded as views, which copies no bytes; they
/// are laid out later to be compared, and if the scan returns them so.
fn decoded_as(footer: &Footer, plan: &FilePlan) -> SchemaRef {
    let columns = footer.metadata.file_metadata().schema_descr();
    // The Parquet reader validates these alone.
    let is_text = |root: usize| {
        let column = columns.root_schema().get_fields().get(root);
        column.is_some_and(|column| column.get_basic_info().converted_type() == ConvertedType::UTF8)
    };
    let view = |root: usize, field: &Field| match field.data_type() {
        ArrowType::Utf8 if !is_text(root) => None,
        other => StringsAs::View.of_type(other),
    };
    let fields = footer.schema.fields().iter().enumerate();
    let fields =
        fields.map(
            |(root, field)| match plan.decimals.decoded_as(root).or_else(|| view(root, field)) {
                Some(other) => Arc::new(field.as_ref().clone().with_data_type(other)),
                None => Arc::clone(field),
            },
        );
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns the row groups that may contain a matching row, with the position of each group's first row in the file.
fn row_groups(question: Option<&PruningPredicate<'_>>, footer: &Footer) -> Result<Vec<(usize, u64)>> {
    let kept = match question {
        Some(question) => question.row_groups(&footer.metadata)?,
        None => vec![true; footer.metadata.num_row_groups()],
    };
    let mut first = 0u64;
    let mut groups = Vec::new();
    for (index, kept) in kept.into_iter().enumerate() {
        if kept {
            groups.push((index, first));
        }
        first = first.saturating_add(rows_of_group(&footer.metadata, index));
    }
    Ok(groups)
}

/// Returns the row groups of each read unit, in order. Small row groups of a local file are combined; a row group that
/// must be fetched is not.
fn units_of(groups: Vec<Group>, is_local: bool) -> Vec<Vec<Group>> {
    let mut units: Vec<Vec<Group>> = Vec::new();
    let mut rows = 0u64;
    for group in groups {
        rows = rows.saturating_add(group.rows);
        match units.last_mut() {
            Some(unit) if is_local && rows <= UNIT_ROWS => unit.push(group),
            _ => {
                rows = group.rows;
                units.push(vec![group]);
            }
        }
    }
    units
}

impl OpenFile {
    /// Returns the read units in order.
    pub(crate) fn read_units(mut self) -> Vec<ReadUnit> {
        let units = std::mem::take(&mut self.units);
        let file = Arc::new(self);
        let units = units.into_iter();
        units
            .map(|groups| ReadUnit {
                file: Arc::clone(&file),
                groups,
            })
            .collect()
    }
}

/// Returns the selected rows of the file. Reads its deletion vectors unless that was done before.
async fn rows_of(task: &ScanTask) -> Result<Rows> {
    if !matches!(task.rows, Rows::All) || task.selection == Selection::All {
        return Ok(task.rows.clone());
    }
    let vectors = read_vectors(&task.context.location, vectors_of(task).collect()).await?;
    Rows::of(&task.selection, &mut vectors.into_iter())
}

/// Verifies that the file has every row that its deletion vector refers to.
fn ensure_rows(task: &ScanTask, rows: &Rows, file: &ParquetMetaData) -> Result<()> {
    match (rows.vector(), task.selection.vectors().next()) {
        (Some(vector), Some(descriptor)) => {
            let has = u64::try_from(file.file_metadata().num_rows()).unwrap_or(0);
            descriptor.check_rows(vector, has)
        }
        _ => Ok(()),
    }
}
