//! The clocks of the writers and of the store, which may disagree. Time advances equally for all of them.

use std::array;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use deltaic_storage::clock::{now_ms, with_clock};
use deltaic_testkit::store_clock::StoreClock;
use deltaic_testkit::untrusted::mutation::Chance;

use super::machine::WRITERS;

pub(crate) const DAY_MS: i64 = 86_400_000;

/// How far a writer's clock may be ahead of the store's, in milliseconds.
const SKEWS_MS: [i64; 4] = [40 * DAY_MS, -40 * DAY_MS, 300_000, -300_000];

/// Lengths of pauses, in milliseconds: a snapshot that was listed within a minute causes fewer requests.
const PAUSES_MS: [i64; 5] = [10_000, 61_000, 7_200_000, DAY_MS, 31 * DAY_MS];

pub(crate) struct Clocks {
    writers: [Arc<AtomicI64>; WRITERS],
    store: StoreClock,
    passed_ms: i64,
    /// The latest time of any clock so far.
    latest_ms: i64,
}

impl Clocks {
    pub(crate) fn by(chance: &mut Chance, store: &StoreClock) -> Self {
        let disagree = chance.below(2) == 0;
        let skews: [i64; WRITERS] = array::from_fn(|_| match chance.below(2 * SKEWS_MS.len()) {
            nth if disagree => SKEWS_MS.get(nth).copied().unwrap_or(0),
            _ => 0,
        });
        Self {
            writers: skews.map(|skew_ms| Arc::new(skew_ms.into())),
            store: store.clone(),
            passed_ms: 0,
            latest_ms: now_ms() + skews.into_iter().max().unwrap_or(0).max(0),
        }
    }

    /// Runs a future with a writer's clock.
    pub(crate) async fn as_writer<T>(&self, writer: usize, work: impl Future<Output = T>) -> T {
        with_clock(self.of(writer), work).await
    }

    pub(crate) fn of(&self, writer: usize) -> Arc<AtomicI64> {
        Arc::clone(&self.writers[writer])
    }

    /// The time of a writer's clock.
    pub(crate) fn writer_ms(&self, writer: usize) -> i64 {
        now_ms() + self.writers[writer].load(Ordering::Relaxed)
    }

    pub(crate) fn store_ms(&self) -> i64 {
        now_ms() + self.passed_ms
    }

    /// The latest time that any clock can have shown so far.
    pub(crate) fn latest_ms(&self) -> i64 {
        let writers = (0..WRITERS).map(|writer| self.writer_ms(writer));
        writers.fold(self.latest_ms.max(self.store_ms()), i64::max)
    }

    /// Advances the clocks of the writers by a millisecond.
    pub(crate) fn tick(&self) {
        for writer in &self.writers {
            writer.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Advances the time randomly; returns by how many milliseconds.
    pub(crate) async fn pass(&mut self, chance: &mut Chance) -> i64 {
        let pause_ms = PAUSES_MS[chance.below(PAUSES_MS.len())];
        for writer in &self.writers {
            writer.fetch_add(pause_ms, Ordering::Relaxed);
        }
        let pause = Duration::from_millis(u64::try_from(pause_ms).unwrap_or(0));
        self.store.pass(pause);
        self.passed_ms += pause_ms;
        tokio::time::advance(pause).await;
        pause_ms
    }
}
