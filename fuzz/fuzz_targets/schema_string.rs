//! Any text as a `schemaString`: what is read and written again reads the same, and what it holds can be told.

#![no_main]

deltaic_fuzz::target!(schema_string);
