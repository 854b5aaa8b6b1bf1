//! Why a commit conflicts with the winning commit, as a value that converts to an error.

use deltaic_protocol::{Conflict as Kind, Error, ErrorKind, Version};

use crate::changes::PartitionValues;

/// Why a commit conflicts with the winning commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictCause {
    /// The winning commit changed the protocol incompatibly.
    ProtocolChanged {
        /// The winning version.
        version: Version,
        /// What is incompatible.
        why: String,
    },
    /// This commit drops a feature, and it was not verified that the table does not use it after the winning commit.
    DropUnproved {
        /// The winning version.
        version: Version,
    },
    /// The winning commit changed the metadata incompatibly.
    MetadataChanged {
        /// The winning version.
        version: Version,
        /// The field of the metadata, or the property, that changed.
        field: String,
    },
    /// The winning commit changed a domain that this commit changes or read.
    Domain {
        /// The winning version.
        version: Version,
        /// The domain.
        domain: String,
    },
    /// The winning commit changed the version of an application that this commit read.
    Application {
        /// The winning version.
        version: Version,
        /// The application.
        app_id: String,
        /// The application's version after the winning commit.
        reached: i64,
    },
    /// This commit removes row ids, and the winning commit assigned some.
    RowIdsGiven {
        /// The winning version.
        version: Version,
    },
    /// The winning commit added a file that this commit would have read.
    Append {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
        /// Its partition.
        partition_values: PartitionValues,
    },
    /// The winning commit added a file that this commit adds too.
    AddedTwice {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
    },
    /// The winning commit added a live file again that this commit adds again too, with other statistics.
    AddedAgain {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
    },
    /// The winning commit removed a file that this commit read.
    DeleteRead {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
    },
    /// The winning commit removed a file that this commit removes too.
    DeleteDelete {
        /// The winning version.
        version: Version,
        /// The file.
        path: String,
    },
    /// This commit is valid only directly after the version that it read.
    AnyCommit {
        /// The winning version.
        version: Version,
        /// The name of its operation.
        operation: Option<String>,
    },
}

impl ConflictCause {
    /// The winning version.
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
            | Self::AddedAgain { version, .. }
            | Self::DeleteRead { version, .. }
            | Self::DeleteDelete { version, .. }
            | Self::AnyCommit { version, .. } => *version,
        }
    }

    /// The conflict class.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::ProtocolChanged { .. } | Self::DropUnproved { .. } => Kind::ProtocolChanged,
            Self::MetadataChanged { .. } => Kind::MetadataChanged,
            Self::Domain { .. } | Self::Application { .. } => Kind::ConcurrentTransaction,
            Self::RowIdsGiven { .. } | Self::AnyCommit { .. } => Kind::ConcurrentWrite,
            Self::Append { .. } => Kind::ConcurrentAppend,
            Self::AddedTwice { .. } => Kind::AddedTwice,
            Self::AddedAgain { .. } | Self::DeleteRead { .. } => Kind::ConcurrentDeleteRead,
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
                format!(
                    "version {version} was committed while this operation dropped a feature, and may use it"
                )
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
                format!("version {version} assigned row ids to files while this operation removed row ids")
            }
            Self::Append { .. } => {
                format!("version {version} added a file that this operation would have read")
            }
            Self::AddedTwice { .. } => {
                format!("version {version} added a file that this operation also adds")
            }
            Self::AddedAgain { .. } => {
                format!("version {version} changed a file whose statistics this operation computed")
            }
            Self::DeleteRead { .. } => {
                format!("version {version} removed a file that this operation read")
            }
            Self::DeleteDelete { .. } => {
                format!("version {version} removed a file that this operation also removes")
            }
            Self::AnyCommit { operation, .. } => format!(
                "version {version} ({}) was committed while this operation replaced the state of the version before",
                operation.as_deref().unwrap_or("without an operation")
            ),
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::ProtocolChanged { .. } => "run the operation again with the table's new protocol",
            Self::DropUnproved { .. } => "drop the feature again while no other writer commits",
            Self::MetadataChanged { .. } => {
                "run the operation again with the new schema, partitioning and properties"
            }
            Self::Domain { .. } => "read the domain again, and run the operation again if it still applies",
            Self::Application { .. } => {
                "the same application is running twice: stop one, or continue from its last version"
            }
            Self::RowIdsGiven { .. } => "run the two operations one after the other",
            Self::AnyCommit { .. } => "run the operation again if it still applies after that version",
            Self::AddedTwice { .. } => "the table already contains its rows: add only the other files",
            Self::Append { .. }
            | Self::AddedAgain { .. }
            | Self::DeleteRead { .. }
            | Self::DeleteDelete { .. } => {
                "run the operation again on the new version, as table.run_transaction does. Operations on different partitions do not conflict"
            }
        }
    }
}

impl From<ConflictCause> for Error {
    fn from(conflict: ConflictCause) -> Self {
        let error = Self::new(ErrorKind::CommitConflict(conflict.kind()), conflict.message())
            .with("version", conflict.version())
            .hint(conflict.hint());
        match conflict {
            ConflictCause::MetadataChanged { field, .. } => error.with("field", field),
            ConflictCause::Domain { domain, .. } => error.with("domain", domain),
            ConflictCause::Application { app_id, .. } => error.with("app_id", app_id),
            ConflictCause::Append {
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
            ConflictCause::AddedTwice { path, .. }
            | ConflictCause::AddedAgain { path, .. }
            | ConflictCause::DeleteRead { path, .. }
            | ConflictCause::DeleteDelete { path, .. } => error.with("path", path),
            ConflictCause::ProtocolChanged { .. }
            | ConflictCause::DropUnproved { .. }
            | ConflictCause::RowIdsGiven { .. }
            | ConflictCause::AnyCommit { .. } => error,
        }
    }
}

#[cfg(test)]
mod tests;
