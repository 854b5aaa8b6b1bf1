//! A table against a model of plain maps, step by step: commits of several writers, upkeep, travels in time and crashes,
//! all by chance and all again from one number.
//!
//! A plain run takes a share. `MACHINE_STEPS` says how many steps each test makes, `MACHINE_SEED` from which number on;
//! each table has a number of its own, which a failure tells, and `MACHINE_TABLES=1` stops behind it.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]
#![expect(clippy::panic, reason = "a test states what it expects by failing")]

mod commits;
mod looks;
mod machine;
mod model;
mod place;
mod seen;
mod tally;
mod trace;
mod upkeep;
mod wish;
mod wishes;

use std::io::Write;

use deltaic_protocol::Result;

use self::machine::Machine;
use self::place::Medium;
use self::tally::Tally;

/// How many steps a table makes: at least, and how many more at most.
const STEPS: (usize, usize) = (100, 300);

impl Machine {
    /// One step, whatever it is.
    async fn step(&mut self) -> Result<()> {
        self.tally.steps += 1;
        match self.chance.below(24) {
            0 => self.checkpoint().await,
            1 => self.compact().await,
            2 => self.clean_up().await,
            3 => self.checksum().await,
            4..=5 => self.travel().await,
            6..=7 => self.refresh().await,
            8 => self.commit_ahead().await,
            _ => self.commit().await,
        }
    }
}

fn run(medium: Medium, steps: usize) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime can be made");
    let mut all = Tally::default();
    let first = asked("MACHINE_SEED").unwrap_or(0);
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
    reason = "how long a test takes is for its caller to say"
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
