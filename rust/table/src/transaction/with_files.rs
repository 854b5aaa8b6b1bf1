//! Which changes of the table's protocol, metadata and domains can share a commit with files.

use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};

use super::TableTransaction;
use super::metrics::Count;

/// Properties defined by the protocol that do not affect how data files are written or read.
const OF_THE_LOG: &[&str] = &[
    "delta.checkpoint.writeStatsAsJson",
    "delta.checkpoint.writeStatsAsStruct",
    "delta.checkpointInterval",
    "delta.deletedFileRetentionDuration",
    "delta.enableExpiredLogCleanup",
    "delta.logRetentionDuration",
    "delta.setTransactionRetentionDuration",
];

impl TableTransaction {
    /// Whether the user has staged files.
    pub(crate) fn has_files(&self) -> bool {
        let (metrics, proposal) = (&self.staged.described.metrics, &self.staged.proposal);
        metrics.get(Count::NewFiles) > 0 || metrics.get(Count::Vectors) > 0 || !proposal.removes.is_empty()
    }

    /// Verifies that the staged changes do not affect how files are written.
    ///
    /// # Errors
    ///
    /// `ValueError` with the `field` that does.
    pub(crate) fn ensure_takes_files(&self) -> Result<()> {
        let before = self.snapshot.configuration();
        // What rows required of the schema is what files are written for.
        let of_files = self.staged.evolved.as_ref().unwrap_or(before);
        match properties_that_files_depend_on(of_files, &self.staged.proposal.applied_to(before)) {
            None => Ok(()),
            Some(what) => Err(self.located(
                Error::new(
                    ErrorKind::InvalidArgument,
                    format!("one commit cannot contain files and another {what}"),
                )
                .with("field", what)
                .hint("change the table first with table.alter, then write in a later transaction"),
            )),
        }
    }
}

/// Returns the first difference between two configurations that affects how files are written; `None` if there is none.
fn properties_that_files_depend_on(
    before: &TableConfiguration,
    after: &TableConfiguration,
) -> Option<String> {
    if before.protocol() != after.protocol() {
        return Some("protocol".to_owned());
    }
    let (old, new) = (before.metadata(), after.metadata());
    if (&old.schema_string, &old.partition_columns) != (&new.schema_string, &new.partition_columns) {
        return Some("schema".to_owned());
    }
    let keys = old.configuration.keys().chain(new.configuration.keys());
    let mut changed = keys.filter(|key| old.configuration.get(*key) != new.configuration.get(*key));
    let of_files = changed.find(|key| key.starts_with("delta.") && !OF_THE_LOG.contains(&key.as_str()));
    let mut domains = before.domains().keys().chain(after.domains().keys());
    let of_files = of_files.or_else(|| {
        domains.find(|name| name.starts_with("delta.") && before.domain(name) != after.domain(name))
    });
    of_files.cloned()
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol};

    use super::*;

    fn table(configuration: &[(&str, &str)], domains: &[&str]) -> Result<TableConfiguration> {
        let configuration: serde_json::Map<_, _> = configuration
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).into()))
            .collect();
        let metadata = serde_json::json!({"id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
            "schemaString": "", "configuration": configuration});
        let wrong = |error: serde_json::Error| Error::internal(error.to_string());
        let domain = |name: &&str| serde_json::json!({"domain": name, "configuration": "", "removed": false});
        let protocol: Protocol =
            serde_json::from_str(r#"{"minReaderVersion":1,"minWriterVersion":2}"#).map_err(wrong)?;
        let metadata: Metadata = serde_json::from_value(metadata).map_err(wrong)?;
        let domains: Vec<DomainMetadata> =
            serde_json::from_value(domains.iter().map(domain).collect()).map_err(wrong)?;
        Ok(TableConfiguration::new(protocol, metadata).with_domains(domains))
    }

    #[test]
    fn files_go_with_what_they_are_not_written_by() -> Result<()> {
        let plain = table(&[], &[])?;
        let differs = |other: &TableConfiguration| properties_that_files_depend_on(&plain, other);
        assert_eq!(
            differs(&table(
                &[("mine", "1"), ("delta.checkpointInterval", "5")],
                &["mine"]
            )?),
            None
        );
        for key in [
            "delta.appendOnly",
            "delta.constraints.a",
            "delta.dataSkippingNumIndexedCols",
        ] {
            assert_eq!(differs(&table(&[(key, "1")], &[])?).as_deref(), Some(key));
        }
        assert_eq!(
            differs(&table(&[], &["delta.clustering"])?).as_deref(),
            Some("delta.clustering")
        );
        let mut other = plain.clone();
        let mut metadata = plain.metadata().clone();
        metadata.name = Some("n".to_owned());
        other.set_metadata(metadata.clone());
        assert_eq!(differs(&other), None);
        metadata.partition_columns = vec!["p".to_owned()];
        other.set_metadata(metadata);
        assert_eq!(differs(&other).as_deref(), Some("schema"));
        other = plain.clone();
        let mut protocol = plain.protocol().clone();
        protocol.min_writer_version = 3;
        other.set_protocol(protocol);
        assert_eq!(differs(&other).as_deref(), Some("protocol"));
        Ok(())
    }
}
