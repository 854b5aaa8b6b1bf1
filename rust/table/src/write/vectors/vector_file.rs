//! Writes deletion vectors to a new file of the table.
//!
//! Protocol: *Deletion Vector File Storage Format*, *Deletion Vector Descriptor Schema*.

use deltaic_log::transaction::StagedFiles;
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, VectorFile, name_of_file};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::new_id;
use deltaic_storage::store_error;
use object_store::{ObjectStoreExt, PutPayload};

/// A vector file that was written.
#[derive(Clone, Debug)]
pub(crate) struct VectorsWritten {
    /// The path, relative to the table's root.
    pub(crate) relative: String,
    /// The descriptors of the vectors, in order.
    pub(crate) descriptors: Vec<Descriptor>,
}

/// Writes vectors to one file, which is durable when this returns. Its name is unique, so writers never collide. It is
/// staged before it is written: a failed request may still create it.
pub(crate) async fn write_vectors(
    location: &TableLocation,
    vectors: &[&Bitmap],
    staged: &StagedFiles,
) -> Result<VectorsWritten> {
    let (relative, name) = name_of_file(&new_id())?;
    let mut file = VectorFile::new();
    let mut descriptors = Vec::with_capacity(vectors.len());
    for vector in vectors {
        let (offset, size_in_bytes) = file.push(vector)?;
        descriptors.push(Descriptor {
            storage_type: "u".to_owned(),
            path_or_inline_dv: name.clone(),
            offset: Some(offset),
            size_in_bytes,
            cardinality: cardinality_of(vector)?,
        });
    }
    let path = location.below(&relative)?;
    staged.add([relative.clone()]);
    let payload = PutPayload::from(file.into_bytes());
    let put = location.store().put(&path, payload).await;
    put.map_err(|error| store_error(&error, &relative))?;
    Ok(VectorsWritten {
        relative,
        descriptors,
    })
}

/// The number of rows that a vector deletes.
pub(super) fn cardinality_of(vector: &Bitmap) -> Result<i64> {
    i64::try_from(vector.len()).map_err(|_| {
        let what = "a deletion vector deletes more rows than can be counted";
        Error::new(ErrorKind::InvalidArgument, what)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use deltaic_testkit::table_builder::TableBuilder;

    use super::*;
    use crate::read::{VectorOf, read_vectors};

    #[tokio::test]
    async fn written_vectors_are_read_back() -> Result<()> {
        let location = TableBuilder::new().location();
        let bitmaps = [
            Bitmap::from_positions([0, 3, 70_000])?,
            Bitmap::from_positions(0..5_000)?,
        ];
        let vectors: Vec<&Bitmap> = bitmaps.iter().collect();
        let staged = StagedFiles::new(&location);
        let written = write_vectors(&location, &vectors, &staged).await?;
        let wanted = written.descriptors.iter().map(|descriptor| VectorOf {
            path: "a.parquet".to_owned(),
            descriptor: descriptor.clone(),
        });
        let read = read_vectors(&location, wanted.collect()).await?;
        assert!(read.iter().map(Arc::as_ref).eq(bitmaps.iter()));
        let cardinalities: Vec<i64> = written.descriptors.iter().map(|one| one.cardinality).collect();
        assert_eq!(cardinalities, [3, 5_000]);
        Ok(())
    }
}
