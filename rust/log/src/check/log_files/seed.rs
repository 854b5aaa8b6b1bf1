//! Starts the replayed state from a checkpoint if the commits before it are missing or damaged.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, StructArray};
use deltaic_protocol::actions::columns::AddColumns;
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::partition::values_of_row;

use crate::check::file_actions::file_action::validate_add;
use crate::check::file_actions::file_table::FileEntry;
use crate::check::findings::diagnosis::{BROKEN_CHECKPOINT, PATH_LIVE_TWICE};
use crate::check::findings::finding::Finding;
use crate::check::state::State;
use crate::decode::FileBatch;
use crate::decode::checkpoint::Checkpoint;
use deltaic_storage::location::without_secrets;

/// Replaces the state by that of a checkpoint.
pub(in crate::check) fn seed(checkpoint: &Checkpoint, state: &mut State, report: &mut dyn FnMut(Finding)) {
    let is_of_version = state.version == Some(checkpoint.files.version);
    let info = std::mem::take(&mut state.commit_info);
    let was_examined = is_of_version || info != Default::default();
    state.forget();
    if was_examined {
        state.commit_info = info;
    }
    let table = &checkpoint.table;
    state.apply_configuration(table.protocol.clone(), table.metadata.clone(), &mut *report);
    let txns = table.txns.iter().map(|txn| (txn.app_id.clone(), txn.clone()));
    state.txns = txns.collect();
    let domains = table.domains.iter().filter(|domain| !domain.removed);
    state.domains = domains
        .map(|domain| (domain.domain.clone(), domain.clone()))
        .collect();
    state.version = Some(checkpoint.files.version);
    state.is_whole = true;
    for batch in &checkpoint.adds {
        if seed_batch(batch, checkpoint.files.version.as_i64(), state, report).is_none() {
            report(Finding::new(
                &BROKEN_CHECKPOINT,
                "a column of its files is missing or of another type",
            ));
            state.is_whole = false;
        }
    }
    let twice: Vec<String> = state
        .files
        .paths_live_twice()
        .into_iter()
        .map(str::to_owned)
        .collect();
    for path in twice {
        let message = "the path is live more than once, with different deletion vectors";
        report(Finding::new(&PATH_LIVE_TWICE, message).at(without_secrets(&path)));
        state.is_whole = false;
    }
}

fn seed_batch(
    batch: &FileBatch,
    version: i64,
    state: &mut State,
    report: &mut dyn FnMut(Finding),
) -> Option<()> {
    let adds = AddColumns::of(&batch.batch).ok()?;
    for row in 0..batch.len() {
        let values: BTreeMap<String, Option<String>> = values_of_row(&adds.partition_values, row);
        let file = FileEntry {
            path: adds.path.value(row).into(),
            deletion_vector: descriptor(&adds.deletion_vector, row).map(Box::new),
            size: adds.size.value(row),
            num_records: None,
            modification_time: adds.modification_time.value(row),
            partition_values: state.pool.keep(values),
            has_row_ids: adds.base_row_id(row).is_some() && adds.default_row_commit_version(row).is_some(),
            statistics: None,
            version,
            met: 0,
        };
        let shown = without_secrets(&file.path);
        validate_add(
            &file,
            state.requirements.as_ref(),
            &mut state.known,
            &mut |finding| {
                report(finding.at(shown.as_str()));
            },
        );
        if state.files.insert(file).is_some() {
            report(Finding::new(
                &BROKEN_CHECKPOINT,
                format!("the checkpoint contains the logical file {shown} twice"),
            ));
        }
    }
    Some(())
}

/// Returns the deletion vector descriptor in a row of a batch.
fn descriptor(vectors: &StructArray, row: usize) -> Option<Descriptor> {
    if vectors.is_null(row) {
        return None;
    }
    let text = |name: &str| {
        let column = vectors.column_by_name(name)?.as_string_opt::<i32>()?;
        column.is_valid(row).then(|| column.value(row).to_owned())
    };
    let number = |name: &str| {
        let column = vectors.column_by_name(name)?.as_primitive_opt::<Int32Type>()?;
        column.is_valid(row).then(|| column.value(row))
    };
    let cardinality = vectors
        .column_by_name("cardinality")?
        .as_primitive_opt::<Int64Type>()?;
    Some(Descriptor {
        storage_type: text("storage_type")?,
        path_or_inline_dv: text("path_or_inline_dv")?,
        offset: number("offset"),
        size_in_bytes: number("size_in_bytes").unwrap_or(0),
        cardinality: if cardinality.is_valid(row) {
            cardinality.value(row)
        } else {
            0
        },
    })
}
