//! Merges the deletion vectors of files from which two commits deleted different rows.
//!
//! Protocol: *Deletion Vectors*.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use deltaic_log::TableLocation;
use deltaic_log::fault::caught;
use deltaic_log::transaction::{SharedFile, United, UnitedVector, Vectors, unite};
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor};

use super::OwnerProcess;
use super::give_up::give_up;
use super::vector_file::{VectorsWritten, write_vectors};
use crate::read::{VectorOf, read_vectors};

/// The deletion vectors of one transaction: those for its own deletions, and those merged with winning commits.
#[derive(Debug)]
pub(crate) struct UnitedVectors {
    location: Arc<TableLocation>,
    owner: OwnerProcess,
    written: Mutex<Written>,
}

/// The vector files of the transaction, and the data files whose current vector is in each.
#[derive(Debug, Default)]
struct Written(BTreeMap<String, BTreeSet<String>>);

impl Written {
    fn push(&mut self, relative: String, paths: impl IntoIterator<Item = String>) {
        let paths: BTreeSet<String> = paths.into_iter().collect();
        self.supersede(&paths);
        self.0.insert(relative, paths);
    }

    /// Marks earlier vectors of the data files as superseded.
    fn supersede(&mut self, paths: &BTreeSet<String>) {
        for older in self.0.values_mut() {
            older.retain(|path| !paths.contains(path));
        }
    }
}

impl UnitedVectors {
    pub(crate) fn new(location: &Arc<TableLocation>) -> Self {
        Self {
            location: Arc::clone(location),
            owner: OwnerProcess::current(),
            written: Mutex::default(),
        }
    }

    /// Writes the vectors of data files to one new file; returns their descriptors in order.
    pub(crate) async fn write(&self, vectors: &[(String, Bitmap)]) -> Result<Vec<Descriptor>> {
        let bitmaps: Vec<&Bitmap> = vectors.iter().map(|(_, bitmap)| bitmap).collect();
        let VectorsWritten {
            relative,
            descriptors,
        } = write_vectors(&self.location, &bitmaps).await?;
        let paths = vectors.iter().map(|(path, _)| path.clone());
        self.with(|written| written.push(relative, paths));
        Ok(descriptors)
    }

    /// After the commit, deletes vector files whose vectors were all superseded before it: no action names them.
    pub(crate) async fn settle(&self) {
        let all = self.with(std::mem::take);
        let superseded = all.0.into_iter().filter(|(_, paths)| paths.is_empty());
        let superseded = superseded.map(|(relative, _)| relative);
        give_up(&self.location, self.owner, superseded).await;
    }

    /// Deletes all vector files, after it is certain that no commit names one.
    pub(crate) async fn abort(&self) {
        let all = self.with(std::mem::take);
        give_up(&self.location, self.owner, all.0.into_keys()).await;
    }

    /// Keeps the vector files, because a commit may name them.
    pub(crate) fn keep(&self) {
        drop(self.with(std::mem::take));
    }

    fn with<T>(&self, change: impl FnOnce(&mut Written) -> T) -> T {
        // Each change leaves a consistent map, so a poisoned lock is harmless.
        change(&mut self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn unite(&self, file: &SharedFile) -> Result<UnitedVector> {
        let of = |descriptor: &Descriptor| VectorOf {
            path: file.path.clone(),
            descriptor: descriptor.clone(),
        };
        let mut wanted = vec![of(&file.winner)];
        wanted.extend(file.base.as_ref().map(of));
        wanted.extend(file.mine.as_ref().map(of));
        let mut vectors = read_vectors(&self.location, wanted).await?.into_iter();
        let mut next = || vectors.next().ok_or_else(caught);
        let winner = next()?;
        let base = file.base.as_ref().map(|_| next()).transpose()?;
        let base = base.unwrap_or_default();
        let mine = file.mine.as_ref().map(|_| next()).transpose()?;
        let Some(united) = unite(&base, mine.as_deref(), &winner) else {
            return Ok(UnitedVector::Overlap);
        };
        if mine.is_none() {
            return Ok(UnitedVector::Untouched);
        }
        if file.is_emptied_by(&united) {
            self.with(|written| written.supersede(&BTreeSet::from([file.path.clone()])));
            return Ok(UnitedVector::Emptied);
        }
        let descriptors = self.write(&[(file.path.clone(), united)]).await?;
        let descriptor = descriptors.into_iter().next().ok_or_else(caught)?;
        Ok(UnitedVector::Vector(descriptor))
    }
}

impl Vectors for UnitedVectors {
    fn unite<'a>(&'a self, file: &'a SharedFile) -> United<'a> {
        Box::pin(Self::unite(self, file))
    }
}
