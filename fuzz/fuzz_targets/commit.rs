//! Any bytes as a commit: three parsers agree, for whole commits, chunks and single lines.

#![no_main]

deltaic_fuzz::target!(commit);
