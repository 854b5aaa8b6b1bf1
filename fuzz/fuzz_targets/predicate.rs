//! Any text as a predicate: a predicate or a descriptive error, never a panic or unbounded recursion.

#![no_main]

deltaic_fuzz::target!(predicate);
