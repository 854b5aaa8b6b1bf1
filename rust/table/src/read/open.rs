//! One data file: opened, and cut into pieces that are read side by side, of what may hold a row that matches.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType as ArrowType, Field};
use deltaic_log::location::without_secrets;
use deltaic_protocol::{Error, Result};
use futures::{Stream, StreamExt, TryStreamExt};
use parquet::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ArrowReaderMetadata, RowFilter, RowSelection, RowSelectionPolicy,
};
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask, RowNumber};
use parquet::file::metadata::ParquetMetaData;

use super::chunk_statistics::Question;
use super::chunk_values::with_values;
use super::columns::Roots;
use super::deletion_vectors::{read_vectors, vectors_of};
use super::file_plan::{Asked, FilePlan};
use super::find::ensure_ids;
use super::footer::{Footer, damaged, miscounted, options};
use super::known_plans::KnownPlans;
use super::page_index::with_page_index;
use super::rows::Rows;
use super::selection::{Group, PART_ROWS, cuts, rows_of as rows_of_group};
use super::weighed::{Chunks, Weighed};
use crate::scan::{ScanTask, Selection};

/// Rows of a piece: row groups of a local file are put together until they have as many.
const PIECE_ROWS: u64 = 64 * 1024;
/// Decoded values that are kept from judging rows to handing them out, for each row group.
const KEPT_BYTES: usize = 32 << 20;
/// Runs of rows that are shorter than this on average are decoded with what lies between them, which is quicker.
const SHORT_RUN: usize = 32;
/// The same where deletion vectors alone choose: most rows stay then.
const SHORT_RUN_OF_VECTORS: usize = 1024;

/// A file that is ready to be read.
pub(super) struct OpenFile {
    plan: Arc<FilePlan>,
    footer: Footer,
    chunks: Arc<Chunks>,
    arrow: ArrowReaderMetadata,
    groups: Vec<Group>,
    limit: Option<usize>,
}

/// How much of a file is decoded, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) row_groups: usize,
    /// Pages of the columns that are read.
    pub(crate) pages: usize,
    pub(crate) rows: u64,
    /// Packed bytes of the columns that are read.
    pub(crate) bytes: u64,
}

