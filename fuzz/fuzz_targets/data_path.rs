//! Any text as a path out of the log: what is opened lies below the table's root, and no error tells a secret.

#![no_main]

deltaic_fuzz::target!(data_path);
