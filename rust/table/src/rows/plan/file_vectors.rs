//! Reads the current deletion vectors of live files.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_protocol::actions::Add;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::{Error, Result};

use crate::read::{VectorOf, read_vectors};

/// Returns the current deletion vectors of files, in order; empty ones for files without.
pub(crate) async fn vectors_of<'a>(
    snapshot: &Snapshot,
    adds: impl Iterator<Item = &'a Add> + Clone,
) -> Result<Vec<Arc<Bitmap>>> {
    let wanted = adds.clone().filter_map(|add| {
        Some(VectorOf {
            path: add.path.clone(),
            descriptor: add.deletion_vector.clone()?,
        })
    });
    let mut read = read_vectors(snapshot.location(), wanted.collect())
        .await?
        .into_iter();
    let vectors = adds.map(|add| match add.deletion_vector {
        Some(_) => read
            .next()
            .ok_or_else(|| Error::internal("a deletion vector was not read")),
        None => Ok(Arc::default()),
    });
    vectors.collect()
}
