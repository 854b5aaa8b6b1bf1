//! Reads file statistics on demand, for the requested rows and columns.
//!
//! Protocol: *Per-file Statistics*, *Checkpoint Schema*.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, StringArray, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::filter::filter;
use bytes::Bytes;
use deltaic_protocol::statistics::{StatisticsBuilder, StatisticsColumns, StatisticsSchema, StatisticsText};
use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::{GetOptions, GetRange};

use crate::decode::RowGroupPlace;
use crate::decode::{FileBatch, StatisticsPlaces, StatisticsSource};
use crate::listing::LogFile;
use crate::reconcile::Survivors;
use deltaic_storage::location::TableLocation;
use deltaic_storage::store_error;

/// Texts are read in batches of this fraction of the rows that replay uses, because each text is large.
const TEXT_SHARE: usize = 16;

/// Maximum bytes of a log file per request: small for a local disk, so that the same memory is reused; large for a
/// network, to amortize the latency.
const WINDOW_BYTES: (u64, u64) = (1 << 20, 16 << 20);

/// Which statistics are read with the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithStatistics {
    /// None.
    None,
    /// The number of rows of each file.
    NumRecords,
    /// All statistics that the schema's columns can have.
    All,
}

/// Batches whose statistics are read together: those of one row group.
pub(super) struct Unit(pub(super) Vec<Survivors>);

/// Groups batches of one row group if statistics are read; otherwise each batch is its own unit.
pub(super) fn units_of(survivors: &[Survivors], reads: bool) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for survivors in survivors {
        let place = |survivors: &Survivors| match &survivors.files.statistics {
            StatisticsSource::RowGroup(place) => Some((Arc::as_ptr(&place.file), place.group)),
            _ => None,
        };
        match units.last_mut() {
            Some(Unit(unit))
                if reads && place(survivors).is_some() && unit.last().and_then(place) == place(survivors) =>
            {
                unit.push(survivors.clone());
            }
            _ => units.push(Unit(vec![survivors.clone()])),
        }
    }
    units
}

/// Reads the statistics of the selected rows of the batches of one unit, one row per selected row, and returns whether
/// they are missing because the log no longer has them.
pub(super) async fn read_statistics(
    location: &TableLocation,
    batches: Vec<(Arc<FileBatch>, BooleanBuffer)>,
    wanted: &StatisticsSchema,
) -> Result<(Vec<StatisticsColumns>, bool)> {
    let is_selected = batches.iter().any(|(_, rows)| rows.count_set_bits() > 0);
    let first = batches.first().map(|(files, _)| &files.statistics);
    let read = match first {
        Some(StatisticsSource::RowGroup(place)) if is_selected => {
            from_row_group(&place.clone(), &batches, wanted).await
        }
        Some(StatisticsSource::Lines(_)) if is_selected => from_lines(location, &batches, wanted).await,
        _ => without(&batches, wanted),
    };
    match read {
        Err(error) if error.kind() == ErrorKind::CorruptLog => Ok((without(&batches, wanted)?, true)),
        read => Ok((read?, false)),
    }
}

/// Absent statistics for each selected row.
fn without(
    batches: &[(Arc<FileBatch>, BooleanBuffer)],
    wanted: &StatisticsSchema,
) -> Result<Vec<StatisticsColumns>> {
    let absent = |(_, rows): &(Arc<FileBatch>, BooleanBuffer)| {
        let count = rows.count_set_bits();
        let mut builder = StatisticsBuilder::with_capacity(wanted, count);
        (0..count).for_each(|_| builder.push(StatisticsText::Absent));
        builder.finish()
    };
    batches.iter().map(absent).collect()
}

fn changed() -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "a file of the log changed since the table was opened",
    )
}

