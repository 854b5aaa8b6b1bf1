//! Any text as a path of the log: opened files are below the table's root, and no error contains a secret.

#![no_main]

deltaic_fuzz::target!(data_path);
