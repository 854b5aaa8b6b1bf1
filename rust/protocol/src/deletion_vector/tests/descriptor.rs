//! Descriptors locate deletion vectors; invalid ones are rejected.

use proptest::prelude::proptest;

use crate::deletion_vector::{Descriptor, VectorLocation};
use crate::error::ContextValue;
use crate::{Error, ErrorKind};

pub(super) fn descriptor(storage_type: &str, text: &str, offset: Option<i32>) -> Descriptor {
    Descriptor {
        storage_type: storage_type.to_owned(),
        path_or_inline_dv: text.to_owned(),
        offset,
        size_in_bytes: 40,
        cardinality: 6,
    }
}

pub(super) fn field(error: &Error) -> &str {
    let found = error.context().iter().find(|(key, _)| *key == "field");
    match found {
        Some((_, ContextValue::Text(field))) => field.rsplit('.').next().unwrap_or_default(),
        _ => "",
    }
}

pub(super) const NAME: &str = "^-aqEH.-t@S}K{vb[*k^";
const FILE: &str = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";

/// The protocol's three examples.
#[test]
fn the_protocols_examples_are_read() {
    let relative = descriptor("u", "ab^-aqEH.-t@S}K{vb[*k^", Some(4));
    assert_eq!(
        relative.validate().unwrap(),
        VectorLocation::File(format!("ab/{FILE}").into())
    );
    assert_eq!(relative.bytes_in_file().unwrap(), 4..52);
    assert_eq!(relative.decode_inline().unwrap(), None);
    let absolute = descriptor(
        "p",
        "s3://mytable/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
        Some(4),
    );
    assert_eq!(
        absolute.validate().unwrap(),
        VectorLocation::File(absolute.path_or_inline_dv.as_str().into())
    );
    let inline = descriptor("i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", None);
    assert_eq!(
        inline.validate().unwrap(),
        VectorLocation::Inline(&inline.path_or_inline_dv)
    );
    let bitmap = inline.decode_inline().unwrap().unwrap();
    assert!(bitmap.iter().eq([3, 4, 7, 11, 18, 29]));
    inline.check_rows(&bitmap, 30).unwrap();
    assert_eq!(
        inline.check_rows(&bitmap, 29).unwrap_err().kind(),
        ErrorKind::CorruptData
    );
}

#[test]
fn a_prefix_is_a_folder_in_the_table() {
    let path = |prefix: &str| match descriptor("u", &format!("{prefix}{NAME}"), Some(1)).validate() {
        Ok(VectorLocation::File(path)) => Ok(path.into_owned()),
        Ok(VectorLocation::Inline(_)) => panic!("it is a file's"),
        Err(error) => {
            assert_eq!(field(&error), "pathOrInlineDv");
            Err(error.kind())
        }
    };
    assert_eq!(path(""), Ok(FILE.to_owned()));
    assert_eq!(path("a/b"), Ok(format!("a/b/{FILE}")));
    // Encoded like a path in the log, which is decoded once and treated as a URI if it looks like one.
    assert_eq!(path("%2e%2e"), Ok(format!("%252e%252e/{FILE}")));
    assert_eq!(path("s3:"), Ok(format!("s3%3A/{FILE}")));
    assert_eq!(path("é\n\\"), Ok(format!("%C3%A9%0A%5C/{FILE}")));
    for prefix in ["..", "../x", "a/../../b", "a/.."] {
        assert_eq!(path(prefix), Err(ErrorKind::PathEscape), "{prefix}");
    }
    for prefix in ["/", "/etc", "a//b", "a/", ".", "s3://bucket/a"] {
        assert_eq!(path(prefix), Err(ErrorKind::CorruptLog), "{prefix}");
    }
}

#[test]
fn a_descriptor_that_cannot_be_is_refused_by_its_field() {
    let refused = |descriptor: &Descriptor, name: &str| {
        let error = descriptor.validate().unwrap_err();
        assert_eq!(
            (error.kind(), field(&error)),
            (ErrorKind::CorruptLog, name),
            "{error}"
        );
        assert!(error.hint_text().is_some());
    };
    let good = descriptor("u", NAME, Some(1));
    assert!(good.validate().is_ok() && descriptor("u", NAME, None).validate().is_ok());
    assert_eq!(descriptor("u", NAME, None).bytes_in_file().unwrap(), 1..49);
    for kind in ["", "U", "x", "ui"] {
        refused(&descriptor(kind, NAME, Some(1)), "storageType");
    }
    for offset in [0, -1, i32::MIN] {
        refused(&descriptor("u", NAME, Some(offset)), "offset");
        refused(&descriptor("p", "/a", Some(offset)), "offset");
    }
    for size_in_bytes in [-1, i32::MIN] {
        refused(
            &Descriptor {
                size_in_bytes,
                ..good.clone()
            },
            "sizeInBytes",
        );
    }
    refused(
        &Descriptor {
            cardinality: -1,
            ..good.clone()
        },
        "cardinality",
    );
    let largest = Descriptor {
        offset: Some(i32::MAX),
        size_in_bytes: i32::MAX,
        ..good
    };
    assert_eq!(largest.bytes_in_file().unwrap().end, 2 * (i32::MAX as u64) + 8);
    for text in [
        "",
        "short",
        "###################\u{fc}",
        "####################",
        "                    ",
    ] {
        refused(&descriptor("u", text, Some(1)), "pathOrInlineDv");
    }
    for path in ["", "a.bin", "../a.bin", "a/b:c.bin"] {
        refused(&descriptor("p", path, Some(1)), "pathOrInlineDv");
    }
    let inline = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L";
    refused(&descriptor("i", inline, Some(1)), "offset");
    for (from, to) in [
        ("wi5b=", ""),
        ("wi5b=", "wi5b"),
        ("wi5b=", "wi5b~"),
        ("wi5b=", "#####"),
        ("wi5b=", "wi5bé"),
    ] {
        refused(
            &descriptor("i", &inline.replace(from, to), None),
            "pathOrInlineDv",
        );
    }
    for size_in_bytes in [0, 36, 41, i32::MAX] {
        refused(
            &Descriptor {
                size_in_bytes,
                ..descriptor("i", inline, None)
            },
            "pathOrInlineDv",
        );
    }
    // The inline data are validated when they are decoded; damage is an error of the log.
    for size_in_bytes in [37, 39] {
        let error = Descriptor {
            size_in_bytes,
            ..descriptor("i", inline, None)
        }
        .decode_inline()
        .unwrap_err();
        assert_eq!(
            (error.kind(), field(&error)),
            (ErrorKind::CorruptLog, "deletionVector")
        );
    }
    for cardinality in [0, 5, 7] {
        let error = Descriptor {
            cardinality,
            ..descriptor("i", inline, None)
        }
        .decode_inline()
        .unwrap_err();
        assert_eq!(
            (error.kind(), field(&error)),
            (ErrorKind::CorruptLog, "cardinality")
        );
    }
}

proptest! {
    #[test]
    fn any_text_makes_an_error_or_a_place(text in ".{0,40}") {
        let _ = descriptor("u", &text, Some(1)).validate();
        let _ = descriptor("i", &text, None).decode_inline();
        let _ = descriptor("p", &text, None).validate();
    }
}
