//! Z85 conforms to its specification in both directions.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use crate::deletion_vector::z85;

proptest! {
    #[test]
    fn z85_is_read_as_it_was_written(bytes in vec(any::<u8>(), 0..50)) {
        let text = z85::encode(&bytes);
        prop_assert_eq!(text.len(), bytes.len().div_ceil(4) * 5);
        let mut filled = z85::decode(&text).unwrap();
        prop_assert_eq!(z85::decode_sized(&text, bytes.len()).unwrap(), &bytes[..]);
        prop_assert_eq!(z85::encode(&filled), text);
        prop_assert!(filled.drain(bytes.len()..).all(|byte| byte == 0));
        prop_assert_eq!(filled, bytes);
    }

    /// Five digits are a number in base 85; text whose number does not fit is rejected.
    #[test]
    fn z85_is_a_number_of_base_85(digits in vec(0u64..85, 5)) {
        let known = z85_digits();
        let text: String = digits.iter().map(|digit| known[*digit as usize]).collect();
        let number = digits.iter().fold(0, |number, digit| number * 85 + digit);
        match u32::try_from(number) {
            Ok(number) => prop_assert_eq!(z85::decode(&text), Ok(number.to_be_bytes().to_vec())),
            Err(_) => prop_assert!(z85::decode(&text).is_err()),
        }
    }

    #[test]
    fn any_text_makes_an_error_or_bytes(text in ".{0,40}") {
        match z85::decode(&text) {
            Ok(bytes) => prop_assert_eq!(&z85::encode(&bytes), &text),
            Err(what) => prop_assert!(!what.is_empty()),
        }
    }
}

/// The digits, grouped as in the specification.
fn z85_digits() -> Vec<char> {
    let marks = ".-:+=^!/*?&<>()[]{}@%$#";
    ('0'..='9')
        .chain('a'..='z')
        .chain('A'..='Z')
        .chain(marks.chars())
        .collect()
}

#[test]
fn the_largest_number_of_32_bits_is_the_last_that_z85_holds() {
    assert_eq!(z85::decode("%nSc0"), Ok(vec![0xff; 4]));
    let what = z85::decode("00000%nSc1").unwrap_err();
    assert!(
        what.contains("the five digits at byte 5 exceed 32 bits"),
        "{what}"
    );
    assert!(
        z85::decode("000000~000")
            .unwrap_err()
            .contains("no Z85 digit at byte 6")
    );
}
