//! Encoding and decoding of deletion vectors.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config;
use roaring::RoaringTreemap;

use super::naive;
use super::written_containers::{
    Form, Vector, WrittenContainer, bytes_of, change, change_bytes, positions_of, vector, written,
};
use crate::ErrorKind;
use crate::deletion_vector::Bitmap;

fn what(bytes: &[u8]) -> String {
    let error = Bitmap::decode(bytes).expect_err("the bytes are damaged");
    assert_eq!(error.kind(), ErrorKind::CorruptData);
    error.what().to_owned()
}

/// The positions according to the reference implementation.
fn naively(bytes: &[u8]) -> Option<Vec<u64>> {
    Some(naive::ranges(bytes)?.into_iter().flatten().collect())
}

/// A deletion vector with one container.
fn with(container: WrittenContainer) -> Vec<u8> {
    bytes_of(&Vector::from([(0, [(0, container)].into())]), Form::Portable)
}

proptest! {
    #![proptest_config(Config::with_cases(300))]

    /// Every mix of containers in every format decodes to the positions it was made from.
    #[test]
    fn is_read_as_it_was_made((made, bytes) in written()) {
        let positions = positions_of(&made);
        let bitmap = Bitmap::decode(&bytes).unwrap();
        prop_assert_eq!(bitmap.len(), positions.len() as u64);
        prop_assert_eq!(bitmap.is_empty(), positions.is_empty());
        prop_assert_eq!((bitmap.min(), bitmap.max()), (positions.first().copied(), positions.last().copied()));
        prop_assert!(bitmap.iter().eq(positions.iter().copied()));
        prop_assert_eq!(naively(&bytes), Some(positions));
    }

    /// An encoded set decodes to the same set with this crate, with the reference implementation and with
    /// the library that other readers use.
    #[test]
    fn is_written_as_it_was_read((made, bytes) in written()) {
        let bitmap = Bitmap::decode(&bytes).unwrap();
        let again = bitmap.encode().unwrap();
        prop_assert_eq!(&again.get(..4), &Some(&[0xd1, 0xd3, 0x39, 0x64][..]));
        prop_assert!(again.len() <= bytes_of(&made, Form::Portable).len());
        let positions = positions_of(&made);
        let others = RoaringTreemap::deserialize_from(&again[4..]).unwrap();
        prop_assert!(others.iter().eq(positions.iter().copied()));
        prop_assert_eq!(naively(&again), Some(positions));
        prop_assert_eq!(&Bitmap::decode(&again).unwrap(), &bitmap);
        prop_assert_eq!(Bitmap::decode(&again).unwrap().encode().unwrap(), again);
    }

    #[test]
    fn is_a_set(
        left in vec(0u64..300, 0..80), right in vec(0u64..300, 0..80), far in any::<u32>(), probe in 0u64..310,
    ) {
        let base = u64::from(far) << 14;
        let set = |positions: &[u64]| positions.iter().map(|at| base + at).collect::<BTreeSet<_>>();
        let of = |set: &BTreeSet<u64>| Bitmap::from_positions(set.iter().copied()).unwrap();
        let (left, right) = (set(&left), set(&right));
        let bitmap = of(&left);
        prop_assert!(bitmap.iter().eq(left.iter().copied()));
        prop_assert_eq!(bitmap.contains(base + probe), left.contains(&(base + probe)));
        prop_assert_eq!(bitmap.count_below(base + probe), left.range(..base + probe).count() as u64);
        prop_assert_eq!(bitmap.union(&of(&right)), of(&left.union(&right).copied().collect()));
        prop_assert_eq!(bitmap.difference(&of(&right)), of(&left.difference(&right).copied().collect()));
        prop_assert!(bitmap.difference(&bitmap).is_empty());
        prop_assert_eq!(bitmap.intersection(&of(&right)), of(&left.intersection(&right).copied().collect()));
        prop_assert_eq!(bitmap.is_subset(&of(&right)), left.is_subset(&right));
        prop_assert!(bitmap.intersection(&of(&right)).is_subset(&bitmap));
    }

    #[test]
    fn sets_of_all_forms_are_joined_and_taken_away(left in vector(), right in vector()) {
        let decoded = |made: &Vector| Bitmap::decode(&bytes_of(made, Form::Portable)).unwrap();
        let (one, other) = (decoded(&left), decoded(&right));
        let (left, right): (BTreeSet<_>, BTreeSet<_>) = (
            positions_of(&left).into_iter().collect(),
            positions_of(&right).into_iter().collect(),
        );
        prop_assert!(one.union(&other).iter().eq(left.union(&right).copied()));
        prop_assert!(one.difference(&other).iter().eq(left.difference(&right).copied()));
        prop_assert_eq!(one.difference(&other).union(&other), one.union(&other));
        prop_assert!(one.intersection(&other).iter().eq(left.intersection(&right).copied()));
        prop_assert_eq!(one.is_subset(&other), left.is_subset(&right));
    }
}

