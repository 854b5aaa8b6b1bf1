//! Arbitrary bytes as a descriptor and its deletion vector file: the vector read equals the one in the file.
//!
//! The first line is the descriptor as JSON; the rest is the file.

use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, VectorFile, parse_frame, unframe};
use deltaic_protocol::{Error, ErrorKind};

use super::vector_bytes::{BOUND, holds, joined};
use super::vector_naive;
use crate::untrusted::memory::bounded;

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return;
    };
    let (line, file) = bytes.split_at(end);
    let file = file.get(1..).unwrap_or_default();
    let Ok(descriptor) = serde_json::from_slice::<Descriptor>(line) else {
        return;
    };
    read(file, &descriptor);
    // Otherwise the checksum would hide all mutations from the vector's parser.
    if let Some((vector, checksum)) = frame(file, &descriptor) {
        let mut sealed = file.to_vec();
        if let Some(place) = sealed.get_mut(checksum..checksum + 4) {
            place.copy_from_slice(&crc32(vector).to_be_bytes());
            read(&sealed, &descriptor);
        }
    }
}

fn read(file: &[u8], descriptor: &Descriptor) {
    let naive = frame(file, descriptor).and_then(|(vector, checksum)| {
        let message = file.get(checksum..checksum + 4)?;
        (file.first() == Some(&1) && message == crc32(vector).to_be_bytes()).then_some(vector)
    });
    let length = file.len() + 128;
    let vector = match bounded(BOUND, length, || parse_frame(file, descriptor)) {
        Ok(vector) => vector,
        Err(error) => {
            names_the_field(&error);
            assert_eq!(naive, None, "{error:?}");
            return;
        }
    };
    assert_eq!(Some(vector), naive);
    in_part(file, descriptor, vector);
    let rows = vector_naive::ranges(vector).map(|rows| {
        let count: u64 = rows.iter().map(|run| run.end() - run.start() + 1).sum();
        (
            joined(rows.into_iter().map(|run| *run.start()..*run.end() + 1)),
            count,
        )
    });
    let rows = rows.filter(|(_, count)| u64::try_from(descriptor.cardinality) == Ok(*count));
    match (bounded(BOUND, length, || descriptor.decode(vector)), rows) {
        (Ok(bitmap), Some((rows, _))) => {
            holds(&bitmap, &rows);
            let records = rows.last().map_or(0, |last| last.end);
            assert!(descriptor.check_rows(&bitmap, records).is_ok());
            assert!(records == 0 || descriptor.check_rows(&bitmap, records - 1).is_err());
            is_written_again(&bitmap, descriptor);
        }
        (Err(error), None) => {
            assert_eq!(error.kind(), ErrorKind::CorruptData);
            names_the_field(&error);
        }
        (read, rows) => panic!("{read:?}, and naively {rows:?}"),
    }
}

/// The byte range that the descriptor gives is sufficient, and gives the same vector.
fn in_part(file: &[u8], descriptor: &Descriptor, vector: &[u8]) {
    let place = descriptor
        .bytes_in_file()
        .expect("the vector was read from these bytes");
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let part = file.get(index(place.start)..index(place.end));
    let part = part.expect("the range contains the whole frame");
    assert_eq!(unframe(part, descriptor).ok(), Some(vector));
    let cut = part.split_last().map(|(_, rest)| rest).unwrap_or_default();
    assert!(unframe(cut, descriptor).is_err());
}

/// Written twice to a new file, each is found by its own descriptor.
fn is_written_again(bitmap: &Bitmap, descriptor: &Descriptor) {
    let mut file = VectorFile::new();
    let reported = [(); 2].map(|()| file.push(bitmap).expect("the file has room"));
    let bytes = file.into_bytes();
    for (offset, size_in_bytes) in reported {
        let descriptor = Descriptor {
            offset: Some(offset),
            size_in_bytes,
            ..descriptor.clone()
        };
        let again = parse_frame(&bytes, &descriptor).and_then(|vector| descriptor.decode(vector));
        assert_eq!(again.as_ref().ok(), Some(bitmap), "{again:?}");
    }
}

/// An independent reader of a frame: returns its vector and the position of its checksum.
fn frame<'a>(file: &'a [u8], descriptor: &Descriptor) -> Option<(&'a [u8], usize)> {
    let start = usize::try_from(descriptor.offset.unwrap_or(1)).ok()?;
    let size = u32::try_from(descriptor.size_in_bytes).ok()?;
    let vector = start.checked_add(4)?;
    let checksum = vector.checked_add(usize::try_from(size).ok()?)?;
    let is_said = start > 0 && file.get(start..vector)? == size.to_be_bytes();
    Some((file.get(vector..checksum)?, checksum)).filter(|_| is_said)
}

/// CRC-32, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 }
        })
    })
}

fn names_the_field(error: &Error) {
    assert!(
        matches!(error.kind(), ErrorKind::CorruptData | ErrorKind::CorruptLog)
            && error.context().iter().any(|(key, _)| *key == "field"),
        "{error:?}"
    );
}
