//! Where the file of a deletion vector is.
//!
//! Protocol: *Deletion Vector Descriptor Schema*, *Derived Fields*.

use deltaic_protocol::deletion_vector::Descriptor;

/// The digits of Z85 in their order.
const DIGITS: &[u8; 85] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// How many characters the name of a file takes.
const NAME_DIGITS: usize = 20;

/// The path of a vector's file as the log would have it; none where the vector is in the log itself, or its text makes
/// no sense.
pub(super) fn path_in_log(vector: &Descriptor) -> Option<String> {
    let text = vector.path_or_inline_dv.as_str();
    match vector.storage_type.as_str() {
        "p" => Some(text.to_owned()),
        "u" => {
            let at = text.len().checked_sub(NAME_DIGITS)?;
            let (folder, name) = (text.get(..at)?, text.get(at..)?);
            let id = uuid_of(name.as_bytes())?;
            let folder = if folder.is_empty() {
                String::new()
            } else {
                format!("{folder}/")
            };
            Some(format!("{folder}deletion_vector_{id}.bin"))
        }
        _ => None,
    }
}

fn uuid_of(name: &[u8]) -> Option<String> {
    let mut hex = String::with_capacity(32);
    for digits in name.chunks(5) {
        let mut word = 0u32;
        for digit in digits {
            let value = DIGITS.iter().position(|known| known == digit)?;
            word = word.checked_mul(85)?.checked_add(u32::try_from(value).ok()?)?;
        }
        hex.push_str(&format!("{word:08x}"));
    }
    let part = |from: usize, to: usize| hex.get(from..to);
    Some(format!(
        "{}-{}-{}-{}-{}",
        part(0, 8)?,
        part(8, 12)?,
        part(12, 16)?,
        part(16, 20)?,
        part(20, 32)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(storage_type: &str, text: &str) -> Option<String> {
        path_in_log(&Descriptor {
            storage_type: storage_type.to_owned(),
            path_or_inline_dv: text.to_owned(),
            offset: Some(1),
            size_in_bytes: 1,
            cardinality: 1,
        })
    }

    /// The protocol's own example.
    #[test]
    fn the_name_is_a_uuid_behind_a_folder() {
        let file = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";
        assert_eq!(path("u", "ab^-aqEH.-t@S}K{vb[*k^"), Some(format!("ab/{file}")));
        assert_eq!(path("u", "^-aqEH.-t@S}K{vb[*k^"), Some(file.to_owned()));
        assert_eq!(path("p", "file:///t/x.bin"), Some("file:///t/x.bin".to_owned()));
        assert_eq!(
            path("i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"),
            None
        );
        assert_eq!(path("u", "short"), None);
        assert_eq!(path("u", "###################\u{fc}"), None);
        assert_eq!(path("u", &"#".repeat(20)), None);
    }
}
