//! Any text as Z85, and any bytes encoded as Z85: both directions round-trip.

#![no_main]

deltaic_fuzz::target!(z85);
