//! Arbitrary strings as the descriptor of a deletion vector: it is validated, and an inline vector is read as
//! serialized.

use std::sync::LazyLock;

use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, DescriptorText, VectorLocation};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_storage::TableLocation;

use super::vector_bytes::{BOUND, holds, joined};
use super::vector_naive;
use super::z85;
use crate::untrusted::memory::bounded;

static TABLE: LazyLock<TableLocation> =
    LazyLock::new(|| TableLocation::parse("memory://nowhere/table", Vec::new()).expect("a place"));

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    LazyLock::force(&TABLE);
    let text = bounded(BOUND, bytes.len(), || {
        serde_json::from_slice::<DescriptorText<'_>>(bytes)
    });
    let alone = serde_json::from_slice::<Descriptor>(bytes);
    let (Ok(text), Ok(descriptor)) = (&text, &alone) else {
        return assert!(text.is_err() && alone.is_err(), "{text:?} and {alone:?}");
    };
    assert_eq!(&Descriptor::from(text), descriptor);
    let written = serde_json::to_vec(descriptor).expect("the descriptor can be serialized");
    assert_eq!(
        serde_json::from_slice::<Descriptor>(&written).ok().as_ref(),
        Some(descriptor)
    );
    let checked = bounded(BOUND, bytes.len(), || descriptor.validate());
    let decoded = bounded(BOUND, bytes.len(), || descriptor.decode_inline());
    match checked {
        Ok(VectorLocation::Inline(text)) => is_inline(descriptor, text, decoded),
        Ok(VectorLocation::File(path)) => {
            assert!(matches!(decoded, Ok(None)));
            is_in_a_file(descriptor, &path);
        }
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::CorruptLog | ErrorKind::PathEscape),
                "{error:?}"
            );
            assert!(
                error.context().iter().any(|(key, _)| *key == "field"),
                "{error:?}"
            );
            assert_eq!(decoded.err().map(|error| error.kind()), Some(error.kind()));
        }
    }
}

fn is_inline(descriptor: &Descriptor, text: &str, decoded: Result<Option<Bitmap>>) {
    assert_eq!((descriptor.storage_type.as_str(), descriptor.offset), ("i", None));
    let mut vector = z85::naively(text).expect("the text was validated");
    let size = usize::try_from(descriptor.size_in_bytes).expect("the size was validated");
    assert!(size <= vector.len() && vector.len() - size < 4);
    vector.truncate(size);
    let rows = vector_naive::ranges(&vector);
    let rows = rows.map(|rows| joined(rows.into_iter().map(|run| *run.start()..*run.end() + 1)));
    let count = |rows: &[std::ops::Range<u64>]| rows.iter().map(|run| run.end - run.start).sum::<u64>();
    let rows = rows.filter(|rows| u64::try_from(descriptor.cardinality) == Ok(count(rows)));
    match (decoded, rows) {
        (Ok(Some(bitmap)), Some(rows)) => holds(&bitmap, &rows),
        (Err(error), None) => assert_eq!(error.kind(), ErrorKind::CorruptLog),
        (decoded, rows) => panic!("{decoded:?}, and naively {rows:?}"),
    }
}

fn is_in_a_file(descriptor: &Descriptor, path: &str) {
    let place = descriptor.bytes_in_file().expect("the numbers were validated");
    assert!(place.start > 0 && place.end - place.start >= 8);
    let found = match TABLE.resolve(path) {
        Ok(found) => found,
        Err(error) => {
            return assert!(
                matches!(error.kind(), ErrorKind::CorruptLog | ErrorKind::PathEscape),
                "{error:?}"
            );
        }
    };
    let below = found.prefix_match(TABLE.root()).map(Iterator::count);
    assert!(below.is_some_and(|parts| parts > 0), "{path:?} leads to {found}");
    // For relative paths, no part of prefix and name is lost.
    if descriptor.storage_type == "u" {
        assert!(
            found
                .filename()
                .is_some_and(|name| name.starts_with("deletion_vector_"))
        );
        assert_eq!(below, Some(1 + descriptor_folders(descriptor)));
    }
}

/// Number of folders in the prefix.
fn descriptor_folders(descriptor: &Descriptor) -> usize {
    let text = descriptor.path_or_inline_dv.as_str();
    let prefix = text.get(..text.len() - 20).unwrap_or_default();
    if prefix.is_empty() {
        0
    } else {
        prefix.split('/').count()
    }
}
