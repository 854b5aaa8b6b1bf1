//! Predicates as SQL text.

use deltaic_protocol::expr::{Predicate, parse_predicate};

use crate::error::CallResult;
use crate::fault::guarded;

/// Parses a predicate, if there is one.
pub(crate) fn parsed(text: Option<&str>) -> CallResult<Option<Predicate>> {
    guarded(|| Ok(text.map(parse_predicate).transpose()?))
}
