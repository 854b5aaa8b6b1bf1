//! Finds the feature that a protocol change removes.

use deltaic_protocol::actions::Protocol;
use deltaic_protocol::features::{FEATURES, Feature, feature, supports_for_writers};

/// Returns the first feature that the old protocol has, by its list or its versions, and that the new one lacks.
///
/// Protocol: *Protocol Evolution*, *Table Features*.
pub(in crate::transaction) fn dropped_feature<'a>(old: &'a Protocol, new: &Protocol) -> Option<&'a str> {
    let for_writers: Vec<&str> = match old.min_writer_version {
        7 => old.writer_features.iter().flatten().map(String::as_str).collect(),
        version => names_of(|row| is_implied_for_writers(row, version)),
    };
    let for_readers: Vec<&str> = match old.min_reader_version {
        3 => old.reader_features.iter().flatten().map(String::as_str).collect(),
        version => names_of(|row| is_implied_for_readers(row, version)),
    };
    let gone = for_writers
        .into_iter()
        .find(|name| !supports_for_writers(new, name));
    gone.or_else(|| {
        for_readers
            .into_iter()
            .find(|name| !supports_for_readers(new, name))
    })
}

fn names_of(is_meant: impl Fn(&Feature) -> bool) -> Vec<&'static str> {
    let rows = FEATURES.iter().filter(|row| is_meant(row));
    rows.map(|row| row.name).collect()
}

fn is_implied_for_writers(row: &Feature, version: i32) -> bool {
    row.legacy.1 > 0 && row.legacy.1 <= version
}

fn is_implied_for_readers(row: &Feature, version: i32) -> bool {
    row.legacy.0 > 0 && row.legacy.0 <= version
}

fn supports_for_readers(protocol: &Protocol, name: &str) -> bool {
    let known = feature(name);
    match protocol.min_reader_version {
        3 => protocol.reader_features.iter().flatten().any(|listed| {
            listed == name
                || known.is_some_and(|known| feature(listed).is_some_and(|row| row.name == known.name))
        }),
        version => known.is_some_and(|row| is_implied_for_readers(row, version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol(reader: i32, writer: i32, for_readers: &[&str], for_writers: &[&str]) -> Protocol {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Protocol {
            min_reader_version: reader,
            min_writer_version: writer,
            reader_features: (reader == 3).then(|| list(for_readers)),
            writer_features: (writer == 7).then(|| list(for_writers)),
        }
    }

    #[test]
    fn readers_support_what_is_listed_under_any_of_its_names() {
        for (listed, name, supports) in [
            ("deletionVectors", "deletionVectors", true),
            ("deletionVectors", "columnMapping", false),
            ("deletionVectors", "not-known", false),
            ("not-known", "not-known", true),
            ("not-known", "deletionVectors", false),
            ("variantType-preview", "columnMapping", false),
        ] {
            let protocol = protocol(3, 7, &[listed], &[listed]);
            assert_eq!(supports_for_readers(&protocol, name), supports, "{listed} {name}");
        }
    }

    #[test]
    fn a_feature_is_absent_if_neither_list_nor_version_has_it() {
        let legacy = |reader, writer| protocol(reader, writer, &[], &[]);
        let listed = |for_writers: &[&str]| protocol(1, 7, &[], for_writers);
        for (old, new, gone) in [
            (legacy(1, 2), legacy(1, 2), None),
            (legacy(1, 2), legacy(1, 4), None),
            (legacy(1, 4), legacy(1, 2), Some("checkConstraints")),
            (legacy(1, 2), listed(&["appendOnly", "invariants"]), None),
            (legacy(1, 2), listed(&["appendOnly"]), Some("invariants")),
            (listed(&["appendOnly", "invariants"]), legacy(1, 2), None),
            (
                listed(&["rowTracking"]),
                listed(&["rowTracking", "domainMetadata"]),
                None,
            ),
            (
                listed(&["rowTracking", "domainMetadata"]),
                listed(&["domainMetadata"]),
                Some("rowTracking"),
            ),
            // A preview feature and its final version have different names, but are the same feature.
            (listed(&["typeWidening-preview"]), listed(&["typeWidening"]), None),
            (listed(&["fromTheFuture"]), listed(&["fromTheFuture"]), None),
            (listed(&["fromTheFuture"]), listed(&[]), Some("fromTheFuture")),
            (
                protocol(3, 7, &["v2Checkpoint"], &["v2Checkpoint"]),
                listed(&["v2Checkpoint"]),
                Some("v2Checkpoint"),
            ),
            (
                protocol(3, 7, &["fromTheFuture"], &[]),
                protocol(3, 7, &["fromTheFuture"], &[]),
                None,
            ),
            (
                legacy(2, 2),
                protocol(3, 7, &[], &["appendOnly", "invariants"]),
                Some("columnMapping"),
            ),
            (legacy(2, 2), legacy(1, 2), Some("columnMapping")),
            (protocol(3, 7, &["columnMapping"], &[]), legacy(2, 5), None),
        ] {
            assert_eq!(dropped_feature(&old, &new), gone, "{old:?} {new:?}");
        }
    }
}
