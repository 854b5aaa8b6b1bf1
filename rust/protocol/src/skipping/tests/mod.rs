//! Properties of data skipping: a file with a matching row is never skipped, and a file that cannot match
//! is.

mod cases;
mod lists_and_patterns;
mod never_lost;
mod partitions;
mod predicates;
mod recorded;
mod sorted;
mod tables;
mod traps;
mod values;
mod writers;
