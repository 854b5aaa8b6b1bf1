//! Deletion vectors built byte by byte, with every kind of container, and the positions that they
//! contain.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;

/// A container in the form in which it is written.
#[derive(Clone, Debug)]
pub(super) enum WrittenContainer {
    Array(Vec<u16>),
    Bitset(Vec<u16>),
    /// The first and the last value of each run.
    Runs(Vec<(u16, u16)>),
}

impl WrittenContainer {
    fn values(&self) -> Vec<u16> {
        match self {
            Self::Array(values) | Self::Bitset(values) => values.clone(),
            Self::Runs(runs) => runs.iter().flat_map(|(first, last)| *first..=*last).collect(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Array(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Bitset(values) => {
                let mut bytes = vec![0; 8192];
                for value in values {
                    bytes[usize::from(*value) / 8] |= 1 << (value % 8);
                }
                bytes
            }
            Self::Runs(runs) => {
                let mut bytes = (runs.len() as u16).to_le_bytes().to_vec();
                for (first, last) in runs {
                    bytes.extend(first.to_le_bytes());
                    bytes.extend((last - first).to_le_bytes());
                }
                bytes
            }
        }
    }
}

/// The containers of a bucket by their keys.
pub(super) type Bucket = BTreeMap<u16, WrittenContainer>;

/// The buckets of a deletion vector by their keys.
pub(super) type Vector = BTreeMap<u32, Bucket>;

/// The format of a deletion vector.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Portable,
    Native,
    NativeBigEndian,
}

pub(super) fn positions_of(vector: &Vector) -> Vec<u64> {
    let mut positions = Vec::new();
    for (upper, bucket) in vector {
        for (key, container) in bucket {
            let base = u64::from(*upper) << 32 | u64::from(*key) << 16;
            positions.extend(
                container
                    .values()
                    .into_iter()
                    .map(|value| base | u64::from(value)),
            );
        }
    }
    positions
}

fn bytes_of_bucket(bucket: &Bucket) -> Vec<u8> {
    let count = bucket.len();
    let has_runs = bucket
        .values()
        .any(|container| matches!(container, WrittenContainer::Runs(_)));
    let mut bytes = Vec::new();
    if has_runs {
        bytes.extend((12347 + ((count as u32 - 1) << 16)).to_le_bytes());
        let mut flags = vec![0; count.div_ceil(8)];
        for (index, container) in bucket.values().enumerate() {
            flags[index / 8] |= u8::from(matches!(container, WrittenContainer::Runs(_))) << (index % 8);
        }
        bytes.extend(flags);
    } else {
        bytes.extend(12346u32.to_le_bytes());
        bytes.extend((count as u32).to_le_bytes());
    }
    for (key, container) in bucket {
        bytes.extend(key.to_le_bytes());
        bytes.extend(((container.values().len() - 1) as u16).to_le_bytes());
    }
    let bodies: Vec<_> = bucket.values().map(WrittenContainer::bytes).collect();
    if !has_runs || count >= 4 {
        let mut start = bytes.len() + 4 * count;
        for body in &bodies {
            bytes.extend((start as u32).to_le_bytes());
            start += body.len();
        }
    }
    bytes.extend(bodies.concat());
    bytes
}

/// The bytes of a deletion vector. The native format contains all buckets up to the last, so its keys
/// must be small.
pub(super) fn bytes_of(vector: &Vector, form: Form) -> Vec<u8> {
    let number = |number: u32| match form {
        Form::NativeBigEndian => number.to_be_bytes(),
        _ => number.to_le_bytes(),
    };
    let mut bytes = Vec::new();
    if let Form::Portable = form {
        bytes.extend(1_681_511_377u32.to_le_bytes());
        bytes.extend((vector.len() as u64).to_le_bytes());
        for (key, bucket) in vector {
            bytes.extend(key.to_le_bytes());
            bytes.extend(bytes_of_bucket(bucket));
        }
    } else {
        let count = vector.keys().next_back().map_or(0, |last| last + 1);
        bytes.extend(number(1_681_511_376));
        bytes.extend(number(count));
        for key in 0..count {
            let bucket = bytes_of_bucket(vector.get(&key).unwrap_or(&Bucket::new()));
            bytes.extend(number(bucket.len() as u32));
            bytes.extend(bucket);
        }
    }
    bytes
}

fn container() -> impl Strategy<Value = WrittenContainer> {
    let every = |step: usize, from: u16| (from..=u16::MAX).step_by(step).collect::<Vec<_>>();
    let array = btree_set(any::<u16>(), 1..40)
        .prop_map(|values| WrittenContainer::Array(values.into_iter().collect()));
    let largest_array = (16usize..400).prop_map(move |step| {
        let mut values = every(step, 0);
        values.truncate(4096);
        WrittenContainer::Array(values)
    });
    let bitset =
        (1usize..15, 0u16..64).prop_map(move |(step, from)| WrittenContainer::Bitset(every(step, from)));
    // A gap of 0 makes adjacent runs.
    let runs = vec((0u16..300, 0u16..300), 1..60).prop_map(|runs| {
        let mut free = 0;
        let with_places = runs.into_iter().map(|(gap, more)| {
            let first = free + gap;
            free = first + more + 1;
            (first, first + more)
        });
        WrittenContainer::Runs(with_places.collect())
    });
    let last_run = any::<u16>().prop_map(|first| WrittenContainer::Runs(vec![(first, u16::MAX)]));
    let full = prop_oneof![
        Just(WrittenContainer::Bitset((0..=u16::MAX).collect())),
        Just(WrittenContainer::Runs(vec![(0, u16::MAX)]))
    ];
    prop_oneof![4 => array, 1 => largest_array, 2 => bitset, 4 => runs, 1 => last_run, 1 => full]
}

fn bucket() -> impl Strategy<Value = Bucket> {
    let key = prop_oneof![0u16..4, Just(u16::MAX), any::<u16>()];
    prop_oneof![1 => Just(Bucket::new()), 6 => btree_map(key, container(), 0..7)]
}

/// Deletion vectors with few buckets and any valid keys.
pub(super) fn vector() -> impl Strategy<Value = Vector> {
    let key =
        prop_oneof![3 => Just(0), 1 => 0u32..4, 1 => select(vec![7, i32::MAX as u32 - 1, i32::MAX as u32])];
    btree_map(key, bucket(), 0..4)
}

/// A deletion vector with a format that can represent it, and its bytes.
pub(super) fn written() -> impl Strategy<Value = (Vector, Vec<u8>)> {
    (
        vector(),
        select(vec![
            Form::Portable,
            Form::Portable,
            Form::Native,
            Form::NativeBigEndian,
        ]),
    )
        .prop_map(|(mut vector, form)| {
            if !matches!(form, Form::Portable) {
                vector.retain(|key, _| *key < 10);
            }
            let bytes = bytes_of(&vector, form);
            (vector, bytes)
        })
}

/// A change of bytes; positions are fractions of the length, since the first bytes matter most.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Flip(usize, u8),
    Put(usize, Vec<u8>),
    Cut(usize),
    Add(Vec<u8>),
    Take(usize, usize),
    Double(usize, usize),
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let place = || prop_oneof![3 => 0usize..64, 1 => any::<usize>()];
    let odd = select(vec![
        vec![0u8; 2],
        vec![0xff; 2],
        vec![0xff; 4],
        vec![0, 0, 0, 0x80],
        vec![0xff, 0xff, 0xff, 0x7f],
        vec![1, 0],
        vec![0x3a, 0x30, 0, 0],
        vec![0x3b, 0x30, 0, 0],
        vec![0x3b, 0x30, 0xff, 0xff],
    ]);
    prop_oneof![
        (place(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, 1 << bit)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Change::Flip(at, byte)),
        (place(), odd).prop_map(|(at, bytes)| Change::Put(at, bytes)),
        place().prop_map(Change::Cut),
        vec(any::<u8>(), 1..9).prop_map(Change::Add),
        (place(), 1usize..9).prop_map(|(at, count)| Change::Take(at, count)),
        (place(), 1usize..9).prop_map(|(at, count)| Change::Double(at, count)),
    ]
}

pub(super) fn change_bytes(bytes: &mut Vec<u8>, change: &Change) {
    let length = bytes.len();
    let within = |at: usize| at % (length + 1);
    match change {
        Change::Flip(at, bits) => {
            if let Some(byte) = bytes.get_mut(within(*at)) {
                *byte ^= bits;
            }
        }
        Change::Put(at, with) => {
            for (to, from) in bytes.iter_mut().skip(within(*at)).zip(with) {
                *to = *from;
            }
        }
        Change::Cut(at) => bytes.truncate(within(*at)),
        Change::Add(more) => bytes.extend(more),
        Change::Take(at, count) => {
            let start = within(*at);
            bytes.drain(start..length.min(start + count));
        }
        Change::Double(at, count) => {
            let start = within(*at);
            let again = bytes[start..length.min(start + count)].to_vec();
            bytes.splice(start..start, again);
        }
    }
}
