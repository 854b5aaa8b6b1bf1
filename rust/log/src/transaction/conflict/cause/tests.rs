//! Tests of conflicts as errors.

use super::*;

/// Each conflict as an error: its class and its context.
#[test]
fn a_conflict_becomes_an_error_of_its_class_that_states_where() {
    let version = Version::ZERO;
    let (path, text) = (|| "a b".to_owned(), |text: &str| text.to_owned());
    let partition =
        || PartitionValues::from([("p".to_owned(), Some("1".to_owned())), ("q".to_owned(), None)]);
    for (conflict, class, context) in [
        (
            ConflictCause::ProtocolChanged {
                version,
                why: text("why"),
            },
            "ProtocolChanged",
            &[][..],
        ),
        (ConflictCause::DropUnproved { version }, "ProtocolChanged", &[]),
        (
            ConflictCause::MetadataChanged {
                version,
                field: text("f"),
            },
            "MetadataChanged",
            &[("field", "f")],
        ),
        (
            ConflictCause::Domain {
                version,
                domain: text("d"),
            },
            "ConcurrentTransaction",
            &[("domain", "d")],
        ),
        (
            ConflictCause::Application {
                version,
                app_id: text("x"),
                reached: 3,
            },
            "ConcurrentTransaction",
            &[("app_id", "x")],
        ),
        (ConflictCause::RowIdsGiven { version }, "ConcurrentWrite", &[]),
        (
            ConflictCause::AnyCommit {
                version,
                operation: None,
            },
            "ConcurrentWrite",
            &[],
        ),
        (
            ConflictCause::Append {
                version,
                path: path(),
                partition_values: partition(),
            },
            "ConcurrentAppend",
            &[("path", "a b"), ("partition", "p=1/q=NULL")],
        ),
        (
            ConflictCause::Append {
                version,
                path: path(),
                partition_values: PartitionValues::new(),
            },
            "ConcurrentAppend",
            &[("path", "a b")],
        ),
        (
            ConflictCause::AddedTwice {
                version,
                path: path(),
            },
            "ConcurrentAppend",
            &[("path", "a b")],
        ),
        (
            ConflictCause::AddedAgain {
                version,
                path: path(),
            },
            "ConcurrentDeleteRead",
            &[("path", "a b")],
        ),
        (
            ConflictCause::DeleteRead {
                version,
                path: path(),
            },
            "ConcurrentDeleteRead",
            &[("path", "a b")],
        ),
        (
            ConflictCause::DeleteDelete {
                version,
                path: path(),
            },
            "ConcurrentDeleteDelete",
            &[("path", "a b")],
        ),
    ] {
        let error = Error::from(conflict);
        assert_eq!(error.kind().class_name(), class);
        let mut expected = vec![("version", version.into())];
        expected.extend(context.iter().map(|(key, value)| (*key, (*value).into())));
        assert_eq!(error.context(), expected, "{class}");
        let hint = error.hint_text().unwrap_or_default();
        assert!(
            hint.contains(' ') && error.what().contains("version 0"),
            "{error}"
        );
    }
}

/// The conflict with a replaced table says so; that with any other metadata change only names the field.
#[test]
fn another_table_is_called_so() {
    for (field, is_another) in [("id", true), ("schemaString", false)] {
        let conflict = ConflictCause::MetadataChanged {
            version: Version::ZERO,
            field: field.to_owned(),
        };
        let message = Error::from(conflict).what().to_owned();
        assert!(message.contains(field), "{message}");
        assert_eq!(message.contains("another table"), is_another, "{message}");
    }
}
