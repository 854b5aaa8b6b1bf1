//! The verbs: each is a value that stages its changes in a transaction, and one driver that runs them.
//!
//! Protocol: *Requirements for Writers*, *Add File and Remove File*.

mod add;
pub(crate) mod alter;
mod append;
mod delete;
mod delete_rows;
mod merge;
mod named;
mod optimize;
mod overwrite;
mod remove;
mod run;
mod statistics;
mod update;
mod verb;
mod write_job;

pub use add::{AddFiles, GivenFile};
pub use alter::{Alter, alter};
pub use append::Append;
pub use delete::{Delete, DeleteSummary};
pub use delete_rows::DeleteRows;
pub use merge::{ClauseKind, Merge, MergeAction, MergeClause, MergeRows, SourceRows};
pub use named::operation;
pub use optimize::Optimize;
pub use overwrite::{MatchedBy, Overwrite, Replaced};
pub use remove::RemoveFiles;
pub use run::{Staging, run, run_transaction};
pub use statistics::ComputedStatistics;
pub use update::{Assignment, Update};
pub use verb::Verb;
pub use write_job::WriteJob;
