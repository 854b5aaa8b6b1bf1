//! Any text as a table's URI and options: a location that round-trips, or an error; neither contains a secret.

#![no_main]

deltaic_fuzz::target!(store_uri);