async fn from_row_group(
    place: &RowGroupPlace,
    batches: &[(Arc<FileBatch>, BooleanBuffer)],
    wanted: &StatisticsSchema,
) -> Result<Vec<StatisticsColumns>> {
    let file = &place.file;
    let has_text = file.has_column("add.stats");
    let leaves = struct_paths(wanted);
    // Struct statistics that lack some of the bounds that the text may have cannot replace it.
    let has_structs = match has_text {
        true => leaves
            .iter()
            .filter(|path| is_bound(path))
            .all(|path| file.has_column(path)),
        false => leaves.iter().any(|path| file.has_column(path)),
    };
    match (has_structs && file.has_column("add.stats_parsed"), has_text) {
        (false, false) => without(batches, wanted),
        (false, true) => from_texts(place, batches, wanted).await,
        (true, false) => Ok(only_statistics(from_structs(place, batches, wanted).await?)),
        (true, true) => {
            let parsed = from_structs(place, batches, wanted).await?;
            if parsed
                .iter()
                .all(|(present, _)| present.null_count() == 0 && present.true_count() == present.len())
            {
                return Ok(only_statistics(parsed));
            }
            // Some files have only the text.
            let texts = from_texts(place, batches, wanted).await?;
            parsed
                .into_iter()
                .zip(texts)
                .map(|((present, parsed), text)| parsed.or_else(&present, &text))
                .collect()
        }
    }
}

fn struct_paths(wanted: &StatisticsSchema) -> Vec<String> {
    let leaves = wanted.struct_leaves();
    leaves
        .iter()
        .map(|leaf| format!("add.stats_parsed.{}", leaf.join(".")))
        .collect()
}

fn is_bound(path: &str) -> bool {
    [
        "add.stats_parsed.minValues.",
        "add.stats_parsed.maxValues.",
        "add.stats_parsed.numRecords",
    ]
    .iter()
    .any(|start| path.starts_with(start))
}

fn only_statistics(parsed: Vec<(BooleanArray, StatisticsColumns)>) -> Vec<StatisticsColumns> {
    parsed.into_iter().map(|(_, statistics)| statistics).collect()
}

fn ordinal_of(files: &FileBatch) -> usize {
    match &files.statistics {
        StatisticsSource::RowGroup(place) => place.ordinal,
        _ => 0,
    }
}

/// Returns the struct statistics, and which of the selected files have any.
async fn from_structs(
    place: &RowGroupPlace,
    batches: &[(Arc<FileBatch>, BooleanBuffer)],
    wanted: &StatisticsSchema,
) -> Result<Vec<(BooleanArray, StatisticsColumns)>> {
    let paths = struct_paths(wanted);
    let mut read = Vec::with_capacity(batches.len());
    place
        .file
        .read_adds(place.group, &paths, 1, |ordinal, adds| {
            let Some((files, rows)) = batches.get(read.len()) else {
                return Ok(());
            };
            if ordinal_of(files) != ordinal {
                return Ok(());
            }
            let adds = adds
                .filter(|adds| adds.len() == files.len())
                .ok_or_else(changed)?;
            let parsed = adds.column_by_name("stats_parsed").ok_or_else(changed)?;
            let selected = BooleanArray::new(rows.clone(), None);
            let parsed = filter(parsed, &selected).map_err(super::live::failed)?;
            let parsed: &StructArray = parsed.as_struct_opt().ok_or_else(changed)?;
            let present = (0..parsed.len()).map(|row| Some(parsed.is_valid(row))).collect();
            read.push((present, StatisticsColumns::from_struct(parsed, wanted)?));
            Ok(())
        })
        .await?;
    if read.len() != batches.len() {
        return Err(changed());
    }
    Ok(read)
}

