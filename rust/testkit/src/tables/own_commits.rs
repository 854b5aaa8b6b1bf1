//! Commits by deltaic to handwritten tables, and the log files that post-commit maintenance creates.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::Snapshot;
use deltaic_log::checksum::checksum_of;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::transaction::{CommitOptions, Committed, IfExists, NewTable, Operation, Transaction};
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::checksum::VersionChecksum;
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
use deltaic_storage::clock::now_ms;
use deltaic_storage::store_error;
use futures::TryStreamExt;
use object_store::ObjectStore;

use super::table_builder::TableBuilder;

/// An empty transaction on a table with any features.
pub fn commit_to(snapshot: &Snapshot) -> Result<Transaction<'_>> {
    Transaction::try_new(snapshot, Operation::Write, |_| Ok(()))
}

/// Options of a commit without post-commit maintenance.
#[must_use]
pub fn without_maintenance() -> CommitOptions {
    CommitOptions {
        max_attempts: 100,
        post_commit: PostCommitPolicy::none(),
        ..CommitOptions::default()
    }
}

/// A blind append of files that need not exist.
#[derive(Clone, Debug)]
pub struct Append {
    /// The files.
    pub adds: Vec<Add>,
    /// Its commit options.
    pub options: CommitOptions,
}

/// Commits an append to the next free version.
pub async fn append(snapshot: &Snapshot, append: &Append) -> Result<Committed> {
    let mut transaction = Transaction::try_new(snapshot, Operation::Write, ensure_appendable)?;
    transaction.proposal.adds.clone_from(&append.adds);
    transaction.options = append.options.clone();
    transaction.commit().await
}

/// An append of one file with this name, without maintenance.
#[must_use]
pub fn an_append(name: &str) -> Append {
    Append {
        adds: vec![Add {
            path: name.to_owned(),
            size: 1,
            data_change: true,
            ..Add::default()
        }],
        options: without_maintenance(),
    }
}

/// A new table with one column `id`.
#[must_use]
pub fn a_new_table() -> NewTable {
    NewTable {
        schema: StructType {
            fields: vec![StructField::new("id", PrimitiveType::Long.into(), true)],
        },
        partition_columns: Vec::new(),
        cluster_by: Vec::new(),
        properties: BTreeMap::new(),
        constraints: BTreeMap::new(),
        name: None,
        description: None,
        if_exists: IfExists::Error,
    }
}

/// Commits a file with this name, which exists only in the log.
pub async fn append_to(snapshot: &Snapshot, name: &str, post_commit: PostCommitPolicy) -> Result<Committed> {
    let mut transaction = commit_to(snapshot)?;
    transaction.options.post_commit = post_commit;
    transaction.proposal.adds.push(Add {
        path: name.to_owned(),
        size: i64::try_from(name.len()).unwrap_or(0),
        data_change: true,
        ..Add::default()
    });
    transaction.commit().await
}

/// The names of the log's files with this ending, including those in subfolders.
pub async fn log_names(table: &TableBuilder, ending: &str) -> Result<BTreeSet<String>> {
    let location = table.location();
    let folder = location.below("_delta_log")?;
    let listed = location.store().list(Some(&folder)).try_collect::<Vec<_>>().await;
    let listed = listed.map_err(|error| store_error(&error, "_delta_log"))?;
    let names = listed.iter().filter_map(|object| object.location.filename());
    let names = names.filter(|name| name.ends_with(ending));
    Ok(names.map(str::to_owned).collect())
}

/// The versions of the log's files with this ending, in order.
pub async fn log_versions(table: &TableBuilder, ending: &str) -> Result<Vec<i64>> {
    let names = log_names(table, ending).await?;
    let version = |name: &String| name.get(..20).and_then(|text| text.parse().ok());
    Ok(names.iter().filter_map(version).collect())
}

/// The checksum of a version, or `None` if it has no checksum file.
pub async fn checksum_beside(table: &TableBuilder, version: i64) -> Result<Option<VersionChecksum>> {
    let relative = format!("_delta_log/{version:020}.crc");
    match table.location().read(&relative).await {
        Ok(text) => VersionChecksum::parse(&text).map(Some),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(store_error(&error, &relative)),
    }
}

/// The expected checksum of a version: the version is opened again, and every field computed.
pub async fn checksum_anew(table: &TableBuilder, version: i64) -> Result<VersionChecksum> {
    checksum_of(&table.open_at(version).await?, now_ms()).await
}
