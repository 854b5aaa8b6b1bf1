//! Options for writing a checkpoint.

/// Default maximum number of actions in a sidecar: a checkpoint with a million files has twenty sidecars, which
/// a cluster reads in parallel, and each takes about a second.
pub const SIDECAR_ACTIONS: usize = 50_000;

/// Default maximum size of a file that is buffered and then put if absent. A larger file is a
/// multipart upload.
pub const HELD_BYTES: usize = 16 << 20;

/// Naming of checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckpointName {
    /// By its spec: `n.checkpoint.parquet` for V1, `n.checkpoint.<uuid>.parquet` for V2.
    #[default]
    BySpec,
    /// `n.checkpoint.parquet` for V2 too: clients without the feature find it and read the protocol, which
    /// shows that they do not support the table.
    Classic,
}

/// Options for writing a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointOptions {
    /// The naming.
    pub name: CheckpointName,
    /// Maximum number of actions in a sidecar.
    pub sidecar_actions: usize,
    /// Maximum number of bytes of a file that are buffered.
    pub held_bytes: usize,
    /// Current time in milliseconds since the epoch, for expiration; by default the system time.
    pub now_ms: Option<i64>,
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        Self {
            name: CheckpointName::default(),
            sidecar_actions: SIDECAR_ACTIONS,
            held_bytes: HELD_BYTES,
            now_ms: None,
        }
    }
}
