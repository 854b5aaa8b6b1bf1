//! Any text as a table's URI and its options: a place that leads to itself, or an error; and neither tells a secret.

#![no_main]

deltaic_fuzz::target!(store_uri);
