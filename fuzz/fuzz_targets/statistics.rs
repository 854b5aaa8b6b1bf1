//! Any bytes as statistics: the fast and the general parser return the same values, and neither panics.

#![no_main]

deltaic_fuzz::target!(statistics);
