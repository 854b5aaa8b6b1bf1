//! Commits: exactly one writer wins a version, and an acknowledged commit is durable.

mod contract;
mod disk;
mod file_system;
mod object_store;
mod outcome;
mod probe;
mod table_location;

pub use self::contract::{BoxedFuture, Committer};
pub use self::disk::{Disk, Files};
pub use self::file_system::FileSystem;
pub use self::outcome::Outcome;
pub use self::probe::probe;
