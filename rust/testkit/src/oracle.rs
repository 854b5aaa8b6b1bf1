//! Reference implementation of action reconciliation, oldest first, over maps: slow, short and independent.
//!
//! Protocol: *Action Reconciliation*.

use std::collections::BTreeMap;

use serde_json::Value;

/// A logical file: its path in the shortest form, and the unique id of its deletion vector if it has one.
pub type LogicalFile = (String, Option<String>);

/// The result of a history: the newest action of each kind and key, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The newest protocol.
    pub protocol: Option<Value>,
    /// The newest metadata.
    pub metadata: Option<Value>,
    /// The live files.
    pub files: BTreeMap<LogicalFile, Value>,
    /// The newest transaction identifier of each application.
    pub tombstones: BTreeMap<LogicalFile, Value>,
    /// The newest of each application.
    pub txns: BTreeMap<String, Value>,
    /// The newest action of each domain, also if it removes the domain.
    pub domains: BTreeMap<String, Value>,
}

/// Applies commits in order.
#[must_use]
pub fn replay(commits: &[Vec<Value>]) -> State {
    let mut state = State::default();
    for actions in commits {
        let of = |kind: &'static str| actions.iter().filter_map(move |action| action.get(kind).cloned());
        state.protocol = of("protocol").next_back().or(state.protocol);
        state.metadata = of("metaData").next_back().or(state.metadata);
        // The order of actions in a commit has no meaning; removes are applied before adds.
        for remove in of("remove") {
            state.files.remove(&logical_file(&remove));
            state.tombstones.insert(logical_file(&remove), remove);
        }
        for add in of("add") {
            state.tombstones.remove(&logical_file(&add));
            state.files.insert(logical_file(&add), add);
        }
        state.txns.extend(of("txn").map(|txn| (text(&txn, "appId"), txn)));
        state
            .domains
            .extend(of("domainMetadata").map(|domain| (text(&domain, "domain"), domain)));
    }
    state
}

impl State {
    /// The state as actions, wrapped by action name: the contents of a reconciled file of the log.
    #[must_use]
    pub fn actions(&self) -> Vec<Value> {
        let named = |name: &'static str| move |action: &Value| serde_json::json!({ name: action });
        let mut actions: Vec<Value> = self.protocol.iter().map(named("protocol")).collect();
        actions.extend(self.metadata.iter().map(named("metaData")));
        actions.extend(self.txns.values().map(named("txn")));
        actions.extend(self.domains.values().map(named("domainMetadata")));
        actions.extend(self.files.values().map(named("add")));
        actions.extend(self.tombstones.values().map(named("remove")));
        actions
    }

    /// The existing domains.
    pub fn live_domains(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.domains
            .iter()
            .filter(|(_, domain)| domain["removed"] != Value::Bool(true))
    }
}

/// A string field; empty if absent.
pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The key of an `add` or a `remove`.
#[must_use]
pub fn logical_file(action: &Value) -> LogicalFile {
    let vector = action.get("deletionVector").map(|vector| {
        let offset = vector["offset"]
            .as_i64()
            .map(|offset| format!("@{offset}"))
            .unwrap_or_default();
        format!(
            "{}{}{offset}",
            text(vector, "storageType"),
            text(vector, "pathOrInlineDv")
        )
    });
    (shortest(&text(action, "path")), vector)
}

/// `/p`, `file:/p` and `file:///p` are the same file.
#[must_use]
pub fn shortest(path: &str) -> String {
    let rest = path
        .strip_prefix("file://")
        .or_else(|| path.strip_prefix("file:"));
    rest.filter(|rest| rest.starts_with('/'))
        .unwrap_or(path)
        .to_owned()
}
