//! The configuration of a table that is restored to an earlier version.
//!
//! Protocol: *Change Metadata*, *Protocol Evolution*, *Domain Metadata*, *Row Tracking*, *Identity Columns*,
//! *Column Mapping*, *In-Commit Timestamps*.

use super::high_water_marks::with_high_water_marks;
use super::invariants::ensure_consistent;
use crate::actions::DomainMetadata;
use crate::column_mapping::{MAX_COLUMN_ID, physical_name};
use crate::features::{ensure_changeable, names_in, with_features};
use crate::in_commit_timestamp::{ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION, InCommitTimestamps};
use crate::schema::StructField;
use crate::{Result, TableConfiguration, clustering, row_tracking};

const CHECKPOINT_PROTECTION: &str = "delta.requireCheckpointProtectionBeforeVersion";

/// Returns the configuration of a table that is restored to that of an earlier version. Schema,
/// partitioning, properties and clustering columns are those of the earlier version. The features of both
/// are retained, because the history uses them, as are user-defined domains; the highest row id, the
/// highest column id and the last values of identity columns never decrease.
///
/// # Errors
///
/// Returns `UnsupportedFeature` if deltaic cannot change the table as it was or as it is;
/// `SchemaMismatch` with the `feature` if a feature of the earlier version is incompatible with one that
/// was added since.
pub fn restored(now: &TableConfiguration, then: &TableConfiguration) -> Result<TableConfiguration> {
    ensure_changeable(now)?;
    ensure_changeable(then)?;
    let mut after = TableConfiguration::new(now.protocol().clone(), then.metadata().clone())
        .with_domains(now.domains().values().cloned());
    let names = names_in(then.protocol());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    after.set_protocol(with_features(now.protocol(), &names)?);
    after.metadata_mut().id.clone_from(&now.metadata().id);
    raise_row_ids(&mut after, then)?;
    restore_clustering(&mut after, then);
    for key in [MAX_COLUMN_ID, CHECKPOINT_PROTECTION] {
        keep_highest(&mut after, now, key);
    }
    keep_timestamps(&mut after, now)?;
    let after = with_identities(&after, now)?;
    ensure_consistent(&after, now)?;
    Ok(after)
}

/// Row ids that the earlier version assigned must not be assigned again, even if the feature was dropped
/// since, and its domain with it.
fn raise_row_ids(after: &mut TableConfiguration, then: &TableConfiguration) -> Result<()> {
    let mark = |table: &TableConfiguration| {
        let domain = table.domain(row_tracking::DOMAIN);
        domain.map(row_tracking::high_water_mark).transpose()
    };
    if let Some(known) = mark(then)?.flatten()
        && mark(after)?.flatten().is_none_or(|mark| mark < known)
    {
        let domain = row_tracking::high_water_mark_domain(known);
        after.put_domain(row_tracking::DOMAIN, domain.configuration);
    }
    Ok(())
}

/// A table that was not clustered gets the domain without columns: the feature remains.
fn restore_clustering(after: &mut TableConfiguration, then: &TableConfiguration) {
    let none = || {
        format!(
            r#"{{"clusteringColumns":[],"domainName":"{}"}}"#,
            clustering::DOMAIN
        )
    };
    let earlier: Option<&DomainMetadata> = then.domain(clustering::DOMAIN);
    match earlier {
        Some(domain) => after.put_domain(clustering::DOMAIN, domain.configuration.clone()),
        None if after.domain(clustering::DOMAIN).is_some() => after.put_domain(clustering::DOMAIN, none()),
        None => {}
    }
}

/// Keeps the value that a property has now, if it is higher than the restored one.
fn keep_highest(after: &mut TableConfiguration, now: &TableConfiguration, key: &str) {
    let number = |table: &TableConfiguration| -> Option<i64> { table.metadata().property(key)?.parse().ok() };
    if let Some(highest) = number(now).filter(|highest| number(after).is_none_or(|then| then < *highest)) {
        after.set_property(key, highest.to_string());
    }
}

/// If in-commit timestamps are enabled now and then, all commits since the enablement have them. If they
/// were disabled since, the commit sets the enablement again.
fn keep_timestamps(after: &mut TableConfiguration, now: &TableConfiguration) -> Result<()> {
    if InCommitTimestamps::of(after)? == InCommitTimestamps::Disabled {
        return Ok(());
    }
    // Properties that cannot be parsed are not copied.
    let is_enabled = InCommitTimestamps::of(now).is_ok_and(|times| times != InCommitTimestamps::Disabled);
    for key in [ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP] {
        let value = now.metadata().property(key).filter(|_| is_enabled);
        match value {
            Some(value) => after.set_property(key, value),
            None => drop(after.metadata_mut().configuration.remove(key)),
        }
    }
    Ok(())
}

