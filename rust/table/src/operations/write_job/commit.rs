//! Commits the files that the tasks of a planned write wrote.

use std::collections::BTreeMap;

use deltaic_log::transaction::{
    CommitOptions, Committed, NewContents, NewTable, Operation, RunPolicy, StagedFiles,
    create_with_written_files, run,
};
use deltaic_protocol::Result;
use deltaic_protocol::change::with_high_water_marks;
use deltaic_protocol::schema::StructType;
use object_store::ObjectStoreExt;

use super::job::{Target, WriteJob};
use super::job_rows::JobRows;
use crate::operations::add::{GivenFile, ensure_exist, records_of};
use crate::transaction::new_rows::PlannedRows;
use crate::write::Written;

impl WriteJob {
    /// Commits the files that the tasks wrote; `None` if another writer created the table first and
    /// [`IfExists::Ignore`] is set. After a failure the files are deleted, unless a version may reference them. After a
    /// conflict the same files are added to the newest version, if the table has the same configuration there.
    ///
    /// Without `data_change` the files must contain the rows that an overwrite removes, in whole files.
    ///
    /// Must be called inside a multi-threaded runtime.
    ///
    /// # Errors
    ///
    /// `ValueError` with the `path` of a file that does not exist here; `ConstraintViolation` if files without a change
    /// of data have another number of rows than the removed ones; those of
    /// [`Overwrite`] and
    /// [`create_with_rows`](crate::create::create_with_rows).
    pub async fn commit(
        &self,
        files: Vec<GivenFile>,
        data_change: bool,
        options: &CommitOptions,
    ) -> Result<Option<Committed>> {
        let staged = StagedFiles::new(&self.location);
        for file in &files {
            staged.add_path(self.location.resolve(&file.path)?);
        }
        let written = match self.accepted(files).await {
            Ok(written) => written,
            Err(error) => {
                staged.delete().await;
                return Err(error);
            }
        };
        match &self.target {
            Target::New {
                cluster_by,
                if_exists,
            } => {
                let table = NewTable {
                    cluster_by: cluster_by.clone(),
                    ..NewTable::of(StructType::default())
                };
                let mut details = table.details(self.table.metadata());
                details.metrics = written.metrics();
                let contents = NewContents {
                    configuration: with_high_water_marks(&self.table, &written.high_water_marks)?,
                    adds: written.adds,
                    operation: Operation::CreateTableAsSelect,
                    details,
                    if_exists: *if_exists,
                };
                create_with_written_files(&self.location, &contents, &staged, options).await
            }
            Target::Existing {
                snapshot,
                schema_mode,
                replaced,
            } => {
                let mut rows = JobRows {
                    rows: PlannedRows {
                        written,
                        changed: (self.table != *snapshot.configuration()).then(|| self.table.clone()),
                    },
                    staged,
                    schema_mode,
                    replaced: replaced.as_ref(),
                    data_change,
                    options,
                };
                let committed = run(snapshot.as_ref().clone(), RunPolicy::of_rows(options), &mut rows);
                committed.await.map(Some)
            }
        }
    }

    /// Deletes files that tasks wrote, of a write that will not be committed. A file that cannot be deleted remains as an
    /// unreferenced file.
    pub async fn discard(&self, files: &[GivenFile]) {
        for path in files
            .iter()
            .filter_map(|file| self.location.resolve(&file.path).ok())
        {
            let _ = self.location.store().delete(&path).await;
        }
    }

    /// Validates the files of the tasks.
    async fn accepted(&self, files: Vec<GivenFile>) -> Result<Written> {
        let digest = self.table.digest()?;
        let mut written = Written::default();
        let mut marks: BTreeMap<String, i64> = BTreeMap::new();
        let schema = self.table.schema()?;
        for file in &files {
            if file.written_for.as_ref() != Some(&digest) {
                return Err(file.wrong("it was written for another write"));
            }
            written.rows = written.rows.saturating_add(records_of(file)?);
            for (name, value) in &file.high_water_marks {
                let identity = schema.field(name).map(|field| field.identity()).transpose()?;
                let rises = identity.flatten().is_none_or(|identity| identity.step > 0);
                let mark = marks.entry(name.clone()).or_insert(*value);
                *mark = if rises {
                    (*mark).max(*value)
                } else {
                    (*mark).min(*value)
                };
            }
        }
        ensure_exist(&self.location, &files).await?;
        written.high_water_marks = marks.into_iter().collect();
        written.adds = files.into_iter().map(GivenFile::into_add).collect();
        Ok(written)
    }
}
