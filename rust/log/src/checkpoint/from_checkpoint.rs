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

use super::columns::{add_schema, failed, remove_schema};
use super::surviving_rows::Retention;
use super::take_actions::TakeActions;
use crate::decode::ActionsFile;
use crate::decode::checkpoint::{Checkpoint, conformed};
use crate::decode::{FileBatch, StatisticsSource};
use crate::reconcile::{NewerKeys, Survivors};

/// A row group, and its batches of adds with surviving rows, each with its position among all batches.
struct SurvivingGroup {
    file: Arc<ActionsFile>,
    group: usize,
    batches: Vec<(usize, Survivors)>,
}

/// Writes the surviving adds in row groups of a checkpoint.
pub(super) async fn write_adds(adds: &[Survivors], out: &mut impl TakeActions) -> Result<()> {
    for surviving in groups_of(adds) {
        let mut paths = paths("add", &add_schema());
        if surviving.file.may_lack_text(surviving.group) {
            paths.push("add.stats_parsed".to_owned());
        }
        let rows = surviving.file.action_rows(surviving.group, "add", &paths).await?;
        let mut rows = rows.ok_or_else(changed)?;
        let mut here = (0usize, 0usize);
        let mut met = 0usize;
        while let Some(batch) = rows.next().await? {
            if batch.ordinal != here.0 {
                here = (batch.ordinal, 0);
            }
            let Some(actions) = batch.actions else {
                continue;
            };
            let first = here.1;
            here.1 += actions.len();
            let mut batches = surviving.batches.iter();
            let Some((_, survivors)) = batches.find(|(ordinal, _)| *ordinal == batch.ordinal) else {
                continue;
            };
            if here.1 > survivors.live.len() {
                return Err(changed());
            }
            met += actions.len();
            let Some(kept) = kept(&actions, survivors.live.slice(first, actions.len()))? else {
                continue;
            };
            let parsed = kept
                .column_by_name("stats_parsed")
                .and_then(|parsed| parsed.as_struct_opt());
            out.adds(&conformed(&kept, &add_schema())?, parsed).await?;
        }
        let expected: usize = surviving.batches.iter().map(|(_, files)| files.live.len()).sum();
        if met != expected {
            return Err(changed());
        }
    }
    Ok(())
}

/// Writes the tombstones of a checkpoint that have not expired and are not superseded by a newer action.
pub(super) async fn write_tombstones(
    checkpoint: &Checkpoint,
    newer: &NewerKeys,
    retention: Retention,
    out: &mut impl TakeActions,
) -> Result<()> {
    let paths = paths("remove", &remove_schema());
    for (file, group) in checkpoint.row_groups() {
        let Some(mut rows) = file.action_rows(group, "remove", &paths).await? else {
            continue;
        };
        while let Some(batch) = rows.next().await? {
            let Some(actions) = batch.actions else {
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
