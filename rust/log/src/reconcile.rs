//! Action reconciliation: newest first, the first word on a logical file stands.
//!
//! Two phases. The keys come from the commits alone, which are few; a checkpoint's rows merely probe them and
//! are never inserted, since a checkpoint holds each logical file once. Survivors are a bitmap per batch.
//!
//! Protocol: *Action Reconciliation*.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::BooleanBufferBuilder;
use deltaic_protocol::actions::columns::KeyColumns;
use deltaic_protocol::actions::{DomainMetadata, LogicalFileKey, Metadata, Protocol, Txn};
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use crate::decode::Actions;

/// A batch of file actions, and which of its rows still stand.
#[derive(Clone, Debug)]
pub struct Survivors {
    /// The actions.
    pub batch: RecordBatch,
    /// Which rows stand.
    pub live: BooleanArray,
}

/// What the log says once every newest word is known.
#[derive(Clone, Debug, Default)]
pub struct Reconciled {
    /// The files of the table.
    pub adds: Vec<Survivors>,
    /// The tombstones.
    pub tombstones: Vec<Survivors>,
    /// The newest protocol.
    pub protocol: Option<Protocol>,
    /// The newest metadata.
    pub metadata: Option<Metadata>,
    /// The newest of each application.
    pub txns: BTreeMap<String, Txn>,
    /// The newest of each domain, removed ones left out.
    pub domains: BTreeMap<String, DomainMetadata>,
}

/// Reconciles commits, given newest first, over a checkpoint.
///
/// The same logical file added or removed twice in one commit, or added and removed, is a `CorruptLog`.
pub fn reconcile(
    commits_newest_first: &[(Version, Arc<Actions>)],
    checkpoint: Option<&Actions>,
) -> Result<Reconciled> {
    let keys: Vec<CommitKeys> = commits_newest_first
        .iter()
        .map(|(version, actions)| CommitKeys::of(*version, actions))
        .collect::<Result<_>>()?;
    let mut seen: HashMap<LogicalFileKey<'_>, Version> = HashMap::new();
    let mut reconciled = Reconciled::default();
    let mut domains: BTreeMap<String, DomainMetadata> = BTreeMap::new();
    for ((version, actions), keys) in commits_newest_first.iter().zip(&keys) {
        for (batches, columns, survivors) in [
            (&actions.adds, &keys.adds, &mut reconciled.adds),
            (&actions.removes, &keys.removes, &mut reconciled.tombstones),
        ] {
            for (batch, columns) in batches.iter().zip(columns) {
                let mut live = BooleanBufferBuilder::new(columns.len());
                for row in 0..columns.len() {
                    live.append(match seen.insert_newest(columns.key(row), *version) {
                        Word::First => true,
                        Word::Older => false,
                        Word::SameCommit => return Err(twice(*version)),
                    });
                }
                survivors.push(Survivors {
                    batch: batch.clone(),
                    live: BooleanArray::new(live.finish(), None),
                });
            }
        }
        take_newest(actions, &mut reconciled, &mut domains);
    }
    if let Some(checkpoint) = checkpoint {
        for (batches, survivors) in [
            (&checkpoint.adds, &mut reconciled.adds),
            (&checkpoint.removes, &mut reconciled.tombstones),
        ] {
            for batch in batches {
                let columns = KeyColumns::of(batch)?;
                let mut live = BooleanBufferBuilder::new(columns.len());
                if seen.is_empty() {
                    live.append_n(columns.len(), true);
                } else {
                    (0..columns.len()).for_each(|row| live.append(!seen.contains_key(&columns.key(row))));
                }
                survivors.push(Survivors {
                    batch: batch.clone(),
                    live: BooleanArray::new(live.finish(), None),
                });
            }
        }
        take_newest(checkpoint, &mut reconciled, &mut domains);
    }
    domains.retain(|_, domain| !domain.removed);
    reconciled.domains = domains;
    Ok(reconciled)
}

struct CommitKeys {
    adds: Vec<KeyColumns>,
    removes: Vec<KeyColumns>,
}

impl CommitKeys {
    fn of(version: Version, actions: &Actions) -> Result<Self> {
        let keys = |batches: &[RecordBatch]| batches.iter().map(KeyColumns::of).collect::<Result<Vec<_>>>();
        let located = |error: Error| {
            error
                .with("path", LogPath::commit(version))
                .with("version", version)
        };
        Ok(Self {
            adds: keys(&actions.adds).map_err(located)?,
            removes: keys(&actions.removes).map_err(located)?,
        })
    }
}

enum Word {
    First,
    Older,
    SameCommit,
}

trait InsertNewest<'a> {
    fn insert_newest(&mut self, key: LogicalFileKey<'a>, version: Version) -> Word;
}

impl<'a> InsertNewest<'a> for HashMap<LogicalFileKey<'a>, Version> {
    fn insert_newest(&mut self, key: LogicalFileKey<'a>, version: Version) -> Word {
        match self.entry(key) {
            std::collections::hash_map::Entry::Vacant(slot) => {
                slot.insert(version);
                Word::First
            }
            std::collections::hash_map::Entry::Occupied(known) if *known.get() == version => Word::SameCommit,
            std::collections::hash_map::Entry::Occupied(_) => Word::Older,
        }
    }
}

fn twice(version: Version) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "the commit adds or removes one logical file more than once",
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
    .hint("the order of actions in a commit means nothing, so neither can be taken for the truth")
}

fn take_newest(actions: &Actions, into: &mut Reconciled, domains: &mut BTreeMap<String, DomainMetadata>) {
    into.protocol = into.protocol.take().or_else(|| actions.protocol.clone());
    into.metadata = into.metadata.take().or_else(|| actions.metadata.clone());
    for txn in &actions.txns {
        into.txns.entry(txn.app_id.clone()).or_insert_with(|| txn.clone());
    }
    for domain in &actions.domains {
        domains
            .entry(domain.domain.clone())
            .or_insert_with(|| domain.clone());
    }
}
