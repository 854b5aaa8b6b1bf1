//! A table compared with a model of plain maps, step by step: commits of several writers with different clocks, stalls
//! within a commit, table changes, maintenance, time travel and crashes, all random and reproducible from one number.
//!
//! A plain run takes a share. `MACHINE_STEPS` is the number of steps of each test, `MACHINE_SEED` the first seed
//! (otherwise `TEST_SEED`); each table has its own seed, which a failure prints, and `MACHINE_TABLES=1` stops after
//! that table.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]
#![expect(clippy::panic, reason = "a test states what it expects by failing")]

mod alter;
mod change;
mod clocks;
mod commits;
mod compatibility;
mod disk;
mod machine;
mod maintenance;
mod model;
mod observed;
mod planned_commit;
mod random_commits;
mod readers;
mod stall;
mod table_location;
mod tally;
mod trace;
mod vectors;

use std::future::Future;
use std::io::Write;
use std::pin::Pin;

use deltaic_protocol::Result;
use deltaic_testkit::test_seed::test_seed;

use self::machine::Machine;
use self::table_location::Medium;
use self::tally::Tally;

/// Steps per table: minimum, and the maximum of further ones.
const STEPS: (usize, usize) = (100, 300);

impl Machine {
    /// One random step.
    async fn step(&mut self) -> Result<()> {
        self.tally.steps += 1;
        // The futures are large, and a debug build stores several of each on the stack.
        let step: Pin<Box<dyn Future<Output = Result<()>> + '_>> = match self.chance.below(32) {
            0 => Box::pin(self.checkpoint()),
            1 => Box::pin(self.compact()),
            2 => Box::pin(self.clean_up()),
            3 => Box::pin(self.checksum()),
            4..=5 => Box::pin(self.travel()),
            6..=7 => Box::pin(self.refresh()),
            8 => Box::pin(self.commit_ahead()),
            9..=11 => Box::pin(self.pass_time()),
            12..=15 => Box::pin(self.commit_stalled()),
            16..=18 => Box::pin(self.alter()),
            _ => Box::pin(self.commit()),
        };
        step.await
    }
}

fn run(medium: Medium, steps: usize) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime can be made");
    let mut all = Tally::default();
    let first = asked("MACHINE_SEED").unwrap_or_else(test_seed);
    let tables = asked("MACHINE_TABLES").unwrap_or(u64::MAX);
    for seed in first..first.saturating_add(tables) {
        if all.steps >= steps {
            break;
        }
        let done: Result<Tally> = runtime.block_on(async {
            let mut machine = Machine::start(seed, medium).await?;
            for _ in 0..STEPS.0 + machine.chance.below(STEPS.1) {
                if let Err(error) = machine.step().await {
                    panic!("{:?}: {error}", error.kind());
                }
            }
            Ok(machine.tally)
        });
        match done {
            Ok(tally) => all += tally,
            Err(error) => panic!("the table of seed {seed}: {error}"),
        }
    }
    let _ = writeln!(std::io::stderr(), "{medium:?}: {all:?}");
    all
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment sets the duration of the test"
)]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|asked| asked.parse().ok())
}

fn steps(usual: usize) -> usize {
    asked("MACHINE_STEPS")
        .and_then(|steps| usize::try_from(steps).ok())
        .unwrap_or(usual)
}

#[test]
fn a_table_in_memory_is_the_model() {
    let tally = run(Medium::Memory, steps(2_000));
    assert!(tally.steps < 2_000 || tally.met_everything(), "{tally:?}");
}

#[test]
fn a_table_on_disk_is_the_model() {
    let tally = run(Medium::Disk, steps(300));
    assert!(tally.steps < 2_000 || tally.met_everything(), "{tally:?}");
}
