//! Any bytes as a deletion vector: a naive decoder finds the same rows, and encoded vectors round-trip.

#![no_main]

deltaic_fuzz::target!(vector_bytes);
