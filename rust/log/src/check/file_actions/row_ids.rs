//! Live files without row IDs in a table with row tracking.
//!
//! Protocol: *Row IDs*: every file of a version that enables row tracking has a `baseRowId`.

use super::file_requirements::FileRequirements;
use super::file_table::FileTable;
use crate::check::findings::diagnosis::MISSING_ROW_IDS;
use crate::check::findings::finding::Finding;
use deltaic_storage::location::without_secrets;

/// Reports live files that lack the fields of row tracking.
pub(in crate::check) fn examine_row_ids(
    requirements: Option<&FileRequirements>,
    files: &FileTable,
    mut report: impl FnMut(Finding),
) {
    if !requirements.is_some_and(|requirements| requirements.has_row_ids) {
        return;
    }
    let lacking = files.iter().filter(|file| !file.has_row_ids);
    let mut paths: Vec<&str> = lacking.map(|file| &*file.path).collect();
    paths.sort_unstable();
    for path in paths {
        let message = "row tracking is enabled, but the file has no baseRowId or no defaultRowCommitVersion";
        let finding = Finding::new(&MISSING_ROW_IDS, message).in_field("add.baseRowId");
        report(finding.at(without_secrets(path)));
    }
}
