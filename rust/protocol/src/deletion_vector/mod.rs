//! Deletion vectors: the rows of a data file that are no longer in the table.
//!
//! Protocol: *Deletion Vectors*. Only the descriptor is understood: it is part of a logical file's key. A table
//! whose protocol has the feature is refused until the vectors themselves are decoded.

mod descriptor;

pub use descriptor::{Descriptor, DescriptorText};
