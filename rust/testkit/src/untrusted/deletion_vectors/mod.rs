//! Deletion vectors: their bytes, descriptors and files, and the encoding of those in the log.

pub(super) mod vector_bytes;
pub(super) mod vector_descriptor;
pub(super) mod vector_file;
mod vector_naive;
pub(super) mod z85;
