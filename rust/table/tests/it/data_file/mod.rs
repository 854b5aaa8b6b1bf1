//! Tests the invariant of arbitrary bytes as a data file: small files of every encoding, and changes of single bytes.
//!
//! Coverage-guided: `make fuzz`.
#![expect(clippy::panic, reason = "a test states what it expects by failing")]

mod invariants;

use std::panic::{AssertUnwindSafe, catch_unwind};

use deltaic_testkit::untrusted::{panics, seeds};

/// Maximum length of the fuzz target's input.
const MOST_BYTES: usize = 16 << 10;

/// Every so many bytes of a file, one is changed: a fixed share, which takes some seconds.
const EVERY: usize = 11;

#[test]
fn damaged_data_files_are_read_alike_in_both_forms_of_strings() {
    let seeds = seeds("data_file", MOST_BYTES);
    assert!(seeds.len() > 10, "there are {} seeds", seeds.len());
    panics::watch(|| ());
    panics::take();
    for (number, seed) in seeds.iter().enumerate() {
        execute(seed);
        for place in (number % EVERY..seed.len()).step_by(EVERY) {
            let mut damaged = seed.clone();
            if let Some(byte) = damaged.get_mut(place) {
                *byte ^= 1 << (place % 8);
            }
            execute(&damaged);
        }
    }
}

fn execute(bytes: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| invariants::check_invariants(bytes)));
    let ours = panics::take();
    if outcome.is_err() || ours.is_some() {
        let what = ours.or_else(panics::take_others).unwrap_or_default();
        panic!("{what}\nthe bytes are {:?}", bytes.escape_ascii().to_string());
    }
}
