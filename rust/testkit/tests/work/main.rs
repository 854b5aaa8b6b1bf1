//! Work is proportional to the input: ten times the bytes of a kind take about ten times the allocations, in the
//! invariants of `deltaic_testkit::untrusted`. Counted instead of timed, so repeated searches without allocations are
//! not detected.
#![expect(clippy::panic, reason = "a test fails by panicking")]

mod shapes;

use std::alloc::System;
use std::sync::{Mutex, PoisonError};

use deltaic_testkit::untrusted;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One at a time, since allocations are counted per process.
static TURN: Mutex<()> = Mutex::new(());

/// Number and total bytes of allocations and reallocations, including freed ones.
#[derive(Clone, Copy, Debug)]
struct Work {
    times: usize,
    bytes: usize,
}

fn work(check_invariants: fn(&[u8]), bytes: &[u8]) -> Work {
    let region = Region::new(COUNTED);
    check_invariants(bytes);
    let done = region.change();
    Work {
        times: done.allocations + done.reallocations,
        bytes: done.bytes_allocated,
    }
}

/// Verifies that the work of a target is proportional for each shape of input.
fn is_in_proportion(target: &str, shapes: &[shapes::Shape]) {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(target) = untrusted::named(target) else {
        panic!("the target {target} does not exist");
    };
    let mut out_of_proportion = Vec::new();
    for shape in shapes {
        let [once, tenfold] = [shape.number, shape.number * 10].map(shape.make);
        // Initializes what is created once per process.
        (target.check_invariants)(&once);
        let [few, many] = [once, tenfold].map(|bytes| work(target.check_invariants, &bytes));
        if many.times > shape.growth * few.times || many.bytes > shape.growth * few.bytes {
            out_of_proportion.push(format!("{}: {few:?} becomes {many:?}", shape.name));
        }
        assert!(
            many.bytes > 2 * few.bytes,
            "{} is not processed: {few:?} becomes {many:?}",
            shape.name
        );
    }
    drop(turn);
    assert!(out_of_proportion.is_empty(), "{out_of_proportion:#?}");
}

#[test]
fn of_a_commit() {
    is_in_proportion("commit", &shapes::COMMITS);
}

#[test]
fn of_a_log() {
    is_in_proportion("log", &shapes::LOGS);
}

#[test]
fn of_a_checkpoint() {
    is_in_proportion("checkpoint", &shapes::CHECKPOINTS);
}
