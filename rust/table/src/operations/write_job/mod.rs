//! A write whose data files other processes write: it is planned first, and commits the files that they report.
//!
//! Protocol: *Add File and Remove File*, *Change Metadata*, *Identity Columns*.

mod commit;
mod job;
mod job_rows;
mod sent;

pub use job::WriteJob;
