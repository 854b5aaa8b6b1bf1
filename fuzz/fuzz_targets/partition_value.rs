//! Any text as a partition value of any type: a parsed value round-trips through its text.

#![no_main]

deltaic_fuzz::target!(partition_value);
