//! Renders the feature table as a page: `docs/reference/features.md`.

use std::fmt::Write;

use super::row::{Feature, Kind, Support};
use super::table::FEATURES;

/// The page, as Markdown. `cargo run --package deltaic-protocol --example features_page` prints it.
#[must_use]
pub fn features_page() -> String {
    let mut page = String::from(
        "# Table features\n\n\
         What a table can require of its readers and writers, and what deltaic supports. The page is generated from the table \
         that the support checks use. A feature that is not listed raises `UnsupportedFeature`, which names it.\n\n\
         *open*: read the log, for metadata, schema, properties, files, statistics and history. *read* and *append*: read and \
         append rows. *remove*: remove files, or delete rows by deletion vectors, without adding rows.\n\n\
         *with a log tail*: the catalog of the table must provide the newest commits; the table does not open by path.\n\n\
         | feature | binds | implied by | open | read | append | remove | needs | excludes | also named |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for feature in FEATURES {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            feature.name,
            match feature.kind {
                Kind::Writer => "writers",
                Kind::ReaderWriter => "readers and writers",
            },
            implied_by(feature),
            word(feature.support.open),
            word(feature.support.read),
            word(feature.support.append),
            word(feature.support.remove),
            list(feature.requires),
            list(feature.excludes),
            list(feature.aliases),
        );
    }
    page
}

fn implied_by(feature: &Feature) -> String {
    match feature.legacy {
        (0, 0) => String::new(),
        (0, writer) => format!("writer {writer}"),
        (reader, writer) => format!("reader {reader}, writer {writer}"),
    }
}

fn word(support: Support) -> &'static str {
    match support {
        Support::Full => "yes",
        Support::WithTail => "with a log tail",
        Support::None => "no",
    }
}

fn list(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::feature;

    #[test]
    fn the_page_in_the_documents_is_the_one_that_is_made() {
        let written = include_str!("../../../../docs/reference/features.md");
        assert!(
            written == features_page(),
            "docs/reference/features.md is stale: cargo run --package deltaic-protocol --example features_page > docs/reference/features.md"
        );
    }

    #[test]
    fn the_table_agrees_with_itself() {
        for row in FEATURES {
            for name in row.requires.iter().chain(row.excludes) {
                assert!(
                    feature(name).is_some_and(|named| named.name == *name),
                    "{} names {name}",
                    row.name
                );
            }
            let rows = FEATURES.iter().filter(|other| {
                std::iter::once(&other.name)
                    .chain(other.aliases)
                    .any(|name| *name == row.name || row.aliases.contains(name))
            });
            assert_eq!(rows.count(), 1, "{} is listed twice", row.name);
            assert!(
                row.kind == Kind::ReaderWriter || row.legacy.0 == 0,
                "{} binds no reader",
                row.name
            );
            assert!(
                row.kind == Kind::ReaderWriter
                    || (row.support.read == Support::Full && row.support.open == Support::Full),
                "{} binds no reader",
                row.name
            );
            assert!(
                row.support.open != Support::None || row.support.read == Support::None,
                "{}: rows are read only where the log is followed",
                row.name
            );
        }
    }
}
