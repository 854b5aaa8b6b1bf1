//! Any text as a partition value of any type: what is read is written again as text that reads the same.

#![no_main]

deltaic_fuzz::target!(partition_value);
