//! Writes deletion vectors.

mod inline_vectors;
mod united_vectors;
mod vector_file;

pub(crate) use united_vectors::UnitedVectors;
