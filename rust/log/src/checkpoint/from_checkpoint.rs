//! Reads the surviving actions of an older Parquet checkpoint again with every field, a few thousand at a
//! time.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;
use arrow_select::filter::filter;
use deltaic_protocol::actions::columns;
use deltaic_protocol::{Error, ErrorKind, Result};
use tokio::sync::mpsc;

use super::columns::{add_schema, failed, remove_schema};
use super::reused::Reused;
use super::surviving_rows::Retention;
use super::take_actions::TakeActions;
use crate::decode::ActionsFile;
use crate::decode::checkpoint::{ActionRows, Checkpoint, conformed};
use crate::decode::{FileBatch, StatisticsSource};
use crate::reconcile::{NewerKeys, Survivors};
use deltaic_storage::start;

/// Number of batches of adds that are read ahead.
const READ_AHEAD: usize = 2;

/// A row group, and its batches of adds with surviving rows, each with its position among all batches.
struct SurvivingGroup {
    file: Arc<ActionsFile>,
    group: usize,
    batches: Vec<(usize, Survivors)>,
}

/// Writes the surviving adds in row groups of a checkpoint. While batches are written, the next are read.
pub(super) async fn write_adds(adds: &[Survivors], out: &mut impl TakeActions) -> Result<()> {
    let groups = groups_of(adds);
    let (sender, mut batches) = mpsc::channel(READ_AHEAD);
    let reading = start(async move {
        for group in groups {
            let mut adds = SurvivingAdds::open(group).await?;
            while let Some(batch) = adds.next().await? {
                // If the consumer has stopped, it aborts this task.
                let _ = sender.send(batch).await;
            }
        }
        Ok(())
    });
    while let Some(adds) = batches.recv().await {
        let parsed = adds
            .column_by_name("stats_parsed")
            .and_then(|parsed| parsed.as_struct_opt());
        out.adds(&conformed(&adds, &add_schema())?, parsed).await?;
    }
    reading.await
}

/// The surviving adds of a row group that are not read yet.
struct SurvivingAdds {
    rows: ActionRows,
    group: SurvivingGroup,
    /// Index of the current batch of replay's size, and the number of its adds that were read.
    here: (usize, usize),
    /// Number of adds that were read.
    met: usize,
}

impl SurvivingAdds {
    async fn open(group: SurvivingGroup) -> Result<Self> {
        let mut paths = paths("add", &add_schema());
        if group.file.may_lack_text(group.group) {
            paths.push("add.stats_parsed".to_owned());
        }
        let rows = group.file.action_rows(group.group, "add", &paths).await?;
        Ok(Self {
            rows: rows.ok_or_else(changed)?,
            group,
            here: (0, 0),
            met: 0,
        })
    }

    /// Reads the next adds, some of which survive; `None` at the end.
    async fn next(&mut self) -> Result<Option<StructArray>> {
        while let Some(batch) = self.rows.next().await? {
            if batch.ordinal != self.here.0 {
                self.here = (batch.ordinal, 0);
            }
            let (first, count) = (self.here.1, batch.len());
            self.here.1 += count;
            let mut batches = self.group.batches.iter();
            let Some((_, survivors)) = batches.find(|(ordinal, _)| *ordinal == batch.ordinal) else {
                continue;
            };
            if self.here.1 > survivors.live.len() {
                return Err(changed());
            }
            self.met += count;
            if let Some(kept) = batch.some(&survivors.live.slice(first, count))? {
                return Ok(Some(kept));
            }
        }
        let batches = self.group.batches.iter();
        if self.met != batches.map(|(_, files)| files.live.len()).sum::<usize>() {
            return Err(changed());
        }
        Ok(None)
    }
}

/// Writes the tombstones of a checkpoint that have not expired and are not superseded by a newer action, without those
/// of sidecars that are referenced again.
pub(super) async fn write_tombstones(
    checkpoint: &Checkpoint,
    newer: &NewerKeys,
    retention: Retention,
    reused: &Reused,
    out: &mut impl TakeActions,
) -> Result<()> {
    let paths = paths("remove", &remove_schema());
    for (file, group) in checkpoint.row_groups().filter(|(file, _)| !reused.holds(file)) {
        let Some(mut rows) = file.action_rows(group, "remove", &paths).await? else {
            continue;
        };
        while let Some(batch) = rows.next().await? {
            let Some(actions) = batch.all()? else {
                continue;
            };
            let keyed = conformed(&actions, &columns::remove_schema())?;
            let files = Arc::new(FileBatch::try_new(keyed, Vec::new(), StatisticsSource::None)?);
            let survivors = retention.keep(&newer.probe(&Survivors::all(files)));
            if let Some(kept) = kept(&actions, survivors.live)? {
                out.removes(conformed(&kept, &remove_schema())?).await?;
            }
        }
    }
    Ok(())
}

/// Returns the row groups with surviving rows, in order.
fn groups_of(adds: &[Survivors]) -> Vec<SurvivingGroup> {
    let mut groups: Vec<SurvivingGroup> = Vec::new();
    for survivors in adds {
        let StatisticsSource::RowGroup(place) = &survivors.files.statistics else {
            continue;
        };
        if survivors.live.count_set_bits() == 0 {
            continue;
        }
        let batch = (place.ordinal, survivors.clone());
        match groups.last_mut() {
            Some(last) if Arc::ptr_eq(&last.file, &place.file) && last.group == place.group => {
                last.batches.push(batch);
            }
            _ => groups.push(SurvivingGroup {
                file: Arc::clone(&place.file),
                group: place.group,
                batches: vec![batch],
            }),
        }
    }
    groups
}

/// Returns the column paths of an action's fields.
fn paths(action: &str, schema: &SchemaRef) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| format!("{action}.{}", field.name())).collect()
}

/// Returns the selected actions; `None` if there are none.
fn kept(actions: &StructArray, live: BooleanBuffer) -> Result<Option<StructArray>> {
    let count = live.count_set_bits();
    if count == 0 {
        return Ok(None);
    }
    if count == actions.len() {
        return Ok(Some(actions.clone()));
    }
    let kept = filter(actions, &BooleanArray::new(live, None)).map_err(failed)?;
    Ok(kept.as_struct_opt().cloned())
}

fn changed() -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "a checkpoint changed since the table was opened",
    )
    .hint("open the table again; no checkpoint was written")
}
