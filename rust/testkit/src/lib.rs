//! What the tests of the crates share: tables made by hand, an oracle that is too simple to be wrong, generated
//! histories, and the contract that every way of committing must keep. Never published.

pub mod committer_contract;
pub mod faulty_store;
pub mod oracle;
pub mod strategies;
pub mod table_builder;
