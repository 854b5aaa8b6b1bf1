//! Work is in proportion to what is read: ten times the bytes of a kind take about ten times the allocations, by the laws
//! of hostile bytes. Counted and never timed, so what is searched again and again without allocating is not seen here.
#![expect(clippy::panic, reason = "a test states what it expects by failing")]

mod shapes;

use std::alloc::System;
use std::sync::{Mutex, PoisonError};

use deltaic_testkit::hostile;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One at a time, since the allocations of the whole process are counted.
static TURN: Mutex<()> = Mutex::new(());

/// How often something was allocated or grown, and how many bytes that were, freed again or not.
#[derive(Clone, Copy, Debug)]
struct Work {
    times: usize,
    bytes: usize,
}

fn work(law: fn(&[u8]), bytes: &[u8]) -> Work {
    let region = Region::new(COUNTED);
    law(bytes);
    let done = region.change();
    Work {
        times: done.allocations + done.reallocations,
        bytes: done.bytes_allocated,
    }
}

/// The law of a target takes work in proportion, for each shape of its bytes.
fn is_in_proportion(target: &str, shapes: &[shapes::Shape]) {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(target) = hostile::named(target) else {
        panic!("there is no target {target}");
    };
    let mut out_of_proportion = Vec::new();
    for shape in shapes {
        let [once, tenfold] = [shape.number, shape.number * 10].map(shape.make);
        // What is made once for all is made now.
        (target.law)(&once);
        let [few, many] = [once, tenfold].map(|bytes| work(target.law, &bytes));
        if many.times > shape.growth * few.times || many.bytes > shape.growth * few.bytes {
            out_of_proportion.push(format!("{}: {few:?} becomes {many:?}", shape.name));
        }
        assert!(
            many.bytes > 2 * few.bytes,
            "{} is not read: {few:?} becomes {many:?}",
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
