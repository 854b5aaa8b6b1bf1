//! Digests and hashes, as Spark computes them.

use std::fmt::Write;

use arrow_array::{Int32Array, Int64Array};
use md5::Md5;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use twox_hash::XxHash64;

use super::Computed;
use super::values::{Values, by_row, primitive};
use crate::expr::Scalar;
use crate::expr::failure::Failure;
use crate::expr::function::Function;

const SEED: u32 = 42;

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(super) fn md5(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

/// `None` for a length that SHA-2 does not have.
pub(super) fn sha2(bytes: &[u8], bits: i64) -> Option<String> {
    Some(match bits {
        224 => hex(&Sha224::digest(bytes)),
        0 | 256 => hex(&Sha256::digest(bytes)),
        384 => hex(&Sha384::digest(bytes)),
        512 => hex(&Sha512::digest(bytes)),
        _ => return None,
    })
}

/// HASH and XXHASH64: the hash of each value is the seed of the next; NULL does not change it.
pub(super) fn hash(
    function: Function,
    values: &[Values],
    arguments: &[Computed],
    rows: usize,
) -> Result<Values, Failure> {
    let types = arguments.iter().map(|argument| primitive(&argument.data_type));
    let types = types.collect::<Result<Vec<_>, _>>()?;
    let all: Vec<&Values> = values.iter().collect();
    let of_row = |row: usize, seed: u64, hash: fn(&Scalar, u64) -> u64| {
        let scalars = values
            .iter()
            .zip(&types)
            .map(|(values, data_type)| values.scalar(row, *data_type));
        scalars.flatten().fold(seed, |seed, value| hash(&value, seed))
    };
    #[expect(clippy::cast_possible_truncation, reason = "a hash of 32 bits")]
    let murmur = |row| (of_row(row, u64::from(SEED), murmur_hash) as u32).cast_signed();
    match function {
        Function::Hash => by_row::<_, Int32Array>(&all, rows, |row| Ok(Some(murmur(row)))),
        _ => by_row::<_, Int64Array>(&all, rows, |row| {
            Ok(Some(of_row(row, u64::from(SEED), xx_hash).cast_signed()))
        }),
    }
}

/// The bytes of a value that are hashed.
fn bytes_of(value: &Scalar) -> Vec<u8> {
    let double = |value: f64| if value.is_nan() { f64::NAN } else { value + 0.0 };
    let float = |value: f32| if value.is_nan() { f32::NAN } else { value + 0.0 };
    match value {
        Scalar::Boolean(value) => i32::from(*value).to_le_bytes().to_vec(),
        Scalar::Byte(value) => i32::from(*value).to_le_bytes().to_vec(),
        Scalar::Short(value) => i32::from(*value).to_le_bytes().to_vec(),
        Scalar::Integer(value) | Scalar::Date(value) => value.to_le_bytes().to_vec(),
        Scalar::Long(value) | Scalar::Timestamp(value) | Scalar::TimestampNtz(value) => {
            value.to_le_bytes().to_vec()
        }
        Scalar::Float(value) => float(*value).to_bits().to_le_bytes().to_vec(),
        Scalar::Double(value) => double(*value).to_bits().to_le_bytes().to_vec(),
        #[expect(clippy::cast_possible_truncation, reason = "18 digits fit into 64 bits")]
        Scalar::Decimal {
            unscaled, precision, ..
        } if *precision <= 18 => (*unscaled as i64).to_le_bytes().to_vec(),
        Scalar::Decimal { unscaled, .. } => of_big_integer(*unscaled),
        Scalar::String(text) => text.as_bytes().to_vec(),
        Scalar::Binary(bytes) => bytes.clone(),
    }
}

/// The bytes of Java's BigInteger: big-endian, as few as represent the sign.
fn of_big_integer(value: i128) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let sign = if value < 0 { 0xff } else { 0 };
    let mut start = 0;
    while let (Some(first), Some(next)) = (bytes.get(start), bytes.get(start + 1)) {
        if *first != sign || (*next ^ sign) & 0x80 != 0 {
            break;
        }
        start += 1;
    }
    bytes.get(start..).unwrap_or_default().to_vec()
}

fn xx_hash(value: &Scalar, seed: u64) -> u64 {
    XxHash64::oneshot(seed, &bytes_of(value))
}

/// MurmurHash3 of 32 bits, except that Spark mixes each byte after the last complete word as a word of its own.
#[expect(clippy::cast_possible_truncation, reason = "words of 32 bits")]
fn murmur_hash(value: &Scalar, seed: u64) -> u64 {
    let bytes = bytes_of(value);
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = seed as u32;
    let mut mix = |word: u32| {
        let word = word
            .wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593);
        hash = (hash ^ word)
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    };
    words.iter().for_each(|word| mix(u32::from_le_bytes(*word)));
    rest.iter()
        .for_each(|byte| mix(i32::from(byte.cast_signed()).cast_unsigned()));
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    u64::from(hash ^ (hash >> 16))
}
