//! The rows of a bucket that are read to be changed or copied.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;

use crate::operations::merge::bound_merge::BoundAction;
use crate::operations::merge::matching::Matching;
use crate::rows::delete_plan::RewrittenFile;
use crate::rows::plan_parts::PlanPart;
use crate::scan::{Rows, Scan, ScanTask};

/// The files of a plan by path.
pub(in crate::operations::merge) struct PlannedFiles<'p> {
    changed: HashMap<&'p str, &'p Add>,
    rewritten: HashMap<&'p str, &'p RewrittenFile>,
    /// Whether the rows that are deleted are read, too.
    has_feed: bool,
}

impl<'p> PlannedFiles<'p> {
    pub(in crate::operations::merge) fn of(part: &PlanPart<'p>, has_feed: bool) -> Self {
        let rewritten = part.rewritten.iter();
        Self {
            changed: part
                .without_rewritten()
                .map(|add| (add.path.as_str(), add))
                .collect(),
            rewritten: rewritten.map(|file| (file.add.path.as_str(), *file)).collect(),
            has_feed,
        }
    }

    /// The rows to read: of rewritten files all, of others those that are updated, and those whose deletion is recorded.
    ///
    /// # Errors
    ///
    /// `ValueError` for a position that deletion vectors cannot have.
    pub(in crate::operations::merge) fn tasks(
        &self,
        scan: &Scan,
        matching: &Matching<'_>,
        ranges: &[(&str, Range<u64>)],
    ) -> Result<Vec<ScanTask>> {
        let mut tasks = Vec::new();
        for (path, range) in ranges {
            if let Some(file) = self.rewritten.get(path) {
                let rows = Rows::Within(range.clone(), Arc::new(file.deleted_before()));
                tasks.push(scan.task_of_rows(&file.add, rows));
            } else if let Some(add) = self.changed.get(path) {
                let is_read =
                    |action: &BoundAction| self.has_feed || matches!(action, BoundAction::Update(_));
                let rows = matching.changed(path, is_read)?;
                if !rows.is_empty() {
                    tasks.push(scan.task_of_rows(add, Rows::Only(Arc::new(rows))));
                }
            }
        }
        Ok(tasks)
    }
}
