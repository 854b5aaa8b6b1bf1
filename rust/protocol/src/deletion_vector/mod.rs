//! Deletion vectors: the deleted rows of a data file.
//!
//! Protocol: *Deletion Vectors*, *Deletion Vector Format*, *Deletion Vector File Storage Format*.
//!
//! A [`Descriptor`] locates a deletion vector. Its bytes are inline in the descriptor or in a frame of a
//! deletion vector file ([`parse_frame`], [`unframe`]), and are decoded to a [`Bitmap`]: the positions of
//! the deleted rows.

mod bitmap;
mod bucket;
mod bytes;
mod decode;
mod descriptor;
mod file;
mod location;
mod ranges;
pub mod z85;

pub use bitmap::Bitmap;
pub use descriptor::{Descriptor, DescriptorText};
pub use file::{VectorFile, check_version, parse_frame, unframe};
pub use location::{VectorLocation, name_of_file};

#[cfg(test)]
mod tests;
