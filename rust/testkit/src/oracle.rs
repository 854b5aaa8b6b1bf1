//! Action reconciliation, oldest first, over maps: slow, short and independent of the real one.
//!
//! Protocol: *Action Reconciliation*.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A logical file: its path, and its deletion vector's unique id where it has one.
pub type LogicalFile = (String, Option<String>);

/// What a history leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The table's files.
    pub files: BTreeSet<LogicalFile>,
    /// The tombstones.
    pub tombstones: BTreeSet<LogicalFile>,
    /// The newest version of each application.
    pub txns: BTreeMap<String, i64>,
    /// The configuration of each domain that is there.
    pub domains: BTreeMap<String, String>,
}

/// Applies commits in order.
#[must_use]
pub fn replay(commits: &[Vec<Value>]) -> State {
    let mut state = State::default();
    for actions in commits {
        // The order of the actions of a commit means nothing; what goes is taken away before what comes is added.
        for remove in actions.iter().filter_map(|action| action.get("remove")) {
            let key = logical_file(remove);
            state.files.remove(&key);
            state.tombstones.insert(key);
        }
        for add in actions.iter().filter_map(|action| action.get("add")) {
            let key = logical_file(add);
            state.tombstones.remove(&key);
            state.files.insert(key);
        }
        for txn in actions.iter().filter_map(|action| action.get("txn")) {
            state
                .txns
                .insert(text(txn, "appId"), txn["version"].as_i64().unwrap_or_default());
        }
        for domain in actions.iter().filter_map(|action| action.get("domainMetadata")) {
            if domain["removed"] == Value::Bool(true) {
                state.domains.remove(&text(domain, "domain"));
            } else {
                state
                    .domains
                    .insert(text(domain, "domain"), text(domain, "configuration"));
            }
        }
    }
    state
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn logical_file(action: &Value) -> LogicalFile {
    let vector = action.get("deletionVector").map(|vector| {
        format!(
            "{}{}@{}",
            text(vector, "storageType"),
            text(vector, "pathOrInlineDv"),
            vector["offset"]
        )
    });
    (text(action, "path"), vector)
}
