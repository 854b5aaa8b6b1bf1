//! Sidecars of an older checkpoint that a new checkpoint references again instead of writing their actions again.
//!
//! A sidecar is referenced again if every action in it survives and its columns are those of the new checkpoint. The
//! cost of a checkpoint then depends on the changed actions. Every sidecar contains complete actions, so that any
//! reader reads the checkpoint without the older one.
//!
//! Protocol: *V2 Spec*, *Sidecar Files*, *Metadata Cleanup*.

mod choose;
mod expiry;
mod merge;
mod sidecars;

pub(super) use sidecars::Reused;
