//! Any text as a deletion vector descriptor: it is validated, and an inline deletion vector is decoded exactly.

#![no_main]

deltaic_fuzz::target!(vector_descriptor);
