//! Work is proportional to the input: ten times the bytes of a kind take about ten times the allocations, in the
//! invariants of `deltaic_testkit::untrusted`. Counted instead of timed, so repeated searches without allocations are
//! not detected.
#![expect(clippy::panic, reason = "a test fails by panicking")]

mod shapes;

use deltaic_testkit::counted_memory::CountedMemory;
use deltaic_testkit::untrusted;

/// Verifies that the work of a target is proportional for each shape of input.
fn is_in_proportion(target: &str, shapes: &[shapes::Shape]) {
    let Some(target) = untrusted::named(target) else {
        panic!("the target {target} does not exist");
    };
    let mut out_of_proportion = Vec::new();
    for shape in shapes {
        let [once, tenfold] = [shape.number, shape.number * 10].map(shape.make);
        // Initializes what is created once per process.
        (target.check_invariants)(&once);
        let [few, many] =
            [once, tenfold].map(|bytes| CountedMemory.count(|| (target.check_invariants)(&bytes)).1);
        if many.times > shape.growth * few.times || many.bytes > shape.growth * few.bytes {
            out_of_proportion.push(format!("{}: {few:?} becomes {many:?}", shape.name));
        }
        assert!(
            many.bytes > 2 * few.bytes,
            "{} is not processed: {few:?} becomes {many:?}",
            shape.name
        );
    }
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
