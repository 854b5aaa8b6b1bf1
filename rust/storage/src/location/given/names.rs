//! The names of settings: which exist, which belong together, and which have secret values.

use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::gcp::GoogleConfigKey;

use super::hadoop;
use super::uri::Service;

/// Number of retries. `object_store` defines no names for these two.
pub(in crate::location) const MAX_RETRIES: &str = "max_retries";
/// Time after which a request is not retried.
pub(in crate::location) const RETRY_TIMEOUT: &str = "retry_timeout";

/// Groups of names: an option in a group disables all environment variables of the group.
pub(in crate::location) const TOGETHER: [&[&str]; 5] = [
    &[
        "aws_access_key_id",
        "aws_secret_access_key",
        "aws_session_token",
        "aws_skip_signature",
        "aws_web_identity_token_file",
        "aws_role_arn",
        "aws_role_session_name",
        "aws_container_credentials_relative_uri",
        "aws_container_credentials_full_uri",
        "aws_container_authorization_token_file",
    ],
    &["aws_region", "aws_default_region"],
    &["aws_endpoint", "aws_endpoint_url_s3"],
    &[
        "azure_storage_account_key",
        "azure_storage_client_id",
        "azure_storage_client_secret",
        "azure_storage_tenant_id",
        "azure_storage_sas_key",
        "azure_storage_token",
        "azure_federated_token_file",
        "azure_use_azure_cli",
        "azure_skip_signature",
        "azure_credential_type",
        "azure_msi_endpoint",
        "azure_object_id",
        "azure_msi_resource_id",
    ],
    &[
        "google_service_account",
        "google_service_account_key",
        "google_application_credentials",
        "google_bearer_token",
        "google_skip_signature",
    ],
];

/// Names of the same setting, whose values must be equal.
pub(in crate::location) const SAME: [(&str, &str); 2] = [
    ("aws_endpoint", "aws_endpoint_url_s3"),
    ("google_service_account", "google_application_credentials"),
];

/// Names whose values are never printed, not even in errors.
pub(in crate::location) const SECRET: [&str; 14] = [
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "aws_sse_customer_key_base64",
    "azure_storage_account_key",
    "azure_storage_client_secret",
    "azure_storage_sas_key",
    "azure_storage_token",
    "azure_fabric_session_token",
    "azure_storage_encryption_key",
    "google_service_account_key",
    "google_bearer_token",
    "proxy_url",
    "proxy_ca_certificate",
];

/// Names for suggestions: each includes its prefix, which users may omit.
const NAMES: [(Service, &[&str]); 3] = [
    (
        Service::S3,
        &[
            "aws_access_key_id",
            "aws_secret_access_key",
            "aws_session_token",
            "aws_region",
            "aws_default_region",
            "aws_endpoint",
            "aws_endpoint_url",
            "aws_endpoint_url_s3",
            "aws_endpoint_url_sts",
            "aws_virtual_hosted_style_request",
            "aws_skip_signature",
            "aws_allow_http",
            "aws_conditional_put",
            "aws_unsigned_payload",
            "aws_checksum_algorithm",
            "aws_request_payer",
            "aws_s3_express",
            "aws_disable_tagging",
            "aws_disable_bulk_delete",
            "aws_imdsv1_fallback",
            "aws_metadata_endpoint",
            "aws_role_arn",
            "aws_role_session_name",
            "aws_web_identity_token_file",
            "aws_container_credentials_relative_uri",
            "aws_container_credentials_full_uri",
            "aws_container_authorization_token_file",
            "aws_server_side_encryption",
            "aws_sse_kms_key_id",
            "aws_sse_bucket_key_enabled",
            "aws_sse_customer_key_base64",
        ],
    ),
    (
        Service::Azure,
        &[
            "azure_storage_account_name",
            "azure_storage_account_key",
            "azure_storage_access_key",
            "azure_storage_sas_key",
            "azure_storage_sas_token",
            "azure_storage_token",
            "azure_storage_client_id",
            "azure_storage_client_secret",
            "azure_storage_tenant_id",
            "azure_storage_authority_host",
            "azure_storage_endpoint",
            "azure_storage_use_emulator",
            "azure_use_fabric_endpoint",
            "azure_use_azure_cli",
            "azure_federated_token_file",
            "azure_msi_endpoint",
            "azure_msi_resource_id",
            "azure_object_id",
            "azure_credential_type",
            "azure_skip_signature",
            "azure_disable_tagging",
            "azure_allow_http",
            "account_name",
            "account_key",
            "access_key",
            "sas_key",
            "sas_token",
            "bearer_token",
            "client_id",
            "client_secret",
            "tenant_id",
        ],
    ),
    (
        Service::Google,
        &[
            "google_service_account",
            "google_service_account_path",
            "google_service_account_key",
            "google_application_credentials",
            "google_bearer_token",
            "google_skip_signature",
            "google_base_url",
        ],
    ),
];

const OF_EVERY_SERVICE: [&str; 15] = [
    MAX_RETRIES,
    RETRY_TIMEOUT,
    "timeout",
    "connect_timeout",
    "read_timeout",
    "allow_http",
    "allow_invalid_certificates",
    "disable_system_certificates",
    "proxy_url",
    "proxy_ca_certificate",
    "proxy_excludes",
    "user_agent",
    "pool_idle_timeout",
    "pool_max_idle_per_host",
    "http1_only",
];

/// Returns the name of a setting in `object_store`; `None` if unknown.
pub(in crate::location) fn canonical(service: Service, name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    if [MAX_RETRIES, RETRY_TIMEOUT].contains(&name.as_str()) {
        return Some(name);
    }
    match service {
        Service::S3 => name
            .parse()
            .ok()
            .map(|key: AmazonS3ConfigKey| key.as_ref().to_owned()),
        Service::Azure => name
            .parse()
            .ok()
            .map(|key: AzureConfigKey| key.as_ref().to_owned()),
        Service::Google => name
            .parse()
            .ok()
            .map(|key: GoogleConfigKey| key.as_ref().to_owned()),
    }
}

/// Returns all names for a service, for suggestions.
pub(in crate::location) fn all(service: Service) -> impl Iterator<Item = &'static str> {
    NAMES
        .iter()
        .filter(move |(of, _)| *of == service)
        .flat_map(|(_, names)| names.iter().copied())
        .chain(OF_EVERY_SERVICE)
        .chain(hadoop::names(service))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_is_proposed_is_known() {
        for (service, names) in NAMES {
            for name in names.iter().chain(&OF_EVERY_SERVICE) {
                assert!(canonical(service, name).is_some(), "{name}");
            }
        }
        for group in TOGETHER {
            for name in group {
                let known = [Service::S3, Service::Azure, Service::Google]
                    .into_iter()
                    .any(|service| canonical(service, name).as_deref() == Some(*name));
                assert!(known, "{name}");
            }
        }
        for name in SECRET {
            let known = [Service::S3, Service::Azure, Service::Google]
                .into_iter()
                .any(|service| canonical(service, name).as_deref() == Some(name));
            assert!(known, "{name}");
        }
    }
}
