//! Tables on the three cloud services, over a scripted network.

use std::collections::BTreeMap;
use std::sync::Arc;

use deltaic_protocol::Result;
use deltaic_storage::TableLocation;
use deltaic_storage::location::StorageOptions;
use serde_json::Value;

use super::scripted_network::{Mishap, ScriptedNetwork};

/// A service: a table's URI and its signing options.
pub type Service = (&'static str, &'static [(&'static str, &'static str)]);

/// The services with their ways of signing, which put different secrets into requests; every secret
/// contains a mark.
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

/// Transient faults, which a retry may overcome.
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

/// A table's location on a service with more options than necessary, and its scripted network.
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

/// Writes a commit without a request.
pub fn put_commit(network: &ScriptedNetwork, version: usize, actions: &[Value]) {
    let text: String = actions.iter().map(|action| action.to_string() + "\n").collect();
    network.put(&format!("t/_delta_log/{version:020}.json"), text);
}
