//! Any text as Z85, and any bytes to be written in it: both ways lead back.

#![no_main]

deltaic_fuzz::target!(z85);
