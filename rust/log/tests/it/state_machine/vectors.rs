//! Deletion vectors, inline and in files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{SharedFile, United, UnitedVector, Vectors, unite};
use deltaic_protocol::Result;
use deltaic_protocol::deletion_vector::{
    Bitmap, Descriptor, VectorFile, VectorLocation, name_of_file, parse_frame, z85,
};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::new_id;
use deltaic_storage::store_error;
use object_store::ObjectStoreExt;

/// Where a vector is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VectorPlacement {
    InLog,
    /// After another vector of the same file.
    InFile,
}

/// Writes a vector of some rows; `None` without rows.
pub(crate) async fn to_vector(
    location: &TableLocation,
    rows: &BTreeSet<u64>,
    kept: VectorPlacement,
) -> Result<Option<Descriptor>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let bitmap = Bitmap::from_positions(rows.iter().copied())?;
    write(location, &bitmap, kept).await.map(Some)
}

async fn write(location: &TableLocation, rows: &Bitmap, kept: VectorPlacement) -> Result<Descriptor> {
    let cardinality = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    if kept == VectorPlacement::InLog {
        let bytes = rows.encode()?;
        return Ok(Descriptor {
            storage_type: "i".to_owned(),
            path_or_inline_dv: z85::encode(&bytes),
            offset: None,
            size_in_bytes: i32::try_from(bytes.len()).unwrap_or(i32::MAX),
            cardinality,
        });
    }
    let (name, text) = name_of_file(&new_id())?;
    let mut file = VectorFile::new();
    file.push(&Bitmap::from_positions([0])?)?;
    let (offset, size_in_bytes) = file.push(rows)?;
    let path = location.below(&name)?;
    let put = location.store().put(&path, file.into_bytes().into()).await;
    put.map_err(|error| store_error(&error, &name))?;
    Ok(Descriptor {
        storage_type: "u".to_owned(),
        path_or_inline_dv: text,
        offset: Some(offset),
        size_in_bytes,
        cardinality,
    })
}

async fn read(location: &TableLocation, vector: Option<&Descriptor>) -> Result<Bitmap> {
    let Some(vector) = vector else {
        return Ok(Bitmap::default());
    };
    match vector.validate()? {
        VectorLocation::Inline(_) => Ok(vector.decode_inline()?.unwrap_or_default()),
        VectorLocation::File(path) => {
            let file = location.read(&path).await;
            let file = file.map_err(|error| store_error(&error, &path))?;
            vector.decode(parse_frame(&file, vector)?)
        }
    }
}

/// The rows that a vector deletes.
pub(crate) async fn rows_of(location: &TableLocation, vector: Option<&Descriptor>) -> Result<BTreeSet<u64>> {
    Ok(read(location, vector).await?.iter().collect())
}

/// The vectors of a version's files, by path.
pub(crate) async fn vectors_of(snapshot: &Snapshot) -> Result<BTreeMap<String, Descriptor>> {
    let (files, _) = snapshot.files(None).await?;
    let mut vectors = BTreeMap::new();
    for batch in &files.batches {
        for row in 0..batch.len() {
            let vector = batch.adds.descriptor(row);
            vectors.extend(vector.map(|vector| (batch.adds.path.value(row).to_owned(), vector)));
        }
    }
    Ok(vectors)
}

/// Merges the vectors of files that two commits share.
pub(crate) struct Uniter {
    pub(crate) location: Arc<TableLocation>,
    pub(crate) kept: VectorPlacement,
    /// Number of rows of each file, including deleted ones.
    pub(crate) rows: BTreeMap<String, u64>,
}

impl Vectors for Uniter {
    fn unite<'a>(&'a self, file: &'a SharedFile) -> United<'a> {
        Box::pin(async move {
            let base = read(&self.location, file.base.as_ref()).await?;
            let winning = read(&self.location, Some(&file.winning)).await?;
            let proposed = match &file.proposed {
                Some(proposed) => Some(read(&self.location, Some(proposed)).await?),
                None => None,
            };
            let Some(united) = unite(&base, proposed.as_ref(), &winning) else {
                return Ok(UnitedVector::Overlap);
            };
            if proposed.is_none() {
                return Ok(UnitedVector::Untouched);
            }
            if self.rows.get(&file.path) == Some(&united.len()) {
                return Ok(UnitedVector::Emptied);
            }
            write(&self.location, &united, self.kept)
                .await
                .map(UnitedVector::Vector)
        })
    }
}