proptest! {
    #![proptest_config(Config::with_cases(1500))]

    /// Damaged bytes are rejected, or they decode to the same set with the reference implementation.
    #[test]
    fn two_readings_agree_on_damaged_bytes((_, mut bytes) in written(), changes in vec(change(), 1..4)) {
        for change in &changes {
            change_bytes(&mut bytes, change);
        }
        let read = Bitmap::decode(&bytes);
        let naive = naively(&bytes);
        match (read, naive) {
            (Ok(bitmap), Some(positions)) => prop_assert!(bitmap.iter().eq(positions)),
            (Err(error), None) => prop_assert_eq!(error.kind(), ErrorKind::CorruptData),
            (read, naive) => prop_assert!(false, "{read:?} and {:?}", naive.map(|positions| positions.len())),
        }
    }

    #[test]
    fn two_readings_agree_on_any_bytes(bytes in vec(any::<u8>(), 0..60)) {
        for magic in [&b"\xd1\xd3\x39\x64\x01\0\0\0\0\0\0\0\0\0\0\0\x3b\x30"[..], b"\xd0\xd3\x39\x64\x01\0\0\0", b""] {
            let bytes = [magic, &bytes].concat();
            let read = Bitmap::decode(&bytes).ok().map(|bitmap| bitmap.iter().collect::<Vec<_>>());
            prop_assert_eq!(read, naively(&bytes));
        }
    }
}

