//! Any bytes as a commit: three ways of reading say the same, in one go, in pieces, and line by line.

#![no_main]

deltaic_fuzz::target!(commit);
