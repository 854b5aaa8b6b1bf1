//! Tests the invariant of Arrow data from any producer with random mutations of known bytes.
//!
//! Coverage-guided: `make fuzz`.
#![expect(clippy::panic, reason = "a test states what it expects by failing")]

mod invariants;

use std::panic::{AssertUnwindSafe, catch_unwind};

use deltaic_testkit::test_seed::test_seed;
use deltaic_testkit::untrusted::mutation::{Chance, Material};
use deltaic_testkit::untrusted::{dictionary, executions, panics, seeds};

/// Number of trials, unless `FUZZ_EXECUTIONS` is set.
const EXECUTIONS: u64 = 20_000;

/// Maximum length of the fuzz target's input.
const MOST_BYTES: usize = 512;

#[test]
fn arrow_data_are_refused_or_fit() {
    let (seeds, words) = (seeds("arrow_input", MOST_BYTES), dictionary("arrow_input"));
    assert!(
        seeds.len() > 20 && !words.is_empty(),
        "there are no seeds or no words"
    );
    panics::watch(|| ());
    panics::take();
    let material = Material {
        seeds: &seeds,
        words: &words,
        most_bytes: MOST_BYTES,
    };
    for seed in &seeds {
        execute(seed);
    }
    let first = test_seed();
    for number in 0..executions(EXECUTIONS) {
        let chance = &mut Chance::from_number(first.wrapping_add(number));
        execute(&material.changed(chance));
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
