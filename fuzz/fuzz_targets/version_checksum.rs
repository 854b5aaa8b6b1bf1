//! Any bytes as a version checksum: an accepted checksum is consistent.

#![no_main]

deltaic_fuzz::target!(version_checksum);
