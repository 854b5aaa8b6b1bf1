//! Frames of deletion vector files.

use proptest::prelude::{any, prop_assert, proptest};

use super::descriptor::{NAME, descriptor, field};
use crate::ErrorKind;
use crate::deletion_vector::{Bitmap, Descriptor, VectorFile, check_version, parse_frame, unframe};

/// A file with three deletion vectors, and their descriptors.
fn file() -> (Vec<u8>, Vec<(Descriptor, Bitmap)>) {
    let mut file = VectorFile::new();
    let vectors = [vec![1, 2, 3], vec![], (0..100_000).step_by(3).collect::<Vec<_>>()].map(|positions| {
        let bitmap = Bitmap::from_positions(positions).unwrap();
        let (offset, size_in_bytes) = file.push(&bitmap).unwrap();
        let cardinality = bitmap.len() as i64;
        let place = descriptor("u", NAME, Some(offset));
        (
            Descriptor {
                size_in_bytes,
                cardinality,
                ..place
            },
            bitmap,
        )
    });
    assert!(file.size() > 1);
    (file.into_bytes(), vectors.to_vec())
}

#[test]
fn a_file_holds_its_deletion_vectors_after_its_version() {
    let (file, vectors) = file();
    assert_eq!(file.first(), Some(&1));
    assert_eq!(vectors[0].0.offset, Some(1));
    for (descriptor, bitmap) in &vectors {
        let vector = parse_frame(&file, descriptor).unwrap();
        assert_eq!(&descriptor.decode(vector).unwrap(), bitmap);
        // The same from only the frame.
        let place = descriptor.bytes_in_file().unwrap();
        let frame = &file[place.start as usize..place.end as usize];
        assert_eq!(unframe(frame, descriptor).unwrap(), vector);
        assert_eq!(frame[..4], descriptor.size_in_bytes.to_be_bytes());
        assert_eq!(frame[frame.len() - 4..], crc32fast::hash(vector).to_be_bytes());
    }
    assert_eq!(
        vectors.last().unwrap().0.bytes_in_file().unwrap().end,
        file.len() as u64
    );
}

#[test]
fn a_damaged_file_is_refused_by_what_is_wrong() {
    let (file, vectors) = file();
    let descriptor = &vectors[0].0;
    let refused = |file: &[u8], descriptor: &Descriptor, name: &str, what: &str| {
        let error = parse_frame(file, descriptor).unwrap_err();
        assert_eq!(
            (error.kind(), field(&error)),
            (ErrorKind::CorruptData, name),
            "{error}"
        );
        assert!(error.what().contains(what), "{error}");
    };
    refused(b"", descriptor, "version", "its file is empty");
    refused(
        &[&[2], &file[1..]].concat(),
        descriptor,
        "version",
        "the version of its file is 2, not 1",
    );
    assert!(check_version(&file[..1]).is_ok());
    refused(
        &file[..1],
        descriptor,
        "sizeInBytes",
        "its size takes 4 bytes, and 0 are left",
    );
    refused(&file[..9], descriptor, "sizeInBytes", "ends too early");
    let whole = descriptor.bytes_in_file().unwrap().end as usize;
    refused(
        &file[..whole - 1],
        descriptor,
        "sizeInBytes",
        "its checksum takes 4 bytes, and 3 are left",
    );
    let beyond = Descriptor {
        offset: Some(file.len() as i32 + 1),
        ..descriptor.clone()
    };
    refused(&file, &beyond, "offset", "and its file has");
    let other_size = Descriptor {
        size_in_bytes: descriptor.size_in_bytes + 1,
        ..descriptor.clone()
    };
    refused(&file, &other_size, "sizeInBytes", "according to the log");
    let elsewhere = Descriptor {
        offset: Some(2),
        ..descriptor.clone()
    };
    refused(&file, &elsewhere, "sizeInBytes", "according to its file");
    let mut flipped = file.clone();
    flipped[whole - 1] ^= 1;
    refused(&flipped, descriptor, "checksum", "according to its file");

    // The deletion vector itself, in a valid frame.
    let vector = parse_frame(&file, descriptor).unwrap();
    let refused = |descriptor: &Descriptor, vector: &[u8], name: &str| {
        let error = descriptor.decode(vector).unwrap_err();
        assert_eq!(
            (error.kind(), field(&error)),
            (ErrorKind::CorruptData, name),
            "{error}"
        );
    };
    for cardinality in [2, 4, -1, i64::MAX] {
        refused(
            &Descriptor {
                cardinality,
                ..descriptor.clone()
            },
            vector,
            "cardinality",
        );
    }
    refused(&other_size, vector, "sizeInBytes");
    refused(
        &Descriptor {
            size_in_bytes: -1,
            ..descriptor.clone()
        },
        vector,
        "sizeInBytes",
    );
    refused(descriptor, &vec![0; vector.len()], "deletionVector");
}

proptest! {
    /// Any flipped bit in a frame is detected.
    #[test]
    fn a_flipped_bit_is_noticed(at in any::<proptest::sample::Index>(), bit in 0u8..8) {
        let mut file = VectorFile::new();
        let (offset, size_in_bytes) = file.push(&Bitmap::from_positions([5, 7, 70_000]).unwrap()).unwrap();
        let descriptor = Descriptor { size_in_bytes, ..descriptor("u", NAME, Some(offset)) };
        let mut file = file.into_bytes();
        prop_assert!(parse_frame(&file, &descriptor).is_ok());
        *at.get_mut(&mut file) ^= 1 << bit;
        prop_assert!(parse_frame(&file, &descriptor).is_err());
    }
}
