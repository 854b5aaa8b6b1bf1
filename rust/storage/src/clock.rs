//! Access to nondeterministic inputs: the current time, pauses and unique ids.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

tokio::task_local! {
    /// Offset of a task's clock from the system clock, in milliseconds.
    static AHEAD_MS: Arc<AtomicI64>;
}

/// Runs `work` with a clock that is `ahead_ms` milliseconds ahead of the system clock (negative: late), for
/// tests of writers whose clocks disagree. The offset may change while `work` runs. Tasks that `work` spawns
/// use the system clock.
///
/// ```
/// use std::sync::Arc;
/// use deltaic_storage::clock::{now_ms, with_clock};
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let before_ms = now_ms();
/// let later_ms = runtime.block_on(with_clock(Arc::new(3_600_000.into()), async { now_ms() }));
/// assert!(later_ms - before_ms >= 3_600_000);
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn with_clock<T>(ahead_ms: Arc<AtomicI64>, work: impl Future<Output = T>) -> T {
    AHEAD_MS.scope(ahead_ms, work).await
}

/// Returns the current time in milliseconds since the epoch.
#[must_use]
pub fn now_ms() -> i64 {
    let ahead_ms = AHEAD_MS.try_with(|ahead_ms| ahead_ms.load(Ordering::Relaxed));
    system_ms().saturating_add(ahead_ms.unwrap_or(0))
}

fn system_ms() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the permitted user of this method"
    )]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}

/// A point in time after which no new work is started, measured by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns the deadline `duration` from now; a deadline beyond the range of the clock never passes.
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        Self(Instant::now().checked_add(duration))
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// The time of an observation: by the wall clock, which advances while the machine is suspended, and by the
/// monotonic clock, which is never set.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    wall_ms: i64,
    at: Instant,
}

impl Observed {
    /// Returns an observation made now.
    pub fn now() -> Self {
        Self {
            wall_ms: now_ms(),
            at: Instant::now(),
        }
    }

    /// Returns the age of the observation in milliseconds, the larger one of both clocks. After the wall
    /// clock was set back the age is unknown, so this is `i64::MAX`.
    pub fn age_ms(self) -> i64 {
        let by_wall = now_ms().saturating_sub(self.wall_ms);
        let by_timer = i64::try_from(self.at.elapsed().as_millis()).unwrap_or(i64::MAX);
        if by_wall < 0 {
            i64::MAX
        } else {
            by_wall.max(by_timer)
        }
    }
}

/// Returns a random UUID in its usual spelling.
#[must_use]
pub fn new_id() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the permitted user of this method"
    )]
    let id = uuid::Uuid::new_v4();
    id.to_string()
}

/// Waits before the `nth` retry after losing to concurrent writers: randomly up to 4 ms at first, doubling
/// each time up to 128 ms. A writer that waits many times the duration of a commit loses to writers that
/// do not wait. The randomness prevents repeated collisions.
pub async fn pause_at_random(nth: usize) {
    let doublings = u32::try_from(nth.saturating_sub(1)).map_or(5, |doublings| doublings.min(5));
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the permitted user of this method"
    )]
    let chance = u64::from(uuid::Uuid::new_v4().as_fields().0);
    let wait = Duration::from_micros(((4_000 << doublings) * (chance & 0xffff)) >> 16);
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the permitted user of this method"
    )]
    tokio::time::sleep(wait).await;
}

/// Waits after a lost commit attempt: randomly up to 4 ms, so that writers that lost together do not
/// collide again. With longer pauses, a writer would starve: writers that do not wait would commit first.
pub async fn pause_after_loss() {
    pause_at_random(1).await;
}

/// Waits before the `nth` retry: 50 ms at first, doubling each time up to one second.
pub async fn pause(nth: usize) {
    let doublings = u32::try_from(nth.saturating_sub(1)).map_or(5, |doublings| doublings.min(5));
    let wait = Duration::from_millis(50 << doublings);
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the permitted user of this method"
    )]
    tokio::time::sleep(wait.min(Duration::from_secs(1))).await;
}
