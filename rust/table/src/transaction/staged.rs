//! What a transaction has read and staged: a value, so that a copy of it is a savepoint.

use std::collections::BTreeMap;

use deltaic_log::transaction::{Operation, Proposal, ReadSet};
use deltaic_protocol::actions::Add;
use deltaic_protocol::change::TableChange;
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};

use super::described::Described;
use super::requirement::Requirement;
use super::same_rows::SameRows;
use super::unrecorded::Unrecorded;

/// Everything that a commit contains, and what it depends on. If a verb fails, a copy from before it is restored: files
/// and united deletion vectors that were written since then are deleted with the transaction, or remain as unreferenced
/// files.
#[derive(Clone)]
pub(crate) struct Staged {
    pub(crate) read: ReadSet,
    /// Whether rows of the table were read, so that other rows may have determined which rows are removed.
    pub(crate) has_read_rows: bool,
    pub(crate) proposal: Proposal,
    /// The staged changes of protocol, metadata and domains.
    pub(crate) altered: Vec<TableChange>,
    /// The configuration with the changes of the schema that written rows required; `None` without such changes.
    pub(crate) evolved: Option<TableConfiguration>,
    /// The adds of files that contain only new rows. A later attempt can add them again.
    pub(crate) new_rows: Vec<Add>,
    /// Whether new rows may be copies of rows of the table, whose row ids are lost.
    pub(crate) may_copy_rows: bool,
    /// The files added and removed with `dataChange=false`.
    pub(crate) same_rows: SameRows,
    /// What the table must allow.
    pub(crate) requirement: Requirement,
    /// The changes of rows that no change data file has, if the table records changes.
    pub(crate) unrecorded: Unrecorded,
    /// What the history records.
    pub(crate) described: Described,
    /// The verbs, and the number of files that were staged to be removed before each.
    verbs: Vec<(Operation, usize)>,
}

impl Staged {
    /// Nothing, for a table that is read.
    pub(crate) fn try_new(table: &TableConfiguration, operation: Operation) -> Result<Self> {
        Ok(Self {
            read: ReadSet::try_new(table)?,
            has_read_rows: false,
            proposal: Proposal {
                operation,
                ..Proposal::default()
            },
            altered: Vec::new(),
            evolved: None,
            new_rows: Vec::new(),
            may_copy_rows: false,
            same_rows: SameRows::default(),
            requirement: Requirement::default(),
            unrecorded: Unrecorded::default(),
            described: Described::default(),
            verbs: Vec::new(),
        })
    }

    /// Records that a verb is staged now.
    pub(crate) fn begin_verb(&mut self, operation: Operation) {
        self.verbs.push((operation, self.proposal.removes.len()));
    }

    /// Verifies that no file is staged to be removed twice.
    ///
    /// # Errors
    ///
    /// `ValueError` with the verbs that would change a file.
    pub(crate) fn ensure_once<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let removes = self.proposal.removes.iter().enumerate();
        let removes = removes.map(|(index, remove)| (remove.path.as_str(), Some(index)));
        let mut staged: BTreeMap<&str, Option<usize>> = removes.collect();
        for path in paths {
            let Some(earlier) = staged.insert(path, None) else {
                continue;
            };
            let now = self.verbs.last().map(|(verb, _)| verb.name());
            let verb_at = |index| {
                let mut verbs = self.verbs.iter().rev();
                verbs.find(|(_, start)| *start <= index)
            };
            let before = earlier.and_then(verb_at).map(|(verb, _)| verb.name());
            let what = match (before, now) {
                (Some(before), Some(now)) => {
                    format!(
                        "{path:?} is staged already: {before} changes it, and {now} would change it again"
                    )
                }
                _ => format!("{path:?} is staged already"),
            };
            return Err(Error::new(ErrorKind::InvalidArgument, what)
                .with("path", path)
                .hint("a transaction changes a file once: commit what is staged first"));
        }
        Ok(())
    }
}