/// The last value of each identity column is the later one of both versions: values remain unique.
fn with_identities(after: &TableConfiguration, now: &TableConfiguration) -> Result<TableConfiguration> {
    let (restored, current) = (after.schema()?, now.schema()?);
    let name = |field: &StructField| physical_name(field).unwrap_or(&field.name).to_owned();
    let mut marks = Vec::new();
    for field in &restored.fields {
        let Some(then) = field.identity()? else {
            continue;
        };
        let same = current.fields.iter().find(|other| name(other) == name(field));
        let known = same.map(StructField::identity).transpose()?.flatten();
        let Some(mark) = known.and_then(|known| known.high_water_mark) else {
            continue;
        };
        let is_later = then.high_water_mark.is_none_or(|last| match then.step > 0 {
            true => mark > last,
            false => mark < last,
        });
        if is_later {
            marks.push((field.name.clone(), mark));
        }
    }
    match marks.is_empty() {
        true => Ok(after.clone()),
        false => with_high_water_marks(after, &marks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::actions::Protocol;
    use crate::samples::{metadata, protocol};

    const ICT: (&str, &str) = ("delta.enableInCommitTimestamps", "true");

    fn table(protocol: Protocol, properties: &[(&str, &str)]) -> TableConfiguration {
        with_schema(
            protocol,
            properties,
            r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}"#,
        )
    }

    fn with_schema(protocol: Protocol, properties: &[(&str, &str)], schema: &str) -> TableConfiguration {
        let mut metadata = metadata(properties);
        schema.clone_into(&mut metadata.schema_string);
        TableConfiguration::new(protocol, metadata)
    }

    fn identity(step: i64, mark: Option<i64>) -> TableConfiguration {
        let mark = mark.map_or_else(String::new, |mark| {
            format!(r#","delta.identity.highWaterMark":{mark}"#)
        });
        let schema = format!(
            r#"{{"type":"struct","fields":[{{"name":"a","type":"long","nullable":true,"metadata":{{"delta.identity.start":1,"delta.identity.step":{step},"delta.identity.allowExplicitInsert":false{mark}}}}}]}}"#
        );
        with_schema(protocol(1, 6, &[]), &[], &schema)
    }

    #[test]
    fn the_metadata_is_restored_and_the_protocol_never_lowered() -> Result<()> {
        let then = table(protocol(1, 4, &[]), &[("mine", "then")]);
        let now = table(
            protocol(3, 7, &["deletionVectors"]),
            &[("mine", "now"), ("delta.enableDeletionVectors", "true")],
        );
        let after = restored(&now, &then)?;
        assert_eq!(after.metadata().property("mine"), Some("then"));
        assert_eq!(after.metadata().property("delta.enableDeletionVectors"), None);
        let features = after.protocol().writer_features.clone().unwrap_or_default();
        for name in [
            "deletionVectors",
            "appendOnly",
            "changeDataFeed",
            "checkConstraints",
        ] {
            assert!(
                features.iter().any(|listed| listed == name),
                "{name}: {features:?}"
            );
        }
        // A feature of the earlier version that was dropped since is needed again.
        let after = restored(&table(protocol(1, 2, &[]), &[]), &now)?;
        assert!(
            after
                .protocol()
                .reader_features
                .iter()
                .flatten()
                .any(|name| name == "deletionVectors")
        );
        Ok(())
    }

    /// protocol: writer-requirements-for-row-tracking.5, writer-requirements-for-row-tracking.20
    #[test]
    fn the_highest_row_id_never_decreases_and_other_domains_stay() -> Result<()> {
        let features = ["domainMetadata", "rowTracking"];
        let with_mark = |mark: Option<i64>| {
            let mut table = table(protocol(1, 7, &features), &[]);
            if let Some(mark) = mark {
                table.put_domain(
                    row_tracking::DOMAIN,
                    row_tracking::high_water_mark_domain(mark).configuration,
                );
            }
            table.put_domain("mine", format!("{mark:?}"));
            table
        };
        for (now, then, after) in [
            (Some(9), Some(4), Some(9)),
            (Some(4), Some(9), Some(9)),
            (None, Some(4), Some(4)),
            (Some(4), None, Some(4)),
            (None, None, None),
        ] {
            let made = restored(&with_mark(now), &with_mark(then))?;
            let mark = made
                .domain(row_tracking::DOMAIN)
                .map(row_tracking::high_water_mark);
            assert_eq!(mark.transpose()?.flatten(), after, "{now:?} {then:?}");
            let mine = made.domain("mine").map(|domain| domain.configuration.clone());
            assert_eq!(mine, Some(format!("{now:?}")));
        }
        Ok(())
    }

    #[test]
    fn clustering_columns_are_restored() -> Result<()> {
        let clustered = |columns: Option<&str>| {
            let mut table = table(protocol(1, 7, &["clustering", "domainMetadata"]), &[]);
            if let Some(columns) = columns {
                table.put_domain(
                    clustering::DOMAIN,
                    format!(r#"{{"clusteringColumns":{columns}}}"#),
                );
            }
            table
        };
        for (now, then, after) in [
            (Some("[]"), Some(r#"[["a"]]"#), Some(vec![vec!["a".to_owned()]])),
            (Some(r#"[["a"]]"#), None, Some(Vec::new())),
            (None, Some(r#"[["a"]]"#), Some(vec![vec!["a".to_owned()]])),
            (None, None, None),
        ] {
            let made = restored(&clustered(now), &clustered(then))?;
            let columns = made.domain(clustering::DOMAIN).map(clustering::columns_in_log);
            assert_eq!(columns.transpose()?, after, "{now:?} {then:?}");
        }
        Ok(())
    }

    #[test]
    fn identity_columns_do_not_repeat_values() -> Result<()> {
        for (step, now, then, after) in [
            (1, Some(9), Some(4), Some(9)),
            (1, Some(4), Some(9), Some(9)),
            (-1, Some(-9), Some(-4), Some(-9)),
            (-1, Some(-4), Some(-9), Some(-9)),
            (1, None, Some(4), Some(4)),
            (1, Some(4), None, Some(4)),
            (1, None, None, None),
        ] {
            let made = restored(&identity(step, now), &identity(step, then))?;
            let [field] = made.schema()?.fields.clone().try_into().expect("one column");
            let mark = field.identity()?.and_then(|identity| identity.high_water_mark);
            assert_eq!(mark, after, "{step} {now:?} {then:?}");
        }
        Ok(())
    }

    #[test]
    fn the_enablement_of_in_commit_timestamps_is_that_of_the_history() -> Result<()> {
        let since = |version| [ICT, (ENABLEMENT_VERSION, version), (ENABLEMENT_TIMESTAMP, "9")];
        let features = || protocol(1, 7, &["inCommitTimestamp"]);
        let (three, five) = (since("3"), since("5"));
        for (now, then, after) in [
            (&five[..], &three[..], Some("5")),
            (&[ICT][..], &three[..], None),
            // They were disabled since: the commit sets when they are enabled again.
            (&[][..], &three[..], None),
            (&five[..], &[ICT][..], Some("5")),
        ] {
            let made = restored(&table(features(), now), &table(features(), then))?;
            assert_eq!(
                made.metadata().property(ENABLEMENT_VERSION),
                after,
                "{now:?} {then:?}"
            );
            assert_eq!(
                made.metadata().property(ENABLEMENT_TIMESTAMP).is_some(),
                after.is_some()
            );
        }
        let made = restored(&table(features(), &five), &table(features(), &[]))?;
        assert_eq!(InCommitTimestamps::of(&made)?, InCommitTimestamps::Disabled);
        Ok(())
    }

    #[test]
    fn what_protects_the_history_never_decreases() -> Result<()> {
        let features = || protocol(1, 7, &["checkpointProtection", "columnMapping"]);
        for key in [MAX_COLUMN_ID, CHECKPOINT_PROTECTION] {
            for (now, then, after) in [
                (Some("7"), Some("3"), Some("7")),
                (Some("7"), None, Some("7")),
                (Some("3"), Some("7"), Some("7")),
                (None, None, None),
            ] {
                let with = |value: Option<&str>| {
                    let properties: Vec<_> = value.into_iter().map(|value| (key, value)).collect();
                    table(features(), &properties)
                };
                let made = restored(&with(now), &with(then))?;
                assert_eq!(made.metadata().property(key), after, "{key} {now:?} {then:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn an_unknown_feature_then_or_now_is_refused() {
        let plain = || table(protocol(1, 2, &[]), &[]);
        let unknown = || table(protocol(1, 7, &["fromTheFuture"]), &[]);
        for (now, then) in [(plain(), unknown()), (unknown(), plain())] {
            let error = restored(&now, &then).err().map(|error| error.kind());
            assert_eq!(error, Some(ErrorKind::UnsupportedFeature));
        }
    }
}
