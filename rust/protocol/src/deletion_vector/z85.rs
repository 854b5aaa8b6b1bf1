//! Z85: encodes four bytes as five characters that need no escapes in JSON.
//!
//! Protocol: *Deletion Vector Descriptor Schema* ("the concrete Base85 variant used is Z85"). Z85 itself
//! is ZeroMQ's 32/Z85: a group of five digits is one big-endian 32-bit number. It has no padding: if the
//! length of a deletion vector is not a multiple of four, zeros are appended, and `sizeInBytes` is the
//! actual length.

/// The digits in the order of their values.
const DIGITS: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// The value of a byte that is not a digit.
const NO_DIGIT: u8 = u8::MAX;

/// The value of each byte as a digit.
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < DIGITS.len() {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// Encodes bytes, padded with zeros to a multiple of four.
///
/// ```
/// use deltaic_protocol::deletion_vector::z85;
/// assert_eq!(z85::encode(&[0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]), "HelloWorld");
/// assert_eq!(z85::encode(&[0, 0, 1]), z85::encode(&[0, 0, 1, 0]));
/// ```
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(4) * 5);
    for group in bytes.chunks(4) {
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(group) {
            *to = *from;
        }
        let word = u32::from_be_bytes(word);
        for power in [85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1] {
            let digit = DIGITS.get((word / power % 85) as usize);
            text.extend(digit.map(|digit| char::from(*digit)));
        }
    }
    text
}

/// Decodes a text, including padding; the error is a message about the text.
///
/// ```
/// use deltaic_protocol::deletion_vector::z85;
/// assert_eq!(z85::decode("HelloWorld"), Ok(vec![0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]));
/// assert!(z85::decode("Hello world").is_err());
/// assert!(z85::decode("#####").is_err(), "it exceeds 32 bits");
/// ```
pub fn decode(text: &str) -> Result<Vec<u8>, String> {
    let (groups, rest) = text.as_bytes().as_chunks::<5>();
    if !rest.is_empty() {
        return Err(format!(
            "the length of a Z85 string must be a multiple of 5, but this one has {} bytes",
            text.len()
        ));
    }
    let mut bytes = Vec::with_capacity(groups.len() * 4);
    for (index, group) in groups.iter().enumerate() {
        let mut word = 0u64;
        for digit in group {
            let value = VALUES.get(usize::from(*digit)).copied().unwrap_or(NO_DIGIT);
            if value == NO_DIGIT {
                return Err(format!(
                    "its Z85 text has no Z85 digit at byte {}",
                    first_wrong(text)
                ));
            }
            word = word * 85 + u64::from(value);
        }
        let word = u32::try_from(word).map_err(|_| {
            let at = index * 5;
            format!("its Z85 text is invalid: the five digits at byte {at} exceed 32 bits")
        })?;
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    Ok(bytes)
}

/// Decodes the first `size` bytes of a text whose length is `size`, padded to a multiple of four.
///
/// ```
/// use deltaic_protocol::deletion_vector::z85;
/// assert_eq!(z85::decode_sized(&z85::encode(&[1, 2, 3]), 3), Ok(vec![1, 2, 3]));
/// assert!(z85::decode_sized(&z85::encode(&[1, 2, 3]), 5).is_err());
/// assert!(z85::decode_sized("0000000000", 3).is_err());
/// ```
pub fn decode_sized(text: &str, size: usize) -> Result<Vec<u8>, String> {
    let mut bytes = decode(text)?;
    if size.div_ceil(4) != bytes.len() / 4 {
        return Err(format!("its Z85 text contains {} bytes, not {size}", bytes.len()));
    }
    bytes.truncate(size);
    Ok(bytes)
}

/// The position of the first byte that is not a digit.
fn first_wrong(text: &str) -> usize {
    let wrong = |byte: &u8| !DIGITS.contains(byte);
    text.as_bytes().iter().position(wrong).unwrap_or_default()
}
