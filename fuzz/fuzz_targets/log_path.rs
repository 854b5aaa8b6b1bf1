//! Any text as a file name in `_delta_log`: accepted names are exactly those of the protocol.

#![no_main]

deltaic_fuzz::target!(log_path);
