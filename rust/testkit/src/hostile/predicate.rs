//! Any text as a predicate: a predicate or an error that says why, never a panic or an endless descent.

use deltaic_protocol::ErrorKind;
use deltaic_protocol::expr::parse_predicate;

use super::memory::{Bound, bounded};

/// The tree of the SQL parser is large: an expression has hundreds of bytes, and a digit is one.
const BOUND: Bound = Bound {
    per_byte: 4096,
    spare: 256 * 1024,
};

pub(super) fn law(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match bounded(BOUND, bytes.len(), || parse_predicate(text)) {
        Ok(predicate) => {
            // The same text says the same, also with white space around it.
            let again = parse_predicate(&format!(" {text}\n"));
            assert_eq!(again.ok(), Some(predicate));
        }
        Err(error) => assert!(
            matches!(
                error.kind(),
                ErrorKind::InvalidPredicate | ErrorKind::UnsupportedExpression
            ),
            "{error:?}"
        ),
    }
}
