//! The request for computed statistics, as Python passes it.

use deltaic_table::operations::ComputedStatistics;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::predicate::parsed;

/// Which statistics are computed.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct StatisticsRequest {
    columns: Option<Vec<String>>,
    predicate: Option<String>,
}

impl StatisticsRequest {
    pub(crate) fn parse(self) -> CallResult<ComputedStatistics> {
        Ok(ComputedStatistics {
            columns: self.columns,
            predicate: parsed(self.predicate.as_deref())?,
        })
    }
}
