//! The door for what differs from run to run: the time of day, pauses and unique ids.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

tokio::task_local! {
    /// By how many milliseconds the clock of a task is ahead of the system's.
    static AHEAD_MS: Arc<AtomicI64>;
}

/// Runs `work` with a clock that is `ahead_ms` milliseconds ahead of the system's, or behind it: for tests of writers whose
/// clocks disagree. The offset may change while `work` runs. Tasks that `work` spawns use the system's clock.
///
/// ```
/// use std::sync::Arc;
/// use deltaic_log::clock::{now_ms, with_clock};
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// let before_ms = now_ms();
/// let later_ms = runtime.block_on(with_clock(Arc::new(3_600_000.into()), async { now_ms() }));
/// assert!(later_ms - before_ms >= 3_600_000);
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn with_clock<T>(ahead_ms: Arc<AtomicI64>, work: impl Future<Output = T>) -> T {
    AHEAD_MS.scope(ahead_ms, work).await
}

/// Milliseconds since the epoch, now.
#[must_use]
pub fn now_ms() -> i64 {
    let ahead_ms = AHEAD_MS.try_with(|ahead_ms| ahead_ms.load(Ordering::Relaxed));
    system_ms().saturating_add(ahead_ms.unwrap_or(0))
}

fn system_ms() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the ban points to"
    )]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}

/// A point in time after which nothing new is begun. It goes by a clock that nobody sets.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// So long from now; one that is too far for the clock never comes.
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        Self(Instant::now().checked_add(duration))
    }

    /// Whether it has come.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// When something was observed: by the wall clock, which runs on while the machine is suspended, and by the monotonic
/// clock, which nobody sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    wall_ms: i64,
    at: Instant,
}

impl Observed {
    /// Now.
    pub(crate) fn now() -> Self {
        Self {
            wall_ms: now_ms(),
            at: Instant::now(),
        }
    }

    /// How long ago that was, in milliseconds, by the clock that says more. After the wall clock was set back nothing is
    /// known, so `i64::MAX`.
    pub(crate) fn age_ms(self) -> i64 {
        let by_wall = now_ms().saturating_sub(self.wall_ms);
        let by_timer = i64::try_from(self.at.elapsed().as_millis()).unwrap_or(i64::MAX);
        if by_wall < 0 {
            i64::MAX
        } else {
            by_wall.max(by_timer)
        }
    }
}

/// A random UUID in its usual spelling.
#[must_use]
pub fn new_id() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the ban points to"
    )]
    let id = uuid::Uuid::new_v4();
    id.to_string()
}

/// Waits before something is tried again for the `nth` time that others were quicker: some part of 4 ms at first, of twice as
/// long each time, of 128 ms at most: who waits for many times as long as a commit takes loses to all who do not wait.
/// Chance keeps apart those who wait.
pub async fn pause_by_chance(nth: usize) {
    let doublings = u32::try_from(nth.saturating_sub(1)).map_or(5, |doublings| doublings.min(5));
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the ban points to"
    )]
    let chance = u64::from(uuid::Uuid::new_v4().as_fields().0);
    let wait = Duration::from_micros(((4_000 << doublings) * (chance & 0xffff)) >> 16);
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the ban points to"
    )]
    tokio::time::sleep(wait).await;
}

/// Waits after a lost proposal: a random part of 4 ms, so that writers that lost together do not collide again. Longer
/// pauses starve: a writer that waits for several commits of the others falls behind writers that do not wait.
pub(crate) async fn pause_after_loss() {
    pause_by_chance(1).await;
}

/// Waits before something is tried again for the `nth` time: 50 ms at first, twice as long each time, a second at most.
pub(crate) async fn pause(nth: usize) {
    let doublings = u32::try_from(nth.saturating_sub(1)).map_or(5, |doublings| doublings.min(5));
    let wait = Duration::from_millis(50 << doublings);
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door that the ban points to"
    )]
    tokio::time::sleep(wait.min(Duration::from_secs(1))).await;
}
