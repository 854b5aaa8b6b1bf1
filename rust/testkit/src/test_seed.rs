//! The seed of random tests, the same as in `tests/seed.py`.

/// The seed if none is set.
const DEFAULT: u64 = 3_328_923_093;

/// The seed in the environment variable `TEST_SEED`. Printed, so that a failed test shows how to repeat it.
///
/// # Panics
///
/// If the variable is not a number.
#[expect(
    clippy::disallowed_methods,
    reason = "a test run is reproduced through its environment"
)]
#[expect(clippy::print_stderr, reason = "a failed test prints its seed")]
#[expect(clippy::panic, reason = "an ignored seed would not reproduce the run")]
#[must_use]
pub fn test_seed() -> u64 {
    let seed = std::env::var("TEST_SEED").map_or(DEFAULT, |set| {
        set.parse()
            .unwrap_or_else(|_| panic!("TEST_SEED is not a number: {set}"))
    });
    eprintln!("TEST_SEED={seed}");
    seed
}
