//! Any bytes as `_last_checkpoint`: a version or an error, and a checksum independent of white space and order.

#![no_main]

deltaic_fuzz::target!(last_checkpoint);
