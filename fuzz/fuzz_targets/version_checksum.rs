//! Any bytes as a version checksum: what was taken does not contradict itself.

#![no_main]

deltaic_fuzz::target!(version_checksum);
