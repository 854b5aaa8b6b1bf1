//! Reads checkpoints: the state of a version without the commits that led to it.
//!
//! Protocol: *Checkpoints*, *V1 Spec*, *V2 Spec*, *Sidecar Files*. The formats of checkpoints are known to
//! this module only.

mod action_rows;
mod allowance;
mod columns;
mod contents;
mod fetched_group;
mod levels;
mod one_action;
mod parquet;
mod read;
mod retyped;
mod row_groups;
mod sidecar;
mod sidecar_path;

pub(crate) use self::action_rows::{ActionRows, conformed};
pub use self::contents::Checkpoint;
pub(crate) use self::sidecar_path::SIDECARS;
