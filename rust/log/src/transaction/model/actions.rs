//! Converts files of the model to actions. The text of a deletion vector is its bit mask.

use deltaic_protocol::actions::{Add, Remove};
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor};

use super::table::File;
use crate::changes::PartitionValues;
use crate::transaction::WinningFile;
use crate::transaction::samples::vector;

pub(super) fn bitmap(vector: Option<&Descriptor>) -> Bitmap {
    let mask = mask(vector);
    Bitmap::from_positions((0..64).filter(|at| mask >> at & 1 == 1)).expect("there is room")
}

pub(super) fn descriptor(mask: u64) -> Option<Descriptor> {
    (mask != 0).then(|| vector(&mask.to_string()))
}

pub(super) fn mask(vector: Option<&Descriptor>) -> u64 {
    vector.map_or(0, |vector| {
        vector.path_or_inline_dv.parse().expect("it is a number")
    })
}

fn values_of(file: &File) -> PartitionValues {
    PartitionValues::from([("p".to_owned(), Some(file.partition.to_string()))])
}

pub(super) fn add_of(file: &File, data_change: bool) -> Add {
    Add {
        path: file.path.clone(),
        partition_values: values_of(file),
        size: 1,
        data_change,
        stats: Some(format!(r#"{{"numRecords":{}}}"#, file.rows.len())),
        deletion_vector: descriptor(file.deleted),
        ..Add::default()
    }
}

pub(super) fn remove_of(file: &File, data_change: bool) -> Remove {
    Remove {
        data_change,
        ..Remove::of(&add_of(file, data_change), 0)
    }
}

pub(super) fn came(add: Add) -> WinningFile {
    WinningFile {
        path: add.path,
        partition_values: add.partition_values,
        data_change: add.data_change,
        deletion_vector: add.deletion_vector,
        stats: add.stats,
        ..WinningFile::default()
    }
}

pub(super) fn went(remove: Remove) -> WinningFile {
    WinningFile {
        path: remove.path,
        partition_values: remove.partition_values.unwrap_or_default(),
        data_change: remove.data_change,
        deletion_vector: remove.deletion_vector,
        ..WinningFile::default()
    }
}
