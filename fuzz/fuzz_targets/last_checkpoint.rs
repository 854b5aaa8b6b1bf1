//! Any bytes as `_last_checkpoint`: a version or a reason, and a checksum that white space and order do not change.

#![no_main]

deltaic_fuzz::target!(last_checkpoint);
