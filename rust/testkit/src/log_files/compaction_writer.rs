//! Log compaction files, valid and invalid ones.
//!
//! Protocol: *Log Compaction Files*.

use serde_json::{Value, json};

use super::checkpoint_writer::File;
use crate::oracle::replay;

/// The form of a compaction file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionForm {
    /// Valid: the reconciled actions of its commits.
    Right,
    /// Half of a valid file, truncated in the middle of a line.
    Torn,
    /// All actions of its commits, concatenated.
    Unreconciled,
    /// A valid file of another table, with that table's metadata.
    Foreign,
}

/// The compaction of the commits `from` to `to`, both inclusive.
#[must_use]
pub fn compaction(commits: &[Vec<Value>], from: usize, to: usize, form: CompactionForm) -> File {
    let range = commits.get(from..=to).unwrap_or_default();
    let mut actions = match form {
        CompactionForm::Unreconciled => range.concat(),
        // Removed domains are retained: they override actions of earlier commits.
        CompactionForm::Right | CompactionForm::Torn | CompactionForm::Foreign => replay(range).actions(),
    };
    actions.retain(|action| action.get("commitInfo").is_none() && action.get("cdc").is_none());
    if form == CompactionForm::Foreign {
        let mut metadata = replay(commits).metadata.unwrap_or_default();
        metadata["id"] = json!("another table");
        actions = vec![
            json!({ "metaData": metadata }),
            super::file_actions::add("another.parquet", None),
        ];
    }
    let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
    let mut bytes = text.into_bytes();
    if form == CompactionForm::Torn {
        tear(&mut bytes);
    }
    (format!("_delta_log/{from:020}.{to:020}.compacted.json"), bytes)
}

/// Truncates a file to its first half, and ensures that it ends in the middle of an action.
pub(crate) fn tear(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() / 2);
    while bytes.last().is_some_and(|last| b"}\n".contains(last)) {
        bytes.pop();
    }
}