/// The most significant bit of the key of a bucket is 0.
///
/// protocol: deletion-vector-format.1
#[test]
fn a_key_with_its_most_significant_bit_is_refused() {
    let of = |key| {
        bytes_of(
            &Vector::from([(key, [(0, WrittenContainer::Array(vec![5]))].into())]),
            Form::Portable,
        )
    };
    let last = Bitmap::decode(&of(i32::MAX as u32)).unwrap();
    assert_eq!(last.max(), Some((i32::MAX as u64) << 32 | 5));
    assert!(what(&of(1 << 31)).contains("2147483648, has its most significant bit set"));
    assert!(what(&of(u32::MAX)).contains("most significant bit"));
    // Such a key is also never written.
    assert!(Bitmap::from_positions([u64::MAX >> 1]).is_ok());
    let error = Bitmap::from_positions([1 << 63]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn an_empty_vector_is_a_vector() {
    let bytes = b"\xd1\xd3\x39\x64\0\0\0\0\0\0\0\0";
    assert_eq!(Bitmap::decode(bytes).unwrap(), Bitmap::default());
    assert_eq!(Bitmap::default().encode().unwrap(), bytes);
    // An empty bucket makes no difference.
    let bytes = bytes_of(&Vector::from([(3, [].into())]), Form::Portable);
    assert_eq!(Bitmap::decode(&bytes).unwrap(), Bitmap::default());
}

/// No memory is allocated for declared sizes that exceed the bytes: each of these would need more than
/// the available memory.
#[test]
fn a_count_without_bytes_is_refused() {
    let claim = |parts: &[&[u8]]| what(&parts.concat());
    let portable = &b"\xd1\xd3\x39\x64"[..];
    for count in [1u64 << 32, u64::MAX, 1 << 40, 2] {
        let what = claim(&[portable, &count.to_le_bytes(), &[0; 8]]);
        assert!(
            what.contains(&format!("{count} buckets, but has bytes for at most 0")),
            "{what}"
        );
    }
    let what = claim(&[b"\xd0\xd3\x39\x64", &[0xff; 4], &[0; 12]]);
    assert!(what.contains("4294967295 buckets"), "{what}");
    let what = claim(&[b"\x64\x39\xd3\xd0", &[0x7f, 0xff, 0xff, 0xff], &[0; 12]]);
    assert!(what.contains("2147483647 buckets"), "{what}");
    let one = &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..];
    let what = claim(&[portable, one, &12346u32.to_le_bytes(), &[0xff; 4]]);
    assert!(
        what.contains("4294967295 containers; at most 65536 are possible"),
        "{what}"
    );
    let what = claim(&[portable, one, &12346u32.to_le_bytes(), &65536u32.to_le_bytes()]);
    assert!(what.contains("ends too early"), "{what}");
    let what = claim(&[portable, one, &0xffff_303bu32.to_le_bytes(), &[0; 20]]);
    assert!(what.contains("ends too early"), "{what}");
}

/// Valid bytes under any other magic number belong to another format, such as a future one.
///
/// protocol: deletion-vector-format.2
#[test]
fn another_magic_number_is_refused() {
    let bytes = with(WrittenContainer::Array(vec![1]));
    assert!(Bitmap::decode(&bytes).is_ok());
    const PORTABLE: u32 = 1_681_511_377;
    for magic in [PORTABLE - 2, PORTABLE + 1, PORTABLE.reverse_bits(), 0, u32::MAX] {
        let other = [&magic.to_le_bytes(), bytes.get(4..).unwrap()].concat();
        let refused = what(&other);
        assert!(
            refused.contains(&format!("unknown magic number {magic}")),
            "{refused}"
        );
    }
}

#[test]
fn contradictory_configurations_are_refused() {
    assert!(what(b"").contains("the magic number takes 4 bytes, and 0 are left"));
    assert!(what(b"\x64\x39\xd3\xd1\0\0\0\0\0\0\0\0").contains("unknown magic number"));
    assert!(what(b"\xd2\xd3\x39\x64\0\0\0\0\0\0\0\0").contains("unknown magic number 1681511378"));
    assert!(what(b"\xd1\xd3\x39\x64\0\0\0\0\0\0\0\0\0").contains("1 bytes follow its last bucket"));

    let twice = [
        with(WrittenContainer::Array(vec![1])),
        with(WrittenContainer::Array(vec![2]))[12..].to_vec(),
    ]
    .concat();
    let twice = [&twice[..4], &[2], &twice[5..]].concat();
    assert!(what(&twice).contains("keys of buckets do not ascend"));

    assert!(what(&with(WrittenContainer::Array(vec![2, 1]))).contains("values of a container do not ascend"));
    assert!(what(&with(WrittenContainer::Array(vec![2, 2]))).contains("values of a container do not ascend"));
    assert!(what(&with(WrittenContainer::Runs(vec![(5, 9), (9, 12)]))).contains("overlap or do not ascend"));
    assert!(what(&with(WrittenContainer::Runs(vec![(50, 90), (1, 2)]))).contains("overlap or do not ascend"));
    let mut beyond = with(WrittenContainer::Runs(vec![(65530, 65535)]));
    let end = beyond.len() - 2;
    beyond[end] = 9;
    assert!(what(&beyond).contains("a run reaches beyond its container"));

    // The keys: magic 4, count 8, key 4, cookie 4, count 4; then a key and a cardinality of 2 bytes each, and an offset.
    let mut other_count = with(WrittenContainer::Bitset((0..5000).collect()));
    other_count[26] ^= 1;
    assert!(what(&other_count).contains("claims 4999 values, but has 5000"));
    let mut other_start = with(WrittenContainer::Array(vec![1, 2]));
    other_start[28] += 1;
    assert!(
        what(&other_start).contains("claims to start at byte 17, but starts at 16"),
        "{}",
        what(&other_start)
    );

    let mut other_size = bytes_of(
        &Vector::from([(0, [(0, WrittenContainer::Array(vec![1]))].into())]),
        Form::Native,
    );
    other_size.push(0);
    other_size[8] += 1;
    assert!(what(&other_size).contains("but 1 of them are not part of it"));
}
