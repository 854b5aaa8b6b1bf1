//! Writes checkpoints of a state in every form of the protocol.
//!
//! Protocol: *Checkpoints*, *V1 Spec*, *V2 Spec*, *Sidecar Files*, *Checkpoint Schema*.

use deltaic_protocol::Result;
use deltaic_protocol::log_path::CheckpointFormat;
use serde_json::{Value, json};

use super::action_parquet::{ActionParquet, write};
pub use super::checkpoint_form::{CheckpointForm, Layout, StatisticsForm};
use crate::oracle::State;

/// Path relative to the table root, and contents.
pub type File = (String, Vec<u8>);

/// The files of a checkpoint, in write order. `number` is used for the ids in file names, so that a second checkpoint
/// of the same version and layout has other names.
pub fn checkpoint(state: &State, version: usize, form: &CheckpointForm, number: usize) -> Result<Vec<File>> {
    let mut rows = rows(state, form);
    let kind = ActionParquet::of(state, form)?;
    match form.layout {
        Layout::Classic => {
            let name = format!("_delta_log/{version:020}.checkpoint.parquet");
            Ok(vec![(name, write(&kind.of_v1(), &rows)?)])
        }
        Layout::MultiPart(parts) => (0..parts)
            .map(|part| {
                let name = format!(
                    "_delta_log/{version:020}.checkpoint.{:010}.{parts:010}.parquet",
                    part + 1
                );
                Ok((name, write(&kind.of_v1(), &nth(&rows, part, parts))?))
            })
            .collect(),
        Layout::ClassicV2(sidecars) | Layout::V2(_, sidecars) => {
            let mut files: Vec<File> = Vec::new();
            let mut top: Vec<Value> =
                vec![json!({"checkpointMetadata": {"version": version, "tags": {"by": "testkit"}}})];
            if sidecars > 0 {
                let in_sidecars: Vec<Value> = rows.extract_if(.., |row| is_file_action(row)).collect();
                for sidecar in 0..sidecars {
                    let name = format!(
                        "{version:020}.checkpoint.{:010}.{sidecars:010}.{}.parquet",
                        sidecar + 1,
                        id(number)
                    );
                    let bytes = write(&kind.of_sidecar(), &nth(&in_sidecars, sidecar, sidecars))?;
                    top.push(json!({"sidecar": {"path": name, "sizeInBytes": bytes.len(),
                        "modificationTime": 1, "tags": null}}));
                    files.push((format!("_delta_log/_sidecars/{name}"), bytes));
                }
            }
            top.append(&mut rows);
            let stem = format!("_delta_log/{version:020}.checkpoint");
            files.push(match form.layout {
                Layout::V2(CheckpointFormat::Json, _) => {
                    let lines = top.into_iter().map(without_columns);
                    let text: String = lines.map(|action| action.to_string() + "\n").collect();
                    (format!("{stem}.{}.json", id(number)), text.into_bytes())
                }
                Layout::V2(CheckpointFormat::Parquet, _) => (
                    format!("{stem}.{}.parquet", id(number)),
                    write(&kind.of_v2(), &top)?,
                ),
                _ => (format!("{stem}.parquet"), write(&kind.of_v2(), &top)?),
            });
            Ok(files)
        }
    }
}

fn id(number: usize) -> String {
    format!("3a0d65cd-4056-49b8-937b-{number:012x}")
}

fn is_file_action(row: &Value) -> bool {
    row.get("add").is_some() || row.get("remove").is_some()
}

/// Every n-th row, so that rare actions are distributed over several parts.
fn nth(rows: &[Value], part: usize, parts: usize) -> Vec<Value> {
    rows.iter().skip(part).step_by(parts.max(1)).cloned().collect()
}

/// The actions as a checkpoint stores them: `dataChange` is false, tombstones have only required fields, removed
/// domains are omitted.
fn rows(state: &State, form: &CheckpointForm) -> Vec<Value> {
    let mut rows = state.actions();
    rows.retain(|row| row["domainMetadata"]["removed"] != Value::Bool(true));
    for row in &mut rows {
        if let Some(remove) = row.get_mut("remove").and_then(Value::as_object_mut) {
            remove.remove("stats");
            remove.remove("tags");
            remove.insert("dataChange".to_owned(), json!(false));
        }
        if let Some(add) = row.get_mut("add").and_then(Value::as_object_mut) {
            add.insert("dataChange".to_owned(), json!(false));
            let stats = add.get("stats").cloned();
            if matches!(form.statistics, StatisticsForm::None | StatisticsForm::Columns) {
                add.remove("stats");
            }
            if matches!(form.statistics, StatisticsForm::Columns | StatisticsForm::Both) {
                let parsed = stats.and_then(|stats| serde_json::from_str(stats.as_str()?).ok());
                add.insert("stats_parsed".to_owned(), parsed.unwrap_or_default());
            }
            if form.partition_columns {
                let mut values = add.get("partitionValues").cloned().unwrap_or_default();
                for value in values
                    .as_object_mut()
                    .into_iter()
                    .flat_map(|values| values.values_mut())
                {
                    if value.as_str() == Some("") {
                        *value = Value::Null;
                    }
                }
                add.insert("partitionValues_parsed".to_owned(), values);
            }
        }
    }
    rows
}

fn without_columns(mut row: Value) -> Value {
    if let Some(add) = row.get_mut("add").and_then(Value::as_object_mut) {
        add.remove("stats_parsed");
        add.remove("partitionValues_parsed");
    }
    row
}
