//! The memory that an operation may use for rows in progress.

use std::sync::OnceLock;

/// Used if the memory of the machine is unknown.
const UNKNOWN_MACHINE: usize = 4 << 30;

/// The memory that an operation may use for rows in progress, in bytes. What does not fit waits in temporary files.
///
/// ```
/// use deltaic_storage::memory_budget::MemoryBudget;
/// assert!(MemoryBudget::default().bytes() > MemoryBudget::of(1 << 20).bytes());
/// assert_eq!(MemoryBudget::of(12).divided(3), MemoryBudget::of(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget(usize);

impl MemoryBudget {
    /// A budget of this many bytes.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        Self(bytes)
    }

    /// The budget of each of several equal parts.
    #[must_use]
    pub const fn divided(self, parts: usize) -> Self {
        Self(self.0 / if parts == 0 { 1 } else { parts })
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0
    }
}

impl Default for MemoryBudget {
    /// A quarter of the machine, or of the process's control group if that has less.
    fn default() -> Self {
        static MACHINE: OnceLock<usize> = OnceLock::new();
        Self(MACHINE.get_or_init(machine_bytes) / 4)
    }
}

#[expect(clippy::disallowed_methods, reason = "files of the system, not of a table")]
fn machine_bytes() -> usize {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/meminfo");
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = total.and_then(|total| total.split_whitespace().next()?.parse::<usize>().ok());
    let machine = kib.map_or(UNKNOWN_MACHINE, |kib| kib.saturating_mul(1024));
    let group = read("/sys/fs/cgroup/memory.max").trim().parse::<usize>().ok();
    group.map_or(machine, |group| group.min(machine))
}
