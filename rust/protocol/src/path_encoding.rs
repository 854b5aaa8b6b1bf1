//! The URI form of the paths in the log.
//!
//! Protocol: *Add File and Remove File*.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::{Error, ErrorKind, Result};

/// Characters that are escaped in the URI form of a path: all except letters, digits and the marks that
/// RFC 2396 allows in a path.
const URI_ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'(')
    .remove(b')')
    .remove(b'=')
    .remove(b'+')
    .remove(b'@')
    .remove(b'&')
    .remove(b'$')
    .remove(b',');

/// Encodes a stored path for `add.path`.
///
/// Protocol: *Add File and Remove File*.
#[must_use]
pub fn encode_path(path: &str) -> String {
    utf8_percent_encode(path, URI_ESCAPED).to_string()
}

/// Characters that are escaped in the path of an absolute URI.
const ABSOLUTE_ESCAPED: &AsciiSet = &URI_ESCAPED.remove(b'\'').remove(b':').remove(b';');

/// Encodes a stored path for an absolute URI in `add.path`, in the spelling of `java.net.URI`: characters that are not
/// ASCII are retained, except for spaces and control characters. Spark compares such paths as texts.
///
/// Protocol: *Add File and Remove File*.
///
/// ```
/// use deltaic_protocol::path_encoding::encode_absolute_path;
/// assert_eq!(encode_absolute_path("data/süd 1%/it's:x"), "data/süd%201%25/it's:x");
/// assert_eq!(encode_absolute_path("a\u{a0}b"), "a%C2%A0b");
/// ```
#[must_use]
pub fn encode_absolute_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for sign in path.chars() {
        if sign.is_ascii() || sign.is_whitespace() || sign.is_control() {
            let mut bytes = [0; 4];
            encoded.extend(utf8_percent_encode(
                sign.encode_utf8(&mut bytes),
                ABSOLUTE_ESCAPED,
            ));
        } else {
            encoded.push(sign);
        }
    }
    encoded
}

/// Decodes `add.path` once, to a stored path.
///
/// ```
/// use deltaic_protocol::path_encoding::{decode_path, encode_path};
/// assert_eq!(decode_path("s=a%252Fb/x%20y.parquet")?, "s=a%2Fb/x y.parquet");
/// assert_eq!(encode_path("s=a%2Fb/x y.parquet"), "s=a%252Fb/x%20y.parquet");
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn decode_path(path: &str) -> Result<String> {
    percent_decode_str(path)
        .decode_utf8()
        .map(|decoded| decoded.into_owned())
        .map_err(|_| {
            // The query may be a signature, so it is not displayed.
            let shown = path.split(['?', '#']).next().unwrap_or(path);
            Error::new(
                ErrorKind::CorruptLog,
                "a path is not UTF-8 once it is percent-decoded",
            )
            .with("path", shown)
            .hint("restore the commit that names the path from a backup of the table")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_path_survives_the_log(path in ".*") {
            let decoded = decode_path(&encode_path(&path));
            proptest::prop_assert_eq!(decoded.ok(), Some(path));
        }
    }
}