impl Amount {
    /// Both together.
    pub(crate) fn add(&mut self, other: Self) {
        self.row_groups = self.row_groups.saturating_add(other.row_groups);
        self.pages = self.pages.saturating_add(other.pages);
        self.rows = self.rows.saturating_add(other.rows);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Row groups of a file, which are read one after the other.
pub(super) struct Piece {
    file: Arc<OpenFile>,
    groups: Vec<Group>,
}

/// How a file is cut up for those who read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// No more rows of it will be looked at.
    pub(super) limit: Option<usize>,
    /// Whether large row groups are cut: there are more readers than files.
    pub(super) in_parts: bool,
}

impl Cut {
    /// For one who reads it from the first row to the last.
    pub(super) const WHOLE: Self = Self {
        limit: None,
        in_parts: false,
    };
}

/// Opens a task's file; none where the log knows already that no row of it matches.
pub(super) async fn open(task: ScanTask, cut: Cut, known: &KnownPlans) -> Result<Option<OpenFile>> {
    let (path, version) = (without_secrets(&task.path), task.context.version);
    let located = |error: Error| error.with("path", path.as_str()).with("version", version);
    try_open(task, cut, known, &path).await.map_err(located)
}

async fn try_open(task: ScanTask, cut: Cut, known: &KnownPlans, shown: &str) -> Result<Option<OpenFile>> {
    let context = Arc::clone(&task.context);
    let asked = Asked::of(&task)?;
    if asked.is_hopeless() {
        return Ok(None);
    }
    let rows = rows_of(&task).await?;
    let path = context.location.resolve(&task.path)?;
    let store = Arc::clone(context.location.store());
    let mut footer = Footer::fetch(store, path, task.size, shown).await?;
    ensure_rows(&task, &rows, &footer.metadata)?;
    ensure_ids(footer.metadata.file_metadata().schema(), context.column_mapping)?;
    let plan = FilePlan::new(&task, &asked, &footer, known)?;
    let question = match &asked.predicate {
        Some(predicate) => Some(Question::new(
            predicate,
            &context.table_schema,
            &|field| context.partition_columns.contains(&field.name),
            &footer,
            context.column_mapping,
        )?),
        None => None,
    };
    let mut kept = row_groups(question.as_ref(), &footer)?;
    let leaves = [plan.output_leaves(), plan.stage_leaves()].concat();
    if let Some(question) = &question {
        kept = with_values(question, &context.table_schema, &footer, kept, &leaves, shown).await?;
    }
    let is_large =
        |(group, _): &(usize, u64)| cut.in_parts && rows_of_group(&footer.metadata, *group) >= 2 * PART_ROWS;
    if question.is_some() || cut.limit.is_some() || kept.iter().any(is_large) {
        let asked: Vec<usize> = question.iter().flat_map(Question::leaves).collect();
        footer.metadata = with_page_index(
            &mut footer.file,
            &footer.metadata,
            &kept.iter().map(|(group, _)| *group).collect::<Vec<_>>(),
            &asked,
            &leaves,
            shown,
        )
        .await?;
    }
    let mut groups = Vec::new();
    for (index, first) in kept {
        let stretches = match &question {
            Some(question) => question.pages(&footer.metadata, index)?,
            None => None,
        };
        let Some(group) = Group::select(&footer.metadata, index, first, &rows, stretches.as_deref())? else {
            continue;
        };
        match cuts(&footer.metadata, index, &leaves) {
            cuts if cuts.is_empty() || !cut.in_parts => groups.push(group),
            cuts => groups.extend(group.split(&footer.metadata, &cuts)),
        }
    }
    let mut options = options().with_schema(Arc::clone(&footer.schema));
    if plan.asks_positions() {
        let position = Field::new("", ArrowType::Int64, false).with_extension_type(RowNumber);
        options = options
            .with_virtual_columns(vec![Arc::new(position)])
            .map_err(|error| damaged(&error, shown))?;
    }
    let arrow = ArrowReaderMetadata::try_new(Arc::clone(&footer.metadata), options)
        .map_err(|error| damaged(&error, shown))?;
    Ok(Some(OpenFile {
        plan: Arc::new(plan),
        chunks: Arc::new(Chunks::of(&footer.metadata)),
        footer,
        arrow,
        groups,
        limit: cut.limit,
    }))
}

/// The row groups that may hold a row that matches, and where in the file each begins.
fn row_groups(question: Option<&Question<'_>>, footer: &Footer) -> Result<Vec<(usize, u64)>> {
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

impl OpenFile {
    /// How much there is in all of the columns that are read, and how much of it is decoded before rows are judged.
    pub(super) fn amounts(&self) -> [Amount; 2] {
        let leaves = [self.plan.output_leaves(), self.plan.stage_leaves()].concat();
        let leaves: BTreeSet<usize> = leaves.into_iter().collect();
        let file = self.footer.metadata.as_ref();
        let mut all = Amount::default();
        for index in 0..file.num_row_groups() {
            all.add(amount_of(file, &leaves, index, None));
        }
        let mut kept = Amount::default();
        for group in &self.groups {
            kept.add(amount_of(file, &leaves, group.index, group.selection().as_ref()));
        }
        [all, kept]
    }

    /// The pieces in their order. One has all that is left of a file, unless that is much; or, where each row group must
    /// be waited for, one of them.
    pub(super) fn pieces(self) -> Vec<Piece> {
        let mut pieces: Vec<Vec<Group>> = Vec::new();
        let is_local = self.plan.task.context.location.file_system().is_some();
        let most = if is_local { PIECE_ROWS } else { 0 };
        let mut rows = most;
        for group in self.groups.iter().cloned() {
            let more = group.rows;
            match pieces.last_mut() {
                Some(piece) if rows.saturating_add(more) <= most => {
                    piece.push(group);
                    rows = rows.saturating_add(more);
                }
                _ => {
                    pieces.push(vec![group]);
                    rows = more;
                }
            }
        }
        let file = Arc::new(self);
        pieces
            .into_iter()
            .map(|groups| Piece {
                file: Arc::clone(&file),
                groups,
            })
            .collect()
    }
}

impl Piece {
    /// The task that it is of.
    pub(super) fn task(&self) -> &ScanTask {
        &self.file.plan.task
    }

    /// How many bytes are held while it is read: those of its columns, packed.
    pub(super) fn bytes(&self) -> u64 {
        let OpenFile { plan, footer, .. } = self.file.as_ref();
        let leaves = [plan.output_leaves(), plan.stage_leaves()].concat();
        let of_group = |group: &Group| {
            let columns = footer
                .metadata
                .row_groups()
                .get(group.index)
                .map(|group| group.columns());
            let sizes = leaves.iter().filter_map(|leaf| columns?.get(*leaf));
            let all = sizes.map(|column| column.byte_range().1).sum::<u64>();
            // A part of a row group has about that part of its bytes.
            let rows = rows_of_group(&footer.metadata, group.index).max(1);
            match group.is_part() {
                true => all.saturating_mul(group.rows.min(rows)) / rows,
                false => all,
            }
        };
        self.groups.iter().map(of_group).max().unwrap_or(0)
    }

    /// The scan's batches: only rows that match, and none without rows.
    pub(super) fn read(self) -> Result<impl Stream<Item = Result<RecordBatch>> + Send + use<>> {
        let task = &self.file.plan.task;
        let (path, version) = (without_secrets(&task.path), task.context.version);
        let located = move |error: Error| error.with("path", path.as_str()).with("version", version);
        let seen = Arc::new(Seen::default());
        let expected: u64 = self.groups.iter().map(|group| group.rows).sum();
        let plan = Arc::clone(&self.file.plan);
        let stream = self.decoder(&seen).map_err(&located)?;
        let shown = without_secrets(&task.path);
        let (damage, late, is_limited) = (located.clone(), plan.is_late(), self.file.limit.is_some());
        let (told, roots, judged, at_end) = (Arc::clone(&seen), plan.roots(), located.clone(), located);
        let end = futures::stream::once(async move {
            let [decoded, matched, given] = seen.counts();
            if is_limited || (decoded == expected && (!late || matched == given)) {
                return Ok(None::<RecordBatch>);
            }
            let (has, claimed) = if decoded == expected {
                (given, matched)
            } else {
                (decoded, expected)
            };
            Err(at_end(miscounted(has, claimed)))
        })
        .try_filter_map(|none| async move { Ok(none) });
        Ok(stream
            .map_err(move |error| damage(damaged(&error, &shown)))
            .and_then(move |batch| {
                match late {
                    true => count(&told.given, batch.num_rows()),
                    false => count(&told.decoded, batch.num_rows()),
                }
                let answer = plan.batch(&batch, &roots).map_err(&judged);
                async move { answer }
            })
            .try_filter(|batch| {
                let any = batch.num_rows() > 0;
                async move { any }
            })
            .chain(end))
    }

    fn decoder(
        &self,
        seen: &Arc<Seen>,
    ) -> Result<parquet::arrow::async_reader::ParquetRecordBatchStream<Weighed>> {
        let OpenFile {
            plan,
            footer,
            chunks,
            arrow,
            limit,
            ..
        } = self.file.as_ref();
        let schema = arrow.parquet_schema();
        let output = match plan.is_late() {
            true => plan.output_leaves(),
            false => [plan.output_leaves(), plan.stage_leaves()].concat(),
        };
        let file = Weighed::new(footer.file.clone(), Arc::clone(chunks));
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(file, arrow.clone())
            .with_projection(ProjectionMask::leaves(schema, output))
            .with_batch_size(plan.task.context.batch_size)
            .with_max_predicate_cache_size(KEPT_BYTES)
            .with_row_group_selections(self.groups.iter().map(Group::to_parquet).collect());
        let threshold = match plan.stages.is_empty() {
            true => SHORT_RUN_OF_VECTORS,
            false => SHORT_RUN,
        };
        builder = builder.with_row_selection_policy(RowSelectionPolicy::Auto { threshold });
        if plan.is_late() {
            let stages = plan.stages.iter().enumerate();
            let stages = stages.map(|(index, stage)| {
                let roots = Roots::new(stage.columns.roots());
                let (plan, seen) = (Arc::clone(plan), Arc::clone(seen));
                let is_last = index + 1 == plan.stages.len();
                let judge = move |batch: RecordBatch| {
                    if index == 0 {
                        count(&seen.decoded, batch.num_rows());
                    }
                    let answer = plan
                        .judge(index, &batch, &roots)
                        .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
                    if is_last {
                        count(&seen.matched, answer.true_count());
                    }
                    Ok(answer)
                };
                let mask = ProjectionMask::leaves(schema, stage.columns.leaves());
                Box::new(ArrowPredicateFn::new(mask, judge)) as Box<dyn ArrowPredicate>
            });
            builder = builder.with_row_filter(RowFilter::new(stages.collect()));
        }
        if let Some(limit) = limit.filter(|_| plan.stages.is_empty() || plan.is_late()) {
            builder = builder.with_limit(limit);
        }
        builder
            .build()
            .map_err(|error| damaged(&error, &without_secrets(&plan.task.path)))
    }
}

/// What is decoded of a row group. Pages are counted where the file tells of them.
fn amount_of(
    file: &ParquetMetaData,
    leaves: &BTreeSet<usize>,
    group: usize,
    selection: Option<&RowSelection>,
) -> Amount {
    let mut amount = Amount {
        row_groups: 1,
        rows: selection.map_or(rows_of_group(file, group), |selection| {
            u64::try_from(selection.row_count()).unwrap_or(u64::MAX)
        }),
        ..Amount::default()
    };
    let columns = file
        .row_groups()
        .get(group)
        .map_or(&[][..], |group| group.columns());
    for (leaf, column) in columns
        .iter()
        .enumerate()
        .filter(|(leaf, _)| leaves.contains(leaf))
    {
        let pages = file
            .page_index()
            .and_then(|index| index.offset_index(group, leaf));
        let (start, length) = column.byte_range();
        match (pages, selection) {
            (Some(pages), Some(selection)) => {
                let ranges = selection.scan_ranges(pages.page_locations());
                let first = pages.page_locations().first();
                let first = first.and_then(|page| u64::try_from(page.offset).ok());
                // The dictionary stands before the first page.
                let before = first.map_or(0, |first| first.saturating_sub(start));
                amount.pages += ranges.len();
                amount.bytes += before + ranges.iter().map(|range| range.end - range.start).sum::<u64>();
            }
            (pages, _) => {
                amount.pages += pages.map_or(0, |pages| pages.page_locations().len());
                amount.bytes = amount.bytes.saturating_add(length);
            }
        }
    }
    amount
}

/// How many rows went by, so that none is lost unseen.
#[derive(Default)]
struct Seen {
    /// That were decoded, to be judged or handed out.
    decoded: AtomicU64,
    /// That matched, and are decoded further.
    matched: AtomicU64,
    /// Of these, that came.
    given: AtomicU64,
}

impl Seen {
    fn counts(&self) -> [u64; 3] {
        [&self.decoded, &self.matched, &self.given].map(|count| count.load(Ordering::Relaxed))
    }
}

fn count(seen: &AtomicU64, rows: usize) {
    seen.fetch_add(u64::try_from(rows).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Which rows of the file are asked for; its deletion vectors are read unless that has been done.
async fn rows_of(task: &ScanTask) -> Result<Rows> {
    if !matches!(task.rows, Rows::All) || task.selection == Selection::All {
        return Ok(task.rows.clone());
    }
    let vectors = read_vectors(&task.context.location, vectors_of(task).collect()).await?;
    Ok(Rows::of(&task.selection, &mut vectors.into_iter()))
}

/// Proves that the file has every row that its deletion vector tells of.
fn ensure_rows(task: &ScanTask, rows: &Rows, file: &ParquetMetaData) -> Result<()> {
    match (rows.vector(), task.selection.vectors().next()) {
        (Some(vector), Some(descriptor)) => {
            let has = u64::try_from(file.file_metadata().num_rows()).unwrap_or(0);
            descriptor.check_rows(vector, has)
        }
        _ => Ok(()),
    }
}
