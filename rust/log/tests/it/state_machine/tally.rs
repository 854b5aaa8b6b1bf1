//! Counts events.

use std::ops::AddAssign;

/// Steps and their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) steps: usize,
    pub(crate) commits: usize,
    /// Commits that were rebased over winning commits.
    pub(crate) rebased: usize,
    /// Commits whose deletion vectors were merged with those of another.
    pub(crate) united: usize,
    pub(crate) conflicts: usize,
    /// Operations that were already done.
    pub(crate) skipped: usize,
    /// Commits whose outcome is unknown to the writer.
    pub(crate) unknown: usize,
    /// Operations that met a mishap.
    pub(crate) mishaps: usize,
    pub(crate) checkpoints: usize,
    pub(crate) compactions: usize,
    pub(crate) checksums: usize,
    /// Cleanups that deleted versions.
    pub(crate) cuts: usize,
    /// Versions that were opened and compared.
    pub(crate) compared: usize,
    /// Commits that read by a predicate and followed winning commits.
    pub(crate) phantoms: usize,
    /// Checkpoints after commits.
    pub(crate) kept_up: usize,
    /// Conflicts because the log was cleaned up concurrently.
    pub(crate) outlived: usize,
    /// Commits during which other writers were active.
    pub(crate) stalls: usize,
    /// Changes of the table's configuration.
    pub(crate) changes: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.commits += other.commits;
        self.rebased += other.rebased;
        self.united += other.united;
        self.conflicts += other.conflicts;
        self.skipped += other.skipped;
        self.unknown += other.unknown;
        self.mishaps += other.mishaps;
        self.checkpoints += other.checkpoints;
        self.compactions += other.compactions;
        self.checksums += other.checksums;
        self.cuts += other.cuts;
        self.compared += other.compared;
        self.phantoms += other.phantoms;
        self.kept_up += other.kept_up;
        self.outlived += other.outlived;
        self.stalls += other.stalls;
        self.changes += other.changes;
    }
}

impl Tally {
    /// Whether every kind of event happened.
    pub(crate) fn met_everything(&self) -> bool {
        let commits = [
            self.commits,
            self.rebased,
            self.united,
            self.conflicts,
            self.skipped,
            self.unknown,
        ];
        let maintenance = [
            self.checkpoints,
            self.compactions,
            self.checksums,
            self.cuts,
            self.mishaps,
            self.compared,
            self.kept_up,
        ];
        let others = [self.phantoms, self.stalls, self.changes];
        commits
            .iter()
            .chain(&maintenance)
            .chain(&others)
            .all(|count| *count > 0)
    }
}
