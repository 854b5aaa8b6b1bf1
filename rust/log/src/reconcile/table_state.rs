//! Reconciliation of all actions except file actions: the newest of each kind, application and domain wins.
//!
//! Protocol: *Action Reconciliation*.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::Version;
use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol, Txn};
use deltaic_protocol::properties::txn_retention_ms;

use crate::decode::TableActions;

/// The table actions after reconciliation.
#[derive(Clone, Debug, Default)]
pub struct TableState {
    /// The newest protocol.
    pub protocol: Option<Arc<Protocol>>,
    /// The newest metadata.
    pub metadata: Option<Arc<Metadata>>,
    /// The newest transaction identifier of each application.
    pub txns: Arc<BTreeMap<String, Txn>>,
    /// The newest metadata of each domain, including removed domains.
    pub domains: Arc<BTreeMap<String, DomainMetadata>>,
    /// Whether the retention of transaction identifiers was increased: identifiers that had expired before
    /// are still in this state, but not in that of a reader that starts from a checkpoint in between.
    pub remembers_longer: bool,
}

/// Whether a table's retention of transaction identifiers increases.
fn remembers_longer(before: &Metadata, metadata: &Metadata) -> bool {
    let retention = |metadata: &Metadata| txn_retention_ms(metadata).unwrap_or(None);
    retention(before).is_some_and(|before| retention(metadata).is_none_or(|now| now > before))
}

impl TableState {
    /// Applies newer actions, in any order of their versions.
    #[must_use]
    pub fn with_newer(&self, mut newer: Vec<(Version, TableActions)>) -> Self {
        newer.sort_by_key(|(version, _)| *version);
        let mut state = self.clone();
        for (_, actions) in newer {
            if let Some(protocol) = actions.protocol {
                state.protocol = Some(Arc::new(protocol));
            }
            if let Some(metadata) = actions.metadata {
                state.remembers_longer |= state
                    .metadata
                    .as_deref()
                    .is_some_and(|before| remembers_longer(before, &metadata));
                state.metadata = Some(Arc::new(metadata));
            }
            if !actions.txns.is_empty() {
                let txns = Arc::make_mut(&mut state.txns);
                txns.extend(actions.txns.into_iter().map(|txn| (txn.app_id.clone(), txn)));
            }
            if !actions.domains.is_empty() {
                let domains = Arc::make_mut(&mut state.domains);
                domains.extend(
                    actions
                        .domains
                        .into_iter()
                        .map(|domain| (domain.domain.clone(), domain)),
                );
            }
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(retention: Option<&str>) -> Metadata {
        let mut metadata: Metadata = serde_json::from_value(serde_json::json!({
            "id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
            "schemaString": r#"{"type":"struct","fields":[]}"#,
        }))
        .expect("these are metadata");
        let property = "delta.setTransactionRetentionDuration".to_owned();
        metadata
            .configuration
            .extend(retention.map(|retention| (property, Some(retention.to_owned()))));
        metadata
    }

    /// Readers that start from a checkpoint in between have fewer applications, so no checksum may contain
    /// the others.
    #[test]
    fn it_is_known_whether_applications_are_remembered_for_longer() {
        let day = Some("interval 1 day");
        let week = Some("interval 1 week");
        for (before, after, is_longer) in [
            (None, None, false),
            (None, day, false),
            (day, day, false),
            (week, day, false),
            (day, week, true),
            (day, None, true),
        ] {
            let set = |version, retention| {
                let actions = TableActions {
                    metadata: Some(metadata(retention)),
                    ..TableActions::default()
                };
                (Version::try_new(version).expect("it is a version"), actions)
            };
            // The order in which commits are applied does not matter, and the flag remains set.
            let state = TableState::default().with_newer(vec![set(1, after), set(0, before)]);
            assert_eq!(state.remembers_longer, is_longer, "{before:?} {after:?}");
            let state = state.with_newer(vec![set(2, day)]);
            assert_eq!(state.remembers_longer, is_longer, "{before:?} {after:?}");
        }
    }
}
