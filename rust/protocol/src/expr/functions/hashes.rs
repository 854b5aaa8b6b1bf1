//! Digests and hashes, as Spark computes them.

use std::fmt::Write;

use arrow_array::{Int32Array, Int64Array};
use md5::Md5;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use twox_hash::XxHash64;

use super::call::Call;
use super::function::{Function, Laziness, MANY, values};
use super::signature::{Arguments, Signature, Types};
use crate::Result;
use crate::expr::Scalar;
use crate::expr::failure::Failure;
use crate::expr::kernels::Values;
use crate::schema::PrimitiveType::{self, Binary, Integer, Long, String as Text};

use Laziness::{Eager, UntilNull};
use Signature::{Fixed, Of};

#[rustfmt::skip] // a table: a row each
pub(super) static FUNCTIONS: &[Function] = &[
    values(&[("hash", 1, MANY)], Of(|call| types_of_hash(call, Integer)), Eager, murmur),
    values(&[("md5", 1, 1)], Fixed(&[Binary], Text), UntilNull, |call| {
        let [bytes] = call.arguments()?;
        call.texts(|row| Ok(bytes.bytes(row).map(md5)))
    }),
    values(&[("sha2", 2, 2)], Fixed(&[Binary, Integer], Text), UntilNull, |call| {
        let [bytes, bits] = call.arguments()?;
        call.texts(|row| {
            let pair = bytes.bytes(row).zip(bits.int(row));
            Ok(pair.and_then(|(bytes, bits)| sha2(bytes, bits)))
        })
    }),
    values(&[("xxhash64", 1, MANY)], Of(|call| types_of_hash(call, Long)), Eager, xx),
];

const SEED: u64 = 42;

/// All primitive values are hashed in their own types.
fn types_of_hash(call: &Arguments<'_>, result: PrimitiveType) -> Result<Types> {
    let mut types = Vec::with_capacity(call.parts.len());
    for part in &call.parts {
        let Some(own) = part.data_type.as_primitive() else {
            let message = format!("{} of the type {} is not implemented", call.name, part.data_type);
            return call.unsupported(part.at, message, "");
        };
        types.push(own);
    }
    Ok(Types::new(types, result))
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn md5(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

/// `None` for a length that SHA-2 does not have.
fn sha2(bytes: &[u8], bits: i64) -> Option<String> {
    Some(match bits {
        224 => hex(&Sha224::digest(bytes)),
        0 | 256 => hex(&Sha256::digest(bytes)),
        384 => hex(&Sha384::digest(bytes)),
        512 => hex(&Sha512::digest(bytes)),
        _ => return None,
    })
}

fn murmur(call: &Call<'_>) -> std::result::Result<Values, Failure> {
    let hash = hash_of_row(call, murmur_hash)?;
    #[expect(clippy::cast_possible_truncation, reason = "a hash of 32 bits")]
    let hash = |row| (hash(row) as u32).cast_signed();
    call.by_row::<_, Int32Array>(|row| Ok(Some(hash(row))))
}

fn xx(call: &Call<'_>) -> std::result::Result<Values, Failure> {
    let hash = hash_of_row(call, xx_hash)?;
    call.by_row::<_, Int64Array>(|row| Ok(Some(hash(row).cast_signed())))
}

/// The hash of each value is the seed of the next; NULL does not change it.
fn hash_of_row<'c>(
    call: &'c Call<'_>,
    hash: fn(&Scalar, u64) -> u64,
) -> std::result::Result<impl Fn(usize) -> u64 + 'c, Failure> {
    let types = (0..call.values.len()).map(|index| call.type_of(index));
    let types = types.collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(move |row| {
        let typed = call.values.iter().zip(&types);
        let scalars = typed.filter_map(|(values, data_type)| values.scalar(row, *data_type));
        scalars.fold(SEED, |seed, value| hash(&value, seed))
    })
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