async fn from_texts(
    place: &RowGroupPlace,
    batches: &[(Arc<FileBatch>, BooleanBuffer)],
    wanted: &StatisticsSchema,
) -> Result<Vec<StatisticsColumns>> {
    let mut builders: Vec<(usize, StatisticsBuilder<'_>)> = batches
        .iter()
        .map(|(_, rows)| (0, StatisticsBuilder::with_capacity(wanted, rows.count_set_bits())))
        .collect();
    place
        .file
        .read_adds(
            place.group,
            &["add.stats".to_owned()],
            TEXT_SHARE,
            |ordinal, adds| {
                let Some(adds) = adds else {
                    return Ok(());
                };
                let texts = adds.column_by_name("stats").ok_or_else(changed)?;
                // Some writers omit the annotation that marks bytes as a string.
                let texts = cast(texts, &DataType::Utf8).map_err(super::live::failed)?;
                let texts: &StringArray = texts.as_string_opt().ok_or_else(changed)?;
                let found = batches.iter().position(|(files, _)| ordinal_of(files) == ordinal);
                let Some(((_, selected), (seen, builder))) =
                    found.and_then(|index| Some((batches.get(index)?, builders.get_mut(index)?)))
                else {
                    return Ok(());
                };
                if *seen + texts.len() > selected.len() {
                    return Err(changed());
                }
                for row in 0..texts.len() {
                    if selected.value(*seen + row) {
                        builder.push(if texts.is_valid(row) {
                            StatisticsText::Plain(texts.value(row).as_bytes())
                        } else {
                            StatisticsText::Absent
                        });
                    }
                }
                *seen += texts.len();
                Ok(())
            },
        )
        .await?;
    for ((files, _), (seen, _)) in batches.iter().zip(&builders) {
        if *seen != files.len() {
            return Err(changed());
        }
    }
    builders
        .into_iter()
        .map(|(_, builder)| builder.finish())
        .collect()
}

async fn from_lines(
    location: &TableLocation,
    batches: &[(Arc<FileBatch>, BooleanBuffer)],
    wanted: &StatisticsSchema,
) -> Result<Vec<StatisticsColumns>> {
    let (local, remote) = WINDOW_BYTES;
    let most = if location.file_system().is_some() {
        local
    } else {
        remote
    };
    let mut read = Vec::with_capacity(batches.len());
    for (files, rows) in batches {
        let StatisticsSource::Lines(places) = &files.statistics else {
            return Err(changed());
        };
        let mut builder = StatisticsBuilder::with_capacity(wanted, rows.count_set_bits());
        for span in &files.spans {
            let selected: Vec<usize> = rows
                .slice(span.rows.start, span.rows.len())
                .set_indices()
                .map(|row| row + span.rows.start)
                .collect();
            for window in windows(&selected, places, most) {
                let bytes = match &window.bytes {
                    Some(range) => fetch(location, &span.file, range.clone()).await?,
                    None => Bytes::new(),
                };
                for row in window.rows {
                    builder.push(text_at(places, *row, &window.bytes, &bytes));
                }
            }
        }
        read.push(builder.finish()?);
    }
    Ok(read)
}

/// Rows whose statistics are close together in their file.
struct Window<'a> {
    rows: &'a [usize],
    /// `None` if no row has statistics.
    bytes: Option<Range<u64>>,
}

fn windows<'a>(rows: &'a [usize], places: &StatisticsPlaces, most: u64) -> Vec<Window<'a>> {
    let mut windows = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let mut bytes: Option<Range<u64>> = None;
        let mut count = 0usize;
        for row in rest {
            if let Some(place) = place_of(places, *row) {
                let joined = match &bytes {
                    None => place,
                    Some(bytes) => bytes.start.min(place.start)..bytes.end.max(place.end),
                };
                if count > 0 && bytes.is_some() && joined.end - joined.start > most {
                    break;
                }
                bytes = Some(joined);
            }
            count += 1;
        }
        let (these, others) = rest.split_at(count);
        windows.push(Window { rows: these, bytes });
        rest = others;
    }
    windows
}

fn place_of(places: &StatisticsPlaces, row: usize) -> Option<Range<u64>> {
    let (first, length) = (*places.first.get(row)?, *places.length.get(row)?);
    (length > 0).then(|| first..first.saturating_add(u64::from(length)))
}

async fn fetch(location: &TableLocation, file: &LogFile, range: Range<u64>) -> Result<Bytes> {
    let relative = file.relative();
    let path = location.below(&relative)?;
    let length = range.end - range.start;
    let options = GetOptions::new().with_range(Some(GetRange::Bounded(range)));
    let got = match location.store().get_opts(&path, options).await {
        Ok(got) => got,
        Err(object_store::Error::NotFound { .. }) => return Err(changed()),
        Err(error) => return Err(store_error(&error, &relative)),
    };
    // The listed file may have been replaced.
    if !file.is_still(&got.meta) {
        return Err(changed());
    }
    match got.bytes().await {
        Ok(bytes) if u64::try_from(bytes.len()) == Ok(length) => Ok(bytes),
        Ok(_) => Err(changed()),
        Err(error) => Err(store_error(&error, &relative)),
    }
}

fn text_at<'a>(
    places: &StatisticsPlaces,
    row: usize,
    window: &Option<Range<u64>>,
    bytes: &'a Bytes,
) -> StatisticsText<'a> {
    let text = || {
        let place = place_of(places, row)?;
        let start = usize::try_from(place.start.checked_sub(window.as_ref()?.start)?).ok()?;
        let end = start + usize::try_from(place.end - place.start).ok()?;
        let quoted = bytes.get(start..end)?;
        quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")
    };
    text().map_or(StatisticsText::Absent, StatisticsText::Escaped)
}
