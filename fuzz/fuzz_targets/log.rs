//! Any bytes as the files of a log: opening and checking it raise only documented errors, and agree.

#![no_main]

deltaic_fuzz::target!(log);
