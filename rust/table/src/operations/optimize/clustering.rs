//! The clustering columns of a table, and the requests that only some tables accept.
//!
//! Protocol: *Clustered Table*.

use deltaic_log::Snapshot;
use deltaic_protocol::clustering::{DOMAIN, columns};
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::ColumnName;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::request::Optimize;
use super::zorder_columns::{is_ordered, path_of};

/// Returns the columns by which an optimization clusters a table; none if it does not have such columns.
///
/// # Errors
///
/// As in delta-spark, a clustered table is neither optimized in part nor Z-ordered, and only a table with clustering
/// columns is clustered as a whole: `InvalidPredicate`, `ValueError`. `CorruptLog` if the schema does not have a column;
/// `UnsupportedFeature` if the values of a column have no order.
pub(super) fn clustering_columns(snapshot: &Snapshot, request: &Optimize) -> Result<Vec<ColumnName>> {
    let configuration = snapshot.configuration();
    let is_clustered = supports_for_writers(configuration.protocol(), "clustering");
    let columns = match configuration.domain(DOMAIN).filter(|_| is_clustered) {
        Some(domain) => columns(domain, snapshot.schema(), configuration.column_mapping()?)?,
        None => Vec::new(),
    };
    if is_clustered {
        ensure_whole(request, &columns)?;
    }
    if request.full && columns.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            "full may be given only for a table with clustering columns",
        )
        .hint("omit full, or set clustering columns first"));
    }
    for column in &columns {
        let path = path_of(snapshot.schema(), column);
        if !is_ordered(path.as_ref().and_then(|path| path.last())) {
            let what = format!("rows cannot be clustered by {column}, whose values have no order");
            return Err(Error::new(ErrorKind::UnsupportedFeature, what)
                .with("field", column.to_string())
                .hint("set other clustering columns"));
        }
    }
    Ok(columns)
}

fn ensure_whole(request: &Optimize, columns: &[ColumnName]) -> Result<()> {
    let omit = |argument: &str| match columns {
        [] => "drop the feature clustering first".to_owned(),
        _ => format!("omit {argument}: rows are clustered by the clustering columns"),
    };
    if request.predicate.is_some() {
        let what = "where selects partitions, and a clustered table is optimized as a whole";
        return Err(Error::new(ErrorKind::InvalidPredicate, what).hint(omit("where")));
    }
    if !request.zorder_by.is_empty() {
        let what = "a clustered table cannot be Z-ordered";
        return Err(Error::new(ErrorKind::InvalidArgument, what).hint(omit("zorder_by")));
    }
    Ok(())
}
