//! Arbitrary strings as a predicate: a predicate or an error with position and reason, never a panic or unlimited
//! recursion.

use deltaic_protocol::ErrorKind;
use deltaic_protocol::expr::parse_predicate;

use super::memory::{Bound, bounded};

/// A node of a predicate has hundreds of bytes, and a digit is one.
const BOUND: Bound = Bound {
    per_byte: 1024,
    spare: 256 * 1024,
};

pub(super) fn check_invariants(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match bounded(BOUND, bytes.len(), || parse_predicate(text)) {
        Ok(predicate) => {
            // Parsing is deterministic and ignores surrounding white space; the printed predicate parses to the same.
            let again = parse_predicate(&format!(" {text}\n"));
            assert_eq!(again.as_ref().ok(), Some(&predicate));
            let printed = predicate.to_string();
            let again = parse_predicate(&printed);
            assert_eq!(again.as_ref().ok(), Some(&predicate), "{printed}");
        }
        Err(error) => {
            assert!(
                matches!(
                    error.kind(),
                    ErrorKind::InvalidPredicate | ErrorKind::UnsupportedExpression
                ),
                "{error:?}"
            );
            for wanted in ["line", "column"] {
                assert!(error.context().iter().any(|(key, _)| *key == wanted), "{error:?}");
            }
        }
    }
}
