//! Predicates and expressions as SQL text.

use deltaic_protocol::expr::{Predicate, ValueExpr, parse_predicate};
use deltaic_storage::clock::now_ms;
use deltaic_table::operations::Assignment;

use crate::calls::error::CallResult;
use crate::calls::fault::guarded;

/// Parses a predicate, if there is one.
pub(crate) fn parsed(text: Option<&str>) -> CallResult<Option<Predicate>> {
    let at_once = |text| parse_predicate(text)?.at(now());
    guarded(|| Ok(text.map(at_once).transpose()?))
}

/// Parses columns and their new values.
pub(crate) fn assignments(values: Vec<(String, String)>) -> CallResult<Vec<Assignment>> {
    let now = now();
    let assignment = |(column, text): (String, String)| {
        let value = ValueExpr::parse(&text).and_then(|value| value.at(now));
        let value = value.map_err(|error| error.with("field", column.as_str()))?;
        Ok(Assignment { column, value })
    };
    guarded(|| values.into_iter().map(assignment).collect())
}

/// Microseconds since the epoch.
fn now() -> i64 {
    now_ms().saturating_mul(1_000)
}
