//! Operations on tables, which are planned again after conflicts, and the files that they write.

mod owner_process;
mod planned;
mod previous_attempt;
mod run;
mod staged_files;

pub use owner_process::OwnerProcess;
pub use planned::{Output, Planned};
pub use previous_attempt::PreviousAttempt;
pub use run::{RunPolicy, TableOperation, run};
pub use staged_files::StagedFiles;
