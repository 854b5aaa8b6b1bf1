//! The sidecars of a checkpoint as files: their origin, columns and tombstones.
//!
//! Protocol: *Sidecar Files*, *Sidecar File Information*.

use std::collections::HashSet;
use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_protocol::actions::Sidecar;
use parquet::schema::types::SchemaDescriptor;

use super::contents::Checkpoint;
use super::parquet::FileActions;
use super::row_groups::{allowance_of, groups_of};
use super::sidecar_path::sidecar_path;
use crate::decode::{ActionsFile, FileBatch, StatisticsSource};

impl Checkpoint {
    /// The sidecars with their files, in the order of the top-level file.
    pub(crate) fn sidecar_files(&self) -> impl Iterator<Item = (&Sidecar, &Arc<ActionsFile>)> + '_ {
        self.sidecars
            .iter()
            .filter_map(|sidecar| Some((sidecar, self.opened(sidecar)?)))
    }

    /// The file of a sidecar, if this checkpoint references it too.
    pub(super) fn opened(&self, sidecar: &Sidecar) -> Option<&Arc<ActionsFile>> {
        let relative = sidecar_path(sidecar).ok()?;
        let size = u64::try_from(sidecar.size_in_bytes).ok()?;
        let mut files = self.parquet.iter();
        files.find(|file| file.relative == relative && file.size() == size)
    }
}

impl Checkpoint {
    /// Adds the contents of sidecars of another checkpoint.
    pub(super) fn share(&mut self, known: &Self, sidecars: &[&Sidecar]) {
        let files: Vec<&Arc<ActionsFile>> = sidecars
            .iter()
            .filter_map(|sidecar| known.opened(sidecar))
            .collect();
        let addresses: HashSet<usize> = files.iter().map(|file| Arc::as_ptr(file).addr()).collect();
        let is_shared = |adds: &&Arc<FileBatch>| match &adds.statistics {
            StatisticsSource::RowGroup(place) => addresses.contains(&Arc::as_ptr(&place.file).addr()),
            _ => false,
        };
        self.adds.extend(known.adds.iter().filter(is_shared).cloned());
        self.parquet.extend(files.into_iter().cloned());
    }
}

impl ActionsFile {
    /// Path relative to the table's root.
    pub(crate) fn relative(&self) -> &str {
        &self.relative
    }

    /// The program that wrote the file, according to its footer.
    pub(crate) fn created_by(&self) -> Option<&str> {
        self.metadata.metadata().file_metadata().created_by()
    }

    /// The columns of the file.
    pub(crate) fn columns(&self) -> &SchemaDescriptor {
        self.metadata.metadata().file_metadata().schema_descr()
    }

    /// Reads the keys and times of the tombstones.
    pub(crate) async fn tombstones(self: &Arc<Self>) -> Result<Vec<Arc<FileBatch>>> {
        let files = [Arc::clone(self)];
        let allowance = allowance_of(&files);
        let mut removes = Vec::new();
        for (file, group) in groups_of(&files) {
            let held = file
                .read_group(group, FileActions::Removes, Arc::clone(&allowance))
                .await?;
            removes.extend(held.files);
        }
        Ok(removes)
    }
}
