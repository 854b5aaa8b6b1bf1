//! The changes of rows of a commit that no change data file has.

use deltaic_protocol::actions::Add;

use crate::rows::change_data::DeletedRows;

/// Staged changes of rows that readers derive from added and removed files, unless the commit has change data files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unrecorded {
    /// Files with new rows.
    pub(crate) inserted: Vec<Add>,
    pub(crate) deleted: Vec<DeletedRows>,
}
