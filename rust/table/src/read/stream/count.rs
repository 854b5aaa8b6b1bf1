//! Counts the rows of a scan.

use deltaic_protocol::Result;
use futures::TryStreamExt;

use super::batch_stream::stream_scan;
use crate::scan::Scan;

/// Counts the rows from the log if that is exact, otherwise by reading the columns of the predicate. Must be called
/// inside a runtime.
pub async fn count(scan: &Scan) -> Result<i64> {
    if let Some(rows) = scan.count_from_log().await? {
        return Ok(rows);
    }
    let mut batches = stream_scan(&scan.without_columns()).await?;
    let mut rows = 0i64;
    while let Some(batch) = batches.try_next().await? {
        rows = rows.saturating_add(i64::try_from(batch.num_rows()).unwrap_or(i64::MAX));
    }
    Ok(rows)
}
