//! The rows of a checkpoint that are not file actions.
//!
//! Protocol: *Checkpoints*, *Checkpoint Schema*, *Action Reconciliation*: the newest action of each
//! application and domain, without removed domains and expired transaction identifiers.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use deltaic_protocol::Result;
use deltaic_protocol::actions::{Metadata, Protocol, Sidecar};
use serde_json::{Value, json};

use super::columns::rows_of_values;
use crate::snapshot::Snapshot;

/// Returns the rows of a flat checkpoint that precede its files.
pub(super) fn table_rows(snapshot: &Snapshot, schema: &SchemaRef, now_ms: i64) -> Result<RecordBatch> {
    rows_of_values(schema, &actions(snapshot, now_ms))
}

/// Returns the rows of a V2 top-level file.
///
/// Protocol: *Checkpoint Metadata*, *Sidecar File Information*.
pub(super) fn top_level_rows(
    snapshot: &Snapshot,
    sidecars: &[Sidecar],
    schema: &SchemaRef,
    now_ms: i64,
) -> Result<RecordBatch> {
    let mut rows = vec![json!({"checkpointMetadata": {"version": snapshot.version().as_i64()}})];
    rows.extend(actions(snapshot, now_ms));
    rows.extend(sidecars.iter().map(|sidecar| json!({ "sidecar": sidecar })));
    rows_of_values(schema, &rows)
}

fn actions(snapshot: &Snapshot, now_ms: i64) -> Vec<Value> {
    let mut rows = vec![
        json!({ "protocol": with_lists_in_place(snapshot.protocol()) }),
        json!({ "metaData": with_schema_or_none(snapshot.metadata()) }),
    ];
    let txns = snapshot.current_txns(now_ms);
    rows.extend(txns.into_iter().map(|txn| json!({ "txn": txn })));
    let domains = snapshot.domains().values();
    rows.extend(domains.map(|domain| json!({ "domainMetadata": domain })));
    rows
}

/// Returns metadata without an empty schema: readers reject an empty string as a schema.
fn with_schema_or_none(metadata: &Metadata) -> Value {
    let mut written = json!(metadata);
    if metadata.schema_string.is_empty()
        && let Some(members) = written.as_object_mut()
    {
        members.remove("schemaString");
    }
    written
}

/// Returns a protocol with feature lists exactly if its versions require them.
fn with_lists_in_place(protocol: &Protocol) -> Protocol {
    let list = |features: &Option<Vec<String>>, has_list: bool| {
        has_list.then(|| features.clone().unwrap_or_default())
    };
    Protocol {
        reader_features: list(&protocol.reader_features, protocol.min_reader_version == 3),
        writer_features: list(&protocol.writer_features, protocol.min_writer_version == 7),
        ..protocol.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// protocol: checkpoint-schema.2, checkpoint-schema.3, checkpoint-schema.4
    #[test]
    fn features_are_listed_where_the_versions_have_lists() {
        let all = vec!["deletionVectors".to_owned()];
        for (reader, writer, lists) in [
            (1, 2, (None, None)),
            (2, 7, (None, Some(&all))),
            (3, 7, (Some(&all), Some(&all))),
        ] {
            let written = with_lists_in_place(&Protocol {
                min_reader_version: reader,
                min_writer_version: writer,
                reader_features: Some(all.clone()),
                writer_features: Some(all.clone()),
            });
            assert_eq!(
                (written.reader_features.as_ref(), written.writer_features.as_ref()),
                lists
            );
        }
    }
}
