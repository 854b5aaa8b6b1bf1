//! Any bytes as a line of a commit: an action or an error, never a panic.

#![no_main]

use deltaic_protocol::actions::parse_line;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| {
    let _ = parse_line(line);
});
