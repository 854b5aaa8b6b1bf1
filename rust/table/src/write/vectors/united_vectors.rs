//! Merges the deletion vectors of files from which two commits deleted different rows.
//!
//! Protocol: *Deletion Vectors*.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use deltaic_log::transaction::{SharedFile, StagedFiles, United, UnitedVector, Vectors};
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor};
use deltaic_protocol::{Error, Result};
use deltaic_storage::TableLocation;

use super::inline_vectors::inline_vectors;
use super::vector_file::{VectorsWritten, write_vectors};
use crate::read::{VectorOf, read_vectors};

/// The deletion vectors of one transaction: those for its own deletions, and those merged with winning commits.
#[derive(Debug)]
pub(crate) struct UnitedVectors {
    location: Arc<TableLocation>,
    files: Arc<StagedFiles>,
    written: Mutex<Written>,
}

/// The vector files of the transaction, and the data files whose current vector is in each.
#[derive(Debug, Default)]
struct Written(BTreeMap<String, BTreeSet<String>>);

impl Written {
    /// Forgets the earlier vectors of data files; returns the vector files that no data file needs any more.
    fn supersede(&mut self, paths: &BTreeSet<String>) -> Vec<String> {
        for older in self.0.values_mut() {
            older.retain(|path| !paths.contains(path));
        }
        let all = std::mem::take(&mut self.0);
        let (superseded, needed) = all.into_iter().partition(|(_, paths)| paths.is_empty());
        self.0 = needed;
        BTreeMap::into_keys(superseded).collect()
    }
}

impl UnitedVectors {
    /// No vectors yet; their files are added to the staged files.
    pub(crate) fn new(location: &Arc<TableLocation>, files: &Arc<StagedFiles>) -> Self {
        Self {
            location: Arc::clone(location),
            files: Arc::clone(files),
            written: Mutex::default(),
        }
    }

    /// Writes the vectors of data files to one new file, or none if they are small enough to be inline; returns their
    /// descriptors in order.
    pub(crate) async fn write(&self, vectors: &[(String, Bitmap)]) -> Result<Vec<Descriptor>> {
        let bitmaps: Vec<&Bitmap> = vectors.iter().map(|(_, bitmap)| bitmap).collect();
        let paths: BTreeSet<String> = vectors.iter().map(|(path, _)| path.clone()).collect();
        if let Some(descriptors) = inline_vectors(&bitmaps)? {
            self.supersede(&paths);
            return Ok(descriptors);
        }
        let VectorsWritten {
            relative,
            descriptors,
        } = write_vectors(&self.location, &bitmaps, &self.files).await?;
        self.supersede(&paths);
        self.with(|written| written.0.insert(relative, paths));
        Ok(descriptors)
    }

    fn supersede(&self, paths: &BTreeSet<String>) {
        for relative in self.with(|written| written.supersede(paths)) {
            self.files.supersede(&relative);
        }
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
        let mut wanted = vec![of(&file.winning)];
        wanted.extend(file.base.as_ref().map(of));
        wanted.extend(file.proposed.as_ref().map(of));
        let mut vectors = read_vectors(&self.location, wanted).await?.into_iter();
        let mut next = || {
            vectors
                .next()
                .ok_or_else(|| Error::internal("a deletion vector was not read"))
        };
        let winning = next()?;
        let base = file.base.as_ref().map(|_| next()).transpose()?;
        let base = base.unwrap_or_default();
        let proposed = file.proposed.as_ref().map(|_| next()).transpose()?;
        let Some(united) = file.unite(&base, proposed.as_deref(), &winning) else {
            return Ok(UnitedVector::Overlap);
        };
        if proposed.is_none() {
            return Ok(UnitedVector::Untouched);
        }
        if file.is_emptied_by(&united) {
            self.supersede(&BTreeSet::from([file.path.clone()]));
            return Ok(UnitedVector::Emptied);
        }
        let descriptors = self.write(&[(file.path.clone(), united)]).await?;
        let descriptor = descriptors
            .into_iter()
            .next()
            .ok_or_else(|| Error::internal("a deletion vector was not written"))?;
        Ok(UnitedVector::Vector(descriptor))
    }
}

impl Vectors for UnitedVectors {
    fn unite<'a>(&'a self, file: &'a SharedFile) -> United<'a> {
        Box::pin(Self::unite(self, file))
    }
}
