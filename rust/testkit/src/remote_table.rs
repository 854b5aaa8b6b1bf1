//! Tables on the three services, over a scripted network.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_log::TableLocation;
use deltaic_log::location::StorageOptions;
use deltaic_protocol::Result;
use serde_json::Value;

use crate::scripted_network::{Mishap, ScriptedNetwork};

/// A service: a table's URI, and what a client needs to sign.
pub type Service = (&'static str, &'static [(&'static str, &'static str)]);

/// The services, and the ways to sign of which a request holds more or less: every secret has a mark.
pub const SERVICES: [Service; 4] = [
    (
        "s3://bucket/t",
        &[
            ("aws_region", "us-east-1"),
            ("aws_access_key_id", "PlAnTeD-id"),
            ("aws_secret_access_key", "PlAnTeD-secret"),
        ],
    ),
    (
        "az://bucket/t",
        &[("account_name", "account"), ("account_key", "UGxBblRlRC1rZXk=")],
    ),
    (
        "az://bucket/t",
        &[
            ("account_name", "account"),
            ("sas_token", "sv=2026-02-06&sig=PlAnTeD-signature"),
        ],
    ),
    ("gs://bucket/t", &[("google_bearer_token", "PlAnTeD-token")]),
];

/// What may pass when a request is made again.
pub const MAY_PASS: [Mishap; 9] = [
    Mishap::Status(500, "InternalError"),
    Mishap::Status(502, "BadGateway"),
    Mishap::Status(503, "SlowDown"),
    Mishap::Status(429, "TooManyRequests"),
    Mishap::Status(408, "RequestTimeout"),
    Mishap::Refused,
    Mishap::Closed,
    Mishap::Reset,
    Mishap::Silence,
];

/// A table's place on a service, with more options than it needs, and the network before it.
pub fn remote_place(
    (uri, options): Service,
    more: &[(&str, &str)],
) -> Result<(ScriptedNetwork, Arc<TableLocation>)> {
    let network = ScriptedNetwork::default();
    let options: BTreeMap<String, String> = options
        .iter()
        .chain(more)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let options = StorageOptions::from(options);
    let location = TableLocation::on_network(uri, options, Arc::new(network.clone()))?;
    Ok((network, Arc::new(location)))
}

/// Writes a commit behind the network's back.
pub fn put_commit(network: &ScriptedNetwork, version: usize, actions: &[Value]) {
    let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
    network.put(&format!("t/_delta_log/{version:020}.json"), text);
}
