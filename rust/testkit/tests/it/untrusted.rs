//! Tests the invariants of `deltaic_testkit::untrusted` with random mutations of known bytes.
//!
//! Coverage-guided: `make fuzz`.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use deltaic_testkit::test_seed::test_seed;
use deltaic_testkit::untrusted::mutation::{Chance, Material};
use deltaic_testkit::untrusted::{self, Target, bombs, dictionary, panics, seeds};

/// Trials per invariant, fewer for slow ones, unless `FUZZ_EXECUTIONS` is set: a search makes more.
const EXECUTIONS: u64 = 20_000;

fn holds(name: &str) {
    assert!(untrusted::is_counted(), "the memory is not counted");
    let Some(target) = untrusted::named(name) else {
        panic!("the target {name} does not exist");
    };
    // Short seeds, so that many trials take little time; coverage-guided fuzzing uses all of them.
    let (seeds, words) = (seeds(name, target.most_bytes / 4), dictionary(name));
    assert!(
        !seeds.is_empty() && !words.is_empty(),
        "{name} has no seeds or no dictionary"
    );
    panics::watch(|| ());
    panics::take();
    for seed in seeds.iter().chain(&bombs(name)) {
        execute(target, seed);
    }
    let material = Material {
        seeds: &seeds,
        words: &words,
        most_bytes: target.most_bytes,
    };
    let first = test_seed();
    for number in 0..untrusted::executions(EXECUTIONS) / target.slowness {
        let chance = &mut Chance::from_number(first.wrapping_add(number));
        execute(target, &material.changed(chance));
    }
}

/// Tries the invariant with some bytes, and writes them to a file if it is violated.
fn execute(target: Target, bytes: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.check_invariants)(bytes)));
    let ours = panics::take();
    if outcome.is_err() || ours.is_some() {
        let kept = keep(target, bytes);
        panic!(
            "{}: {}\nthe input is in {kept}; to reproduce: cargo +nightly fuzz run {} {kept}",
            target.name,
            ours.or_else(panics::take_others).unwrap_or_default(),
            target.name
        );
    }
}

fn keep(target: Target, bytes: &[u8]) -> String {
    let file = tempfile::Builder::new()
        .prefix(&format!("untrusted-{}-", target.name))
        .tempfile();
    let kept = file.ok().and_then(|mut file| {
        file.write_all(bytes).ok()?;
        file.into_temp_path().keep().ok()
    });
    kept.map_or_else(
        || format!("no file: {bytes:?}"),
        |path| path.display().to_string(),
    )
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                holds(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_tried() {
            let tried = [$(stringify!($name)),*];
            assert_eq!(untrusted::TARGETS.map(|target| target.name), tried);
        }
    };
}

targets! {
    commit_line commit log checkpoint last_checkpoint version_checksum log_path data_path schema_string partition_value
    statistics store_uri predicate vector_bytes vector_file vector_descriptor z85
}
