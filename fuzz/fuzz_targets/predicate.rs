//! Any text as a predicate: a predicate or an error that names the place, never a panic or an endless descent.

#![no_main]

use deltaic_protocol::expr::parse_predicate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = parse_predicate(text);
});
