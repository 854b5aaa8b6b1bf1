//! The parameters of an optimization, named as in delta-spark, and the sizes of its files.

use deltaic_protocol::actions::Add;
use serde_json::Value;

use super::files::Plan;
use super::request::Optimize;
use crate::transaction::metrics::{Count, Metrics};

/// The parameters of the commit.
pub(super) fn parameters(request: &Optimize, plan: &Plan) -> Vec<(&'static str, String)> {
    let list = |texts: Vec<String>| Value::from(texts).to_string();
    let predicate = request.predicate.iter().map(ToString::to_string);
    let mut parameters = vec![("predicate", list(predicate.collect()))];
    if request.purge {
        parameters.push(("applyPurge", "true".to_owned()));
    } else {
        parameters.extend([
            ("zOrderBy", list(request.zorder_by.clone())),
            ("clusterBy", list(plan.cluster_by.clone())),
            ("auto", "false".to_owned()),
        ]);
    }
    if !plan.cluster_by.is_empty() {
        parameters.push(("isFull", request.full.to_string()));
    }
    parameters
}

/// Counts the sizes of new files.
pub(super) fn add_sizes(metrics: &mut Metrics, added: &[Add]) {
    let mut sizes: Vec<i64> = added.iter().map(|add| add.size).collect();
    sizes.sort_unstable();
    for (count, at) in [
        (Count::MinFileSize, 0),
        (Count::P25FileSize, sizes.len() / 4),
        (Count::P50FileSize, sizes.len() / 2),
        (Count::P75FileSize, sizes.len() * 3 / 4),
        (Count::MaxFileSize, sizes.len().saturating_sub(1)),
    ] {
        metrics.add(count, sizes.get(at).copied().unwrap_or_default());
    }
}
