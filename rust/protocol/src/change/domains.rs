//! User-defined metadata domains. System domains change with what they belong to.
//!
//! Protocol: *Domain Metadata*, *Writer Requirements for Domain Metadata*.

use crate::TableConfiguration;
use crate::actions::DomainMetadata;
use crate::error::nearest;
use crate::{Error, ErrorKind, Result};

/// Sets the configuration of a domain and adds the feature if needed.
pub(super) fn set(table: &mut TableConfiguration, domain: &str, configuration: &str) -> Result<()> {
    ensure_of_users(domain)?;
    table.require(&["domainMetadata"])?;
    table.put_domain(domain, configuration.to_owned());
    Ok(())
}

/// Removes a domain.
pub(super) fn remove(table: &mut TableConfiguration, domain: &str) -> Result<()> {
    ensure_of_users(domain)?;
    if table.domain(domain).is_none() {
        let names = table.domains().keys().map(String::as_str);
        let near = nearest(domain, names).map(|near| format!("did you mean {near}?"));
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("the table has no domain {domain:?}"),
        )
        .hint(near.unwrap_or_else(|| "snapshot.domain_metadata lists the domains".to_owned())));
    }
    table.remove_domain(domain);
    Ok(())
}

fn ensure_of_users(name: &str) -> Result<()> {
    let domain = DomainMetadata {
        domain: name.to_owned(),
        configuration: String::new(),
        removed: false,
    };
    let wrong = |message: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, message).hint(hint));
    if domain.is_system() {
        return wrong(
            format!("the domain {name} is the protocol's; it changes with the feature that it belongs to"),
            "choose a name that does not start with \"delta.\", for example com.example.notes",
        );
    }
    if name.is_empty() || name.chars().any(char::is_control) {
        return wrong(
            format!("{name:?} cannot be the name of a domain"),
            "choose a name of letters and dots, for example com.example.notes",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};

    fn plain() -> TableConfiguration {
        TableConfiguration::new(protocol(1, 2, &[]), metadata(&[]))
    }

    /// protocol: domain-metadata.1, domain-metadata.2, writer-requirements-for-domain-metadata.2,
    /// writer-requirements-for-domain-metadata.3
    #[test]
    fn the_protocols_own_domains_are_not_for_users() {
        for name in [
            "delta.clustering",
            "delta.rowTracking",
            "delta.",
            "delta.fromTheFuture",
            "",
            "a\nb",
        ] {
            let mut table = plain();
            let error = set(&mut table, name, "{}").err().map(|error| error.kind());
            assert_eq!(error, Some(ErrorKind::InvalidArgument), "{name}");
            assert!(remove(&mut table, name).is_err(), "{name}");
            assert_eq!(table, plain());
        }
    }

    /// protocol: domain-metadata.4, domain-metadata.5
    #[test]
    fn a_domain_is_set_and_removed_and_the_table_has_the_feature() -> Result<()> {
        let mut table = plain();
        set(&mut table, "deltaic.notes", "one")?;
        set(&mut table, "deltaic.notes", "two")?;
        assert_eq!(
            *table.protocol(),
            protocol(1, 7, &["appendOnly", "domainMetadata", "invariants"])
        );
        assert_eq!(
            table
                .domain("deltaic.notes")
                .map(|domain| domain.configuration.as_str()),
            Some("two")
        );
        assert_eq!(table.domains().len(), 1);
        let near = remove(&mut table, "deltaic.note").err();
        assert!(near.is_some_and(|error| error.hint_text() == Some("did you mean deltaic.notes?")));
        remove(&mut table, "deltaic.notes")?;
        assert!(table.domains().is_empty());
        Ok(())
    }
}
