//! Untrusted input: the invariants of each parser of external bytes, for arbitrary bytes.
//!
//! Each invariant is a function that panics if violated. It is called by the fuzz targets of `fuzz/`, which search for
//! bytes with new coverage, and by a test that mutates known bytes at random.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a panic reports a violated invariant"
)]

mod data_path;
mod deletion_vectors;
mod log_files;
mod log_path;
mod memory;
pub mod mutation;
pub mod panics;
mod partition_value;
mod predicate;
mod runtime;
mod schema_string;
mod seeds;
mod statistics;
mod store_uri;

pub use memory::is_counted;
pub use seeds::{bombs, dictionary, seeds};

/// A parser of external bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, also of its seeds and dictionaries.
    pub name: &'static str,
    /// Maximum length of the input, so that time is spent on different inputs rather than on large ones.
    pub most_bytes: usize,
    /// Duration of a trial relative to other targets; the number of trials is divided by it if time is limited.
    pub slowness: u64,
    /// Panics if the invariant is violated.
    pub check_invariants: fn(&[u8]),
}

const KIB: usize = 1024;

/// All targets.
pub const TARGETS: [Target; 17] = [
    target("commit_line", 4 * KIB, log_files::commit_line::check_invariants),
    target("commit", 16 * KIB, log_files::commit::check_invariants),
    Target {
        slowness: 20,
        ..target("log", 16 * KIB, log_files::log::check_invariants)
    },
    target("checkpoint", 64 * KIB, log_files::checkpoint::check_invariants),
    target(
        "last_checkpoint",
        4 * KIB,
        log_files::last_checkpoint::check_invariants,
    ),
    target(
        "version_checksum",
        16 * KIB,
        log_files::version_checksum::check_invariants,
    ),
    target("log_path", 256, log_path::check_invariants),
    target("data_path", KIB, data_path::check_invariants),
    target("schema_string", 8 * KIB, schema_string::check_invariants),
    target("partition_value", 512, partition_value::check_invariants),
    target("statistics", 4 * KIB, statistics::check_invariants),
    target("store_uri", 2 * KIB, store_uri::check_invariants),
    target("predicate", KIB, predicate::check_invariants),
    // A single bitset takes 8 KiB.
    target(
        "vector_bytes",
        40 * KIB,
        deletion_vectors::vector_bytes::check_invariants,
    ),
    target(
        "vector_file",
        16 * KIB,
        deletion_vectors::vector_file::check_invariants,
    ),
    target(
        "vector_descriptor",
        4 * KIB,
        deletion_vectors::vector_descriptor::check_invariants,
    ),
    target("z85", KIB, deletion_vectors::z85::check_invariants),
];

const fn target(name: &'static str, most_bytes: usize, check_invariants: fn(&[u8])) -> Target {
    Target {
        name,
        most_bytes,
        slowness: 1,
        check_invariants,
    }
}

/// Number of trials per invariant: `FUZZ_EXECUTIONS`, if it is set.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the environment sets the duration of the test"
)]
pub fn executions(unless_set: u64) -> u64 {
    let set = std::env::var("FUZZ_EXECUTIONS").ok();
    set.and_then(|set| set.parse().ok()).unwrap_or(unless_set)
}

/// The target with this name.
#[must_use]
pub fn named(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}
