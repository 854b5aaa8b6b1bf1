//! Any bytes as statistics: the quick way and the general way read the same, and neither panics.

#![no_main]

deltaic_fuzz::target!(statistics);
