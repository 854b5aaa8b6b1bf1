//! Reads deletion vectors.

pub(crate) mod list_vectors;
pub(crate) mod read_vectors;
