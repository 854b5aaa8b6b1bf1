//! Properties of the table of documented properties.

use std::collections::HashSet;

use super::*;
use crate::samples::metadata;

#[test]
fn every_default_is_of_its_own_type() {
    let mut names = HashSet::new();
    for property in PROPERTIES {
        assert!(
            names.insert(property.name.to_ascii_lowercase()),
            "{} is listed twice",
            property.name
        );
        assert!(
            property
                .default
                .is_none_or(|value| property.property_type.accepts(value)),
            "{}",
            property.name
        );
    }
}

/// The property that enables a feature is documented.
#[test]
fn every_feature_has_a_documented_property() {
    for feature in crate::features::FEATURES {
        if let Some(property) = feature.property {
            assert!(documented(property).is_some(), "{property}");
        }
    }
}

#[test]
fn values_are_read_by_their_type_or_refused_by_name() -> Result<()> {
    let set = metadata(&[
        ("delta.appendOnly", "TRUE"),
        ("delta.checkpointInterval", "7"),
        ("delta.enableRowTracking", "yes"),
        ("delta.dataSkippingNumIndexedCols", "-2"),
        ("delta.checkpointPolicy", "V2"),
        ("delta.isolationLevel", "none at all"),
        ("mine", "7"),
    ]);
    assert!(boolean(&set, "delta.appendOnly")?);
    assert!(!boolean(&set, "delta.enableDeletionVectors")?);
    assert!(boolean(&set, "delta.enableExpiredLogCleanup")?);
    assert_eq!(integer(&set, "delta.checkpointInterval")?, Some(7));
    assert_eq!(integer(&metadata(&[]), "delta.checkpointInterval")?, Some(10));
    assert_eq!(integer(&set, "delta.inCommitTimestampEnablementVersion")?, None);
    assert_eq!(text(&set, "delta.checkpointPolicy")?, Some("V2"));
    assert_eq!(text(&set, "mine")?, Some("7"));
    assert_eq!(text(&set, "yours")?, None);
    for name in [
        "delta.enableRowTracking",
        "delta.dataSkippingNumIndexedCols",
        "delta.isolationLevel",
    ] {
        let error = text(&set, name).err();
        assert!(
            error
                .as_ref()
                .is_some_and(|error| error.context().contains(&("field", name.into()))),
            "{name}: {error:?}"
        );
    }
    assert!(boolean(&set, "mine").is_err());
    Ok(())
}
