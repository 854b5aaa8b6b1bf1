//! Reads the settings of a service from environment variables.

use super::uri::Service;

/// Returns the environment variables of a service, with lowercase names.
pub(in crate::location) fn variables(service: Service) -> Vec<(String, String)> {
    let prefix = match service {
        Service::S3 => "aws_",
        Service::Azure => "azure_",
        Service::Google => "google_",
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the permitted user of this method"
    )]
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| {
            let name = name.to_str()?.to_ascii_lowercase();
            let value = value.to_str()?;
            (name.starts_with(prefix) && !value.is_empty()).then(|| (name, value.to_owned()))
        })
        .collect()
}
