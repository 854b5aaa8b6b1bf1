//! Generated histories.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::table_builder::{TableBuilder, add, remove};

/// A history of a table: commits of adds, removes, re-adds, transactions and domains over a few names, so that they
/// meet. The first commit holds protocol and metadata.
pub fn history() -> impl Strategy<Value = Vec<Vec<Value>>> {
    vec(commit(), 0..12).prop_map(|commits| {
        std::iter::once(TableBuilder::first_actions())
            .chain(commits)
            .collect()
    })
}

fn commit() -> impl Strategy<Value = Vec<Value>> {
    let file = (0u8..6, prop::option::of(0u8..2), any::<bool>());
    let rare = prop_oneof![
        (0u8..3, 0i64..100).prop_map(|(app, version)| json!({"txn": {"appId": format!("app{app}"), "version": version}})),
        (0u8..3, any::<bool>()).prop_map(|(domain, removed)| {
            json!({"domainMetadata": {"domain": format!("d{domain}"), "configuration": "c", "removed": removed}})
        }),
    ];
    (vec(file, 0..5), prop::option::of(rare)).prop_map(|(files, rare)| {
        let mut seen = std::collections::BTreeSet::new();
        let mut actions: Vec<Value> = Vec::new();
        for (path, vector, comes) in files {
            // A commit holds each path once: more is not a valid commit.
            if seen.insert(path) {
                let (path, vector) = (
                    format!("f{path}.parquet"),
                    vector.map(|vector| format!("v{vector}")),
                );
                actions.push(if comes {
                    add(&path, vector.as_deref())
                } else {
                    remove(&path, vector.as_deref())
                });
            }
        }
        actions.extend(rare);
        // An empty commit would be damage, so every commit says at least this.
        actions.push(json!({"commitInfo": {"operation": "TEST"}}));
        actions
    })
}
