//! Stores that are reached over a network.

pub(super) mod connect;
pub(super) mod network;
pub(super) mod per_process;
pub(super) mod remote_store;
pub(super) mod sent;
pub(super) mod shared;
