//! What a winning commit means for ours: a conflict is data before it is an error.

mod attempt;
mod check;
#[cfg(test)]
mod matrix_tests;
mod metadata_change;
mod protocol_change;
#[cfg(test)]
mod tests;

pub(super) use attempt::Case;
pub use attempt::{Attempt, Gate, Granularity};
pub use check::check;
#[cfg(test)]
pub(super) use check::{Rule, check_without};
pub(super) use protocol_change::dropped_feature;

use deltaic_protocol::{Conflict as Kind, Error, ErrorKind, Version};

use crate::changes::PartitionValues;

/// Why a commit does not fit behind the one that won.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The winner changed the protocol in a way that we cannot follow.
    ProtocolChanged {
        /// The winning version.
        version: Version,
        /// What stands against it.
        why: String,
    },
    /// We drop a feature, and nobody has proved that the table does without it as of the winner.
    DropUnproved {
        /// The winning version.
        version: Version,
    },
    /// The winner changed the metadata in a way that we cannot follow.
    MetadataChanged {
        /// The winning version.
        version: Version,
        /// What changed: a field of the metadata, or a property.
        field: String,
    },
    /// The winner changed a domain that we change too or have read.
    Domain {
        /// The winning version.
        version: Version,
        /// The domain.
        domain: String,
    },
    /// The winner moved an application whose version we have read.
    Application {
        /// The winning version.
        version: Version,
        /// The application.
        app_id: String,
        /// How far it has come with the winner.
        reached: i64,
    },
    /// We take row ids away while the winner gave files theirs.
    RowIdsGiven {
        /// The winning version.
        version: Version,
    },
    /// The winner added a file that we would have read.
    Append {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
        /// Its partition.
        partition_values: PartitionValues,
    },
    /// The winner added a file that we add too.
    AddedTwice {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
    },
    /// The winner removed a file that we have read.
    DeleteRead {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
    },
    /// The winner removed a file that we remove too.
    DeleteDelete {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
    },
}

impl Conflict {
    /// The version that won.
    #[must_use]
    pub fn version(&self) -> Version {
        match self {
            Self::ProtocolChanged { version, .. }
            | Self::DropUnproved { version }
            | Self::MetadataChanged { version, .. }
            | Self::Domain { version, .. }
            | Self::Application { version, .. }
            | Self::RowIdsGiven { version }
            | Self::Append { version, .. }
            | Self::AddedTwice { version, .. }
            | Self::DeleteRead { version, .. }
            | Self::DeleteDelete { version, .. } => *version,
        }
    }

    /// Which class of conflicts it belongs to.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::ProtocolChanged { .. } | Self::DropUnproved { .. } => Kind::ProtocolChanged,
            Self::MetadataChanged { .. } => Kind::MetadataChanged,
            Self::Domain { .. } | Self::Application { .. } => Kind::ConcurrentTransaction,
            Self::RowIdsGiven { .. } => Kind::ConcurrentWrite,
            Self::Append { .. } => Kind::ConcurrentAppend,
            Self::AddedTwice { .. } => Kind::AddedTwice,
            Self::DeleteRead { .. } => Kind::ConcurrentDeleteRead,
            Self::DeleteDelete { .. } => Kind::ConcurrentDeleteDelete,
        }
    }

    fn message(&self) -> String {
        let version = self.version();
        match self {
            Self::ProtocolChanged { why, .. } => {
                format!("version {version} changed the table's protocol: {why}")
            }
            Self::DropUnproved { .. } => {
                format!("version {version} was committed while a feature was being dropped, and may use it")
            }
            Self::MetadataChanged { field, .. } if field == "id" => {
                format!(
                    "version {version} changed the table's metadata: id, so another table was created in its place"
                )
            }
            Self::MetadataChanged { field, .. } => {
                format!("version {version} changed the table's metadata: {field}")
            }
            Self::Domain { domain, .. } => format!("version {version} also changed the domain {domain:?}"),
            Self::Application { app_id, reached, .. } => {
                format!("version {version} advanced the application {app_id:?} to {reached}")
            }
            Self::RowIdsGiven { .. } => {
                format!("version {version} assigned row ids to files while they were being removed")
            }
            Self::Append { .. } => {
                format!("version {version} added a file that this operation would have had to read")
            }
            Self::AddedTwice { .. } => {
                format!("version {version} added a file that this operation also adds")
            }
            Self::DeleteRead { .. } => {
                format!("version {version} removed a file that this operation has read")
            }
            Self::DeleteDelete { .. } => {
                format!("version {version} removed a file that this operation also removes")
            }
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::ProtocolChanged { .. } => {
                "run the operation again: the table is opened anew and judged by its new protocol"
            }
            Self::DropUnproved { .. } => "drop the feature again, while nobody writes to the table",
            Self::MetadataChanged { .. } => {
                "run the operation again: it is checked against the new schema, partitioning and properties"
            }
            Self::Domain { .. } => {
                "read the domain again, and run the operation again if it still makes sense"
            }
            Self::Application { .. } => {
                "another run of the same application is at work: stop one, or go on from where it has come"
            }
            Self::RowIdsGiven { .. } => "run one of the two after the other has ended",
            Self::AddedTwice { .. } => "its rows are in the table already: add the other files without it",
            Self::Append { .. } | Self::DeleteRead { .. } | Self::DeleteDelete { .. } => {
                "run the operation again on the new version, as table.run_transaction does. Operations on different partitions do not conflict"
            }
        }
    }
}

impl From<Conflict> for Error {
    fn from(conflict: Conflict) -> Self {
        let error = Self::new(ErrorKind::CommitConflict(conflict.kind()), conflict.message())
            .with("version", conflict.version())
            .hint(conflict.hint());
        match conflict {
            Conflict::MetadataChanged { field, .. } => error.with("field", field),
            Conflict::Domain { domain, .. } => error.with("domain", domain),
            Conflict::Application { app_id, .. } => error.with("app_id", app_id),
            Conflict::Append {
                path,
                partition_values,
                ..
            } => {
                let values = partition_values.iter();
                let partition: Vec<_> = values
                    .map(|(name, value)| format!("{name}={}", value.as_deref().unwrap_or("NULL")))
                    .collect();
                let error = error.with("path", path);
                if partition.is_empty() {
                    error
                } else {
                    error.with("partition", partition.join("/"))
                }
            }
            Conflict::AddedTwice { path, .. }
            | Conflict::DeleteRead { path, .. }
            | Conflict::DeleteDelete { path, .. } => error.with("path", path),
            Conflict::ProtocolChanged { .. }
            | Conflict::DropUnproved { .. }
            | Conflict::RowIdsGiven { .. } => error,
        }
    }
}
