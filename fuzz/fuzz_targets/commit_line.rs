//! Any bytes as a line of a commit: what is taken is what an independent reading of the JSON finds there.

#![no_main]

deltaic_fuzz::target!(commit_line);
