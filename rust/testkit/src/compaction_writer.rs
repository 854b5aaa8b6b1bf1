//! Log compaction files, right ones and such as should not be.
//!
//! Protocol: *Log Compaction Files*.

use serde_json::{Value, json};

use crate::checkpoint_writer::File;
use crate::oracle::replay;

/// A form of a compaction file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionForm {
    /// As the protocol has it: the reconciliation of its commits.
    Right,
    /// Half of a right one, torn in the middle of a line.
    Torn,
    /// Every action of its commits, one after the other.
    Unreconciled,
    /// A right one of another table, with that table's metadata.
    Foreign,
}

/// The compaction of the commits `from` to `to`, both included.
#[must_use]
pub fn compaction(commits: &[Vec<Value>], from: usize, to: usize, form: CompactionForm) -> File {
    let range = commits.get(from..=to).unwrap_or_default();
    let mut actions = match form {
        CompactionForm::Unreconciled => range.concat(),
        // A domain that is gone stays in: what the commits before say about it is over.
        CompactionForm::Right | CompactionForm::Torn | CompactionForm::Foreign => replay(range).actions(),
    };
    actions.retain(|action| action.get("commitInfo").is_none() && action.get("cdc").is_none());
    if form == CompactionForm::Foreign {
        let mut metadata = replay(commits).metadata.unwrap_or_default();
        metadata["id"] = json!("another table");
        actions = vec![
            json!({ "metaData": metadata }),
            crate::table_builder::add("another.parquet", None),
        ];
    }
    let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
    let mut bytes = text.into_bytes();
    if form == CompactionForm::Torn {
        tear(&mut bytes);
    }
    (format!("_delta_log/{from:020}.{to:020}.compacted.json"), bytes)
}

/// Leaves the first half of a file, and makes sure that it ends in the middle of an action.
pub(crate) fn tear(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() / 2);
    while bytes.last().is_some_and(|last| b"}\n".contains(last)) {
        bytes.pop();
    }
}
