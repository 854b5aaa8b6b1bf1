//! Arbitrary strings as a path of the log: opened files are below the table root, and no error contains a secret.

use std::sync::LazyLock;

use deltaic_protocol::ErrorKind;
use deltaic_storage::TableLocation;
use deltaic_storage::location::StorageOptions;

use super::memory::{Bound, bounded};

/// A path is decoded and joined a few times.
const BOUND: Bound = Bound {
    per_byte: 64,
    spare: 8 * 1024,
};

/// Used in place of a signature.
const SECRET: &str = "PlAnTeDSecret";

static TABLES: LazyLock<Vec<TableLocation>> = LazyLock::new(|| {
    let keys = [
        ("access_key_id", "a"),
        ("secret_access_key", "b"),
        ("region", "c"),
    ];
    let keys = |uri: &str| {
        let keys = keys.iter().filter(|_| uri.starts_with("s3"));
        let keys = keys.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        StorageOptions::from(keys.collect::<std::collections::BTreeMap<_, _>>())
    };
    ["/nowhere/table", "memory://nowhere/table", "s3://nowhere/table"]
        .into_iter()
        .map(|uri| TableLocation::with_options(uri, keys(uri), Vec::new()).expect("a place"))
        .collect()
});

pub(super) fn check_invariants(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    LazyLock::force(&TABLES);
    let presigned = format!("{text}?sig={SECRET}");
    for table in TABLES.iter() {
        for path in [text, presigned.as_str()] {
            match bounded(BOUND, path.len(), || table.resolve(path)) {
                Ok(found) => {
                    let below = found.prefix_match(table.root()).map(Iterator::count);
                    assert!(below.is_some_and(|parts| parts > 0), "{path:?} leads to {found}");
                    assert!(
                        found
                            .parts()
                            .all(|part| ![".", "..", ""].contains(&part.as_ref()))
                    );
                }
                Err(error) => {
                    assert!(
                        matches!(error.kind(), ErrorKind::PathEscape | ErrorKind::CorruptLog),
                        "{error:?}"
                    );
                    assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
                }
            }
        }
    }
}
