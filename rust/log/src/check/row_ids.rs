//! Live files without row IDs in a table with row tracking.
//!
//! Protocol: *Row IDs*: every file of a version that enables row tracking has a `baseRowId`.

use super::diagnosis::MISSING_ROW_IDS;
use super::file_table::FileTable;
use super::finding::Finding;
use super::table_form::TableForm;
use crate::location::without_secrets;

/// Reports live files that lack the fields of row tracking.
pub(super) fn examine_row_ids(form: Option<&TableForm>, files: &FileTable, mut say: impl FnMut(Finding)) {
    if !form.is_some_and(|form| form.has_row_ids) {
        return;
    }
    let lacking = files.iter().filter(|file| !file.has_row_ids);
    let mut paths: Vec<&str> = lacking.map(|file| &*file.path).collect();
    paths.sort_unstable();
    for path in paths {
        let said = "row tracking is enabled, and the file has no baseRowId or no defaultRowCommitVersion";
        let finding = Finding::new(&MISSING_ROW_IDS, said).in_field("add.baseRowId");
        say(finding.at(without_secrets(path)));
    }
}
