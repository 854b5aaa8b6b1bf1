//! Any text as a `schemaString`: a parsed schema round-trips, and its contents can be displayed.

#![no_main]

deltaic_fuzz::target!(schema_string);
