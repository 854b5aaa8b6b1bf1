//! Creates tables by their first commit, and replaces them.

mod definition;
mod first_commit;
mod new_contents;
mod new_table;
mod replace;

pub use first_commit::{create, create_with_files, create_with_written_files};
pub use new_contents::NewContents;
pub use new_table::{IfExists, NewTable};
