//! Puts small deletion vectors into their descriptors.
//!
//! Protocol: *Deletion Vector Descriptor Schema*. An inline vector saves a file and the requests that write and read
//! it, but every snapshot and checkpoint holds its bytes as long as the data file is live.

use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, z85};
use deltaic_protocol::{Error, Result};

use super::vector_file::cardinality_of;

/// The maximum size of an inline vector in bytes: 16 rows that are not adjacent, if the file has no more than 65,536.
const MAX_VECTOR: usize = 64;

/// The maximum size of all inline vectors of a statement in bytes. The file of more vectors is worth its requests.
const MAX_STATEMENT: usize = 1024;

/// Returns the descriptors of vectors that are inline, in order; `None` if they belong in a file. One large vector needs
/// a file, which then has the small ones too.
pub(super) fn inline_vectors(vectors: &[&Bitmap]) -> Result<Option<Vec<Descriptor>>> {
    let mut descriptors = Vec::new();
    let mut total = 0;
    for vector in vectors {
        let bytes = vector.encode()?;
        total += bytes.len();
        if bytes.len() > MAX_VECTOR || total > MAX_STATEMENT {
            return Ok(None);
        }
        descriptors.push(Descriptor {
            storage_type: "i".to_owned(),
            path_or_inline_dv: z85::encode(&bytes),
            offset: None,
            size_in_bytes: i32::try_from(bytes.len())
                .map_err(|_| Error::internal("a small deletion vector has too many bytes"))?,
            cardinality: cardinality_of(vector)?,
        });
    }
    Ok(Some(descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of files of which rows at even positions are deleted.
    fn inline(rows: &[u64]) -> Result<Option<Vec<Descriptor>>> {
        let bitmaps = rows
            .iter()
            .map(|rows| Bitmap::from_positions((0..*rows).map(|row| 2 * row)));
        let bitmaps: Vec<Bitmap> = bitmaps.collect::<Result<_>>()?;
        inline_vectors(&bitmaps.iter().collect::<Vec<_>>())
    }

    #[test]
    fn small_vectors_are_inline() -> Result<()> {
        let descriptors = inline(&[1, 16])?.unwrap_or_default();
        let sizes: Vec<i32> = descriptors.iter().map(|one| one.size_in_bytes).collect();
        assert_eq!(sizes, [34, 64]);
        let read = descriptors.iter().map(Descriptor::decode_inline);
        let read: Vec<Option<Bitmap>> = read.collect::<Result<_>>()?;
        let rows: Vec<u64> = read.iter().flatten().map(Bitmap::len).collect();
        assert_eq!(rows, [1, 16]);
        Ok(())
    }

    #[test]
    fn large_and_many_vectors_are_in_a_file() -> Result<()> {
        assert_eq!(inline(&[17])?, None);
        assert_eq!(inline(&[1, 17])?, None);
        assert!(inline(&[16; 16])?.is_some());
        assert_eq!(inline(&[16; 17])?, None);
        Ok(())
    }
}
