//! Any bytes as a line of a commit: accepted values equal those of an independent JSON parser.

#![no_main]

deltaic_fuzz::target!(commit_line);
