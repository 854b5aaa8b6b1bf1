//! Predicates as SQL text.

use deltaic_protocol::expr::{Predicate, parse_predicate};

use crate::error::Answer;
use crate::fault::guarded;

/// Parses a predicate, if there is one.
pub(crate) fn parsed(text: Option<&str>) -> Answer<Option<Predicate>> {
    guarded(|| Ok(text.map(parse_predicate).transpose()?))
}
