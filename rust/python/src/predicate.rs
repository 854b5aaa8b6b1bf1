//! Predicates and expressions as SQL text.

use deltaic_protocol::expr::{Predicate, ValueExpr, parse_predicate};
use deltaic_table::transaction::Assignment;

use crate::error::CallResult;
use crate::fault::guarded;

/// Parses a predicate, if there is one.
pub(crate) fn parsed(text: Option<&str>) -> CallResult<Option<Predicate>> {
    guarded(|| Ok(text.map(parse_predicate).transpose()?))
}

/// Parses columns and their new values.
pub(crate) fn assignments(values: Vec<(String, String)>) -> CallResult<Vec<Assignment>> {
    let assignment = |(column, text): (String, String)| {
        let value = ValueExpr::parse(&text).map_err(|error| error.with("field", column.as_str()))?;
        Ok(Assignment { column, value })
    };
    guarded(|| values.into_iter().map(assignment).collect())
}
