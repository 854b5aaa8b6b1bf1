//! Converts a planned commit of the model to a transaction: its actions and its reads.

use std::collections::BTreeMap;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{DecidedBy, Operation, SupportCheck, Transaction};
use deltaic_protocol::actions::{Add, DomainMetadata, Remove};
use deltaic_protocol::change::{ChangeContext, change};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::expr::{BoundPredicate, parse_predicate};
use deltaic_protocol::features::{ensure_changeable, supports_for_writers};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::clock::{new_id, now_ms};

use super::model::{File, PlannedCommit, Selection, State};
use super::vectors::{VectorPlacement, to_vector, vectors_of};

/// The partition column of partitioned tables, as named in their files.
pub(crate) const PARTITION: &str = "part";

/// The transaction of a planned commit; `read` is the table at the snapshot's version. Its deletion vectors are written.
pub(crate) async fn transaction<'a>(
    snapshot: &'a Snapshot,
    read: &State,
    planned: &PlannedCommit,
    kept: VectorPlacement,
) -> Result<Transaction<'a>> {
    let operation = Operation::parse(planned.name).unwrap_or(Operation::AlterTable);
    let support_check: SupportCheck = match (&planned.change, planned.deletes.is_empty()) {
        (Some(_), _) => ensure_changeable,
        (None, false) => ensure_vectors,
        // Preconditions of features on rows are not checked: there are no rows.
        (None, true) => |_| Ok(()),
    };
    let mut ours = Transaction::try_new(snapshot, operation, support_check)?;
    ours.options.app_transaction.clone_from(&planned.app);
    ours.options.isolation = planned.isolation;
    if planned.reads_all {
        ours.read.read_whole_table();
    }
    if let Some(selection) = &planned.reads {
        let predicate = predicate(snapshot, read, selection)?;
        ours.read.read_where(predicate.as_ref());
        let files = read.files.iter();
        let selected = files.filter(|(_, file)| selection.has(file));
        ours.read.read_files(selected.map(|(path, _)| path.as_str()));
    }
    let deleted = planned.deletes.iter().map(|(path, _)| path);
    let touched = planned.removes.iter().chain(deleted);
    ours.read.read_files(touched.map(String::as_str));
    let vectors = vectors_of(snapshot).await?;
    let vector_of = |path: &String| vectors.get(path).cloned();
    let proposal = &mut ours.proposal;
    if !planned.deletes.is_empty() {
        proposal.decided_by = DecidedBy::Row;
    }
    for path in &planned.removes {
        let add = to_add(path, &read.files[path], planned, vector_of(path));
        proposal.removes.push(Remove {
            data_change: planned.changes_rows,
            ..Remove::of(&add, planned.removed_ms)
        });
    }
    for (path, rows) in &planned.deletes {
        let before = &read.files[path];
        let add = to_add(path, before, planned, vector_of(path));
        proposal.removes.push(Remove::of(&add, planned.removed_ms));
        let deleted = before.deleted.union(rows).copied().collect();
        let vector = to_vector(snapshot.location(), &deleted, kept).await?;
        proposal.adds.push(to_add(path, before, planned, vector));
    }
    for (path, file) in &planned.adds {
        proposal.adds.push(to_add(path, file, planned, None));
    }
    if let Some((name, configuration)) = &planned.domain {
        proposal.domains.push(DomainMetadata {
            domain: name.clone(),
            configuration: configuration
                .clone()
                .unwrap_or_else(|| read.domains[name].clone()),
            removed: configuration.is_none(),
        });
    }
    if let Some(wanted) = planned
        .change
        .as_ref()
        .and_then(|change| change.as_table_change())
    {
        let before = snapshot.configuration().clone();
        let context = &mut ChangeContext {
            version: snapshot.version().next()?,
            timestamp_ms: now_ms(),
            new_id: &mut new_id,
        };
        let actions = change(&before, &wanted, context)?.actions_since(&before);
        (proposal.protocol, proposal.metadata) = (actions.protocol, actions.metadata);
    }
    Ok(ours)
}

/// Verifies that a table's files may get deletion vectors.
fn ensure_vectors(table: &TableConfiguration) -> Result<()> {
    let (protocol, metadata) = (table.protocol(), table.metadata());
    let is_enabled = metadata.property("delta.enableDeletionVectors") == Some("true");
    if is_enabled && supports_for_writers(protocol, "deletionVectors") {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::UnsupportedFeature,
        "the table's files get no vectors",
    ))
}

/// A selection as a predicate; `None` if everything is selected.
fn predicate(snapshot: &Snapshot, read: &State, selection: &Selection) -> Result<Option<BoundPredicate>> {
    let (Selection::Partition(value), Some(column)) = (selection, &read.partition_column) else {
        return Ok(None);
    };
    let parsed = parse_predicate(&format!("{column} = '{value}'"))?;
    parsed.bind(snapshot.schema()).map(Some)
}

fn to_add(path: &str, file: &File, planned: &PlannedCommit, vector: Option<Descriptor>) -> Add {
    let partition = file.partition.clone();
    Add {
        path: path.to_owned(),
        partition_values: partition
            .map(|value| (PARTITION.to_owned(), Some(value)))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
        size: file.size,
        modification_time: 1,
        data_change: planned.changes_rows,
        stats: file.rows.map(|rows| format!(r#"{{"numRecords":{rows}}}"#)),
        deletion_vector: vector,
        base_row_id: file.numbered.map(|(first, _)| first),
        default_row_commit_version: file.numbered.map(|(_, version)| version),
        ..Add::default()
    }
}
