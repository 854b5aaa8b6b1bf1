//! The counts are of one thread, and the peak contains what is freed.

use deltaic_testkit::counted_memory::CountedMemory;

const KIB: usize = 1024;

#[test]
fn a_thread_counts_its_own_memory() {
    let ((), work) = CountedMemory.count(|| {
        drop(vec![1u8; 200 * KIB]);
        let mut grown = vec![1u8; 100 * KIB];
        std::thread::scope(|scope| {
            scope.spawn(|| vec![1u8; 9_000 * KIB]);
        });
        // Both the old and the new bytes exist while it grows.
        grown.reserve_exact(200 * KIB);
    });
    assert!((400 * KIB..500 * KIB).contains(&work.peak), "{work:?}");
    assert!((500 * KIB..600 * KIB).contains(&work.bytes), "{work:?}");
    assert!((3..100).contains(&work.times), "{work:?}");
}
