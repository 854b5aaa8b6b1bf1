//! Any bytes as a deletion vector: the naive reading finds the same rows, and what is written is read again.

#![no_main]

deltaic_fuzz::target!(vector_bytes);
