//! Any text as a predicate: a predicate or an error that says why, never a panic or an endless descent.

#![no_main]

deltaic_fuzz::target!(predicate);
