//! The one loop of a blind append: propose, and behind a winner that is no conflict propose again.

use std::sync::Arc;

use deltaic_protocol::actions::{Add, CommitInfo};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};
use serde_json::json;

use super::{Committed, Operation, UserInfo, check_blind_append, time_of};
use crate::clock::{new_id, now_ms, pause};
use crate::committer::{Outcome, propose};
use crate::decode::TableActions;
use crate::decode::commits::decode_commit;
use crate::listing::LogFile;
use crate::snapshot::Snapshot;
use crate::store_error::store_error;

/// How often a version is proposed to which no answer comes that tells; the store's client has asked again each time.
/// `max_attempts` counts winners, and many of them are no sign that anything is out of order.
const MOST_UNANSWERED: usize = 10;

/// An append, its data files already written.
#[derive(Clone, Debug)]
pub struct Append {
    /// The files.
    pub adds: Vec<Add>,
    /// What the commit says about itself.
    pub operation: Operation,
    /// What the user adds to that.
    pub user: UserInfo,
    /// How many versions are tried: how many winners there may be.
    pub max_attempts: usize,
}

/// Commits an append to the version after the snapshot's, or after the winners'.
///
/// An error other than `CommitUnknown` means that nothing was committed and nothing will be.
///
/// Protocol: *Requirements for Writers*, *Creation of New Log Entries*.
pub async fn append(snapshot: &Snapshot, append: &Append) -> Result<Committed> {
    ensure_appendable(snapshot.protocol(), snapshot.metadata(), snapshot.schema()).map_err(|error| {
        error
            .with("table", snapshot.location().uri())
            .with("version", snapshot.version())
    })?;
    let mut attempts = Attempts {
        snapshot,
        append,
        txn_id: new_id(),
        read: snapshot.version(),
        open: None,
        conflicts_resolved: Vec::new(),
    };
    let committed = attempts.run().await;
    match (committed, attempts.open) {
        (Err(error), Some(version)) => Err(Error::new(
            ErrorKind::CommitUnknown,
            format!("whether version {version} will hold this append could not be learnt: {error}"),
        )
        .with("table", snapshot.location().uri())
        .with("version", version)
        .hint("look at the table's history before you append again")),
        (committed, _) => committed,
    }
}

/// The attempts of one append.
struct Attempts<'a> {
    snapshot: &'a Snapshot,
    append: &'a Append,
    txn_id: String,
    /// The newest version that is known and no conflict.
    read: Version,
    /// A version that was proposed without an answer and not seen since: the proposal may still land.
    open: Option<Version>,
    conflicts_resolved: Vec<String>,
}

impl Attempts<'_> {
    async fn run(&mut self) -> Result<Committed> {
        let location = self.snapshot.location();
        let (mut won, mut unanswered) = (0, 0);
        while won < self.append.max_attempts.max(1) {
            let version = self.read.next()?;
            let timestamp_ms = now_ms();
            let operation = &self.append.operation;
            let info =
                operation.to_commit_info(&self.append.user, timestamp_ms, Some(self.read), &self.txn_id);
            let outcome = propose(location, version, render(&info, &self.append.adds)?).await?;
            let before = self.open;
            let winner = if let Outcome::Committed(_) = outcome {
                None
            } else {
                // Until the version has been seen, what took it may be this very append: a store can lose an answer.
                self.open = Some(version);
                let seen = read_winner(self.snapshot, version).await.inspect_err(|error| {
                    // A commit of ours is seen whole, so what cannot be decoded is another's.
                    if error.kind() == ErrorKind::CorruptLog {
                        self.open = None;
                    }
                })?;
                match seen {
                    Some(winner) => Some(winner),
                    // Nothing is there yet, so the version is proposed again: whichever proposal lands is ours.
                    None if outcome == Outcome::Unknown(version) || before == Some(version) => {
                        unanswered += 1;
                        if unanswered == MOST_UNANSWERED {
                            return Err(no_answer(version));
                        }
                        pause(unanswered).await;
                        continue;
                    }
                    None => {
                        self.open = before;
                        return Err(no_commit(version));
                    }
                }
            };
            // The version is taken, so no earlier proposal of it can land any more.
            self.open = None;
            unanswered = 0;
            match winner {
                Some(winner) if !is_ours(&winner, &self.txn_id) => {
                    check_blind_append(&winner, version)
                        .map_err(|error| error.with("table", location.uri()))?;
                    self.conflicts_resolved.push(describe(&winner, version));
                    self.read = version;
                    won += 1;
                }
                _ => {
                    return Ok(Committed {
                        version,
                        timestamp_ms: time_of(location, version, timestamp_ms).await,
                        commit_info: info.to_string(),
                        conflicts_resolved: std::mem::take(&mut self.conflicts_resolved),
                    });
                }
            }
        }
        Err(Error::new(
            ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
            format!("other writers won {} versions in a row", self.append.max_attempts),
        )
        .with("table", location.uri())
        .with("version", self.read)
        .hint("append again, or raise max_attempts"))
    }
}

fn no_answer(version: Version) -> Error {
    Error::new(
        ErrorKind::StorageError,
        format!("the store did not say what became of it, {MOST_UNANSWERED} times"),
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
    .hint("see whether the store takes writes, and append again")
}

fn no_commit(version: Version) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "something that is no commit stands where the next one should be",
    )
    .with("path", LogPath::commit(version))
    .with("version", version)
    .hint("move it away; a folder or a dangling link has no place there")
}

fn render(info: &serde_json::Value, adds: &[Add]) -> Result<Vec<u8>> {
    let mut lines = json!({ "commitInfo": info }).to_string();
    for add in adds {
        lines.push('\n');
        lines.push_str(&serde_json::to_string(&json!({ "add": add })).map_err(|error| {
            Error::new(
                ErrorKind::SchemaMismatch,
                format!("a file action cannot be written: {error}"),
            )
        })?);
    }
    lines.push('\n');
    Ok(lines.into_bytes())
}

async fn read_winner(snapshot: &Snapshot, version: Version) -> Result<Option<TableActions>> {
    let relative = LogPath::commit(version);
    match snapshot.location().read(&relative).await {
        Ok(bytes) => {
            let file = Arc::new(LogFile::commit(version));
            Ok(Some(
                decode_commit(&bytes, &file, snapshot.max_line_bytes())?.table,
            ))
        }
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(store_error(&error, &relative).with("version", version)),
    }
}

fn is_ours(winner: &TableActions, txn_id: &str) -> bool {
    let info = winner
        .commit_info
        .as_deref()
        .and_then(|text| serde_json::from_str::<CommitInfo>(text).ok());
    info.and_then(|info| info.txn_id).as_deref() == Some(txn_id)
}

fn describe(winner: &TableActions, version: Version) -> String {
    let operation = winner
        .commit_info
        .as_deref()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok())
        .and_then(|info| {
            info.get("operation")
                .and_then(|name| name.as_str())
                .map(str::to_owned)
        })
        .unwrap_or_else(|| "a commit".to_owned());
    format!("version {version}: {operation}")
}
