//! The commit loop: propose a version; after a winning commit without a conflict, rebase and propose the next.

mod commit;
mod commit_time;
mod confirm;
mod contains_commit;
mod gap;
mod identify;
mod state;
mod steps;
mod winning_commits;
mod words;

pub(super) use self::state::default_deadline;
