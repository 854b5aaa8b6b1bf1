//! Writes what happens to rows of the table, bucket by bucket.

use std::collections::HashMap;

use deltaic_log::progress::Progress;
use deltaic_protocol::Result;
use deltaic_storage::unused_memory::release_unused;

use super::decisions::SpilledDecisions;
use crate::operations::merge::matches::Matching;
use crate::rows::plan::plan_parts::PlanPart;
use crate::rows::plan::planned_file::PlannedFile;
use crate::rows::rewrite::RowRewriter;

impl SpilledDecisions<'_> {
    /// Writes what happens to the rows of a part of a plan. Returns the number of copied rows.
    ///
    /// # Errors
    ///
    /// `StorageError` if the temporary file cannot be read; those of [`RowRewriter::write_tasks`].
    pub(in crate::operations::merge) async fn write_rows(
        &self,
        rewriter: &mut RowRewriter<'_>,
        part: &PlanPart<'_>,
        progress: &Progress,
    ) -> Result<u64> {
        let files = part.files.iter().map(|file| (file.add().path.as_str(), *file));
        let files: HashMap<&str, PlannedFile<'_>> = files.collect();
        let mut copied = 0;
        for bucket in 0..self.buckets().len() {
            let (source, of_files) = self.read(bucket)?;
            let matching = Matching::of_decisions(self.merge(), &source, of_files);
            let mut tasks = Vec::new();
            for (path, range) in self.buckets().ranges(bucket) {
                if let Some(file) = files.get(path) {
                    tasks.extend(rewriter.task_of(*file, &matching, Some(range))?);
                }
            }
            copied += rewriter.write_tasks(tasks, &matching, progress).await?;
            drop(matching);
            drop(source);
            release_unused();
        }
        Ok(copied)
    }
}
