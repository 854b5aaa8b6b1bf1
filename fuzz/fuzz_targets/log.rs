//! Any bytes as the files of a log: opening it and checking it never fail otherwise than they may, and agree.

#![no_main]

deltaic_fuzz::target!(log);
