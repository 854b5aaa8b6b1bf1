//! Any text as a file name in `_delta_log`: what is taken is named exactly as the protocol names it.

#![no_main]

deltaic_fuzz::target!(log_path);
