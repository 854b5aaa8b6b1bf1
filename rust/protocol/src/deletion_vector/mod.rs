//! Deletion vectors: the rows of a data file that are no longer in the table.
//!
//! Protocol: *Deletion Vectors*, *Deletion Vector Format*, *Deletion Vector File Storage Format*.
//!
//! A [`Descriptor`] says where a vector is. Its bytes lie in the descriptor's own text or in a frame of a vector file
//! ([`parse_frame`], [`unframe`]), and become a [`Bitmap`]: the positions of the deleted rows.

mod bitmap;
mod bucket;
mod bytes;
mod descriptor;
mod file;
mod place;
mod ranges;
pub mod z85;

pub use bitmap::Bitmap;
pub use descriptor::{Descriptor, DescriptorText};
pub use file::{VectorFile, check_version, parse_frame, unframe};
pub use place::{Place, name_of_file};

#[cfg(test)]
mod tests;
