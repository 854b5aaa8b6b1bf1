//! The one loop of a blind append: propose, and behind a winner that is no conflict propose again.

use deltaic_protocol::actions::columns::Statistics;
use deltaic_protocol::actions::{Add, CommitInfo};
use deltaic_protocol::features::ensure_appendable;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};
use serde_json::json;

use super::{Committed, Operation, UserInfo, check_blind_append, time_of};
use crate::clock::{new_id, now_ms};
use crate::committer::{Outcome, propose};
use crate::decode::Actions;
use crate::decode::commit::{MAX_LINE_BYTES, decode_commit};
use crate::snapshot::Snapshot;
use crate::store_error::store_error;

/// An append, its data files already written.
#[derive(Clone, Debug)]
pub struct Append {
    /// The files.
    pub adds: Vec<Add>,
    /// What the commit says about itself.
    pub operation: Operation,
    /// What the user adds to that.
    pub user: UserInfo,
    /// How many versions are tried.
    pub max_attempts: usize,
}

/// Commits an append to the version after the snapshot's, or after the winners'.
///
/// Protocol: *Requirements for Writers*, *Creation of New Log Entries*.
pub async fn append(snapshot: &Snapshot, append: &Append) -> Result<Committed> {
    ensure_appendable(snapshot.protocol(), snapshot.metadata(), snapshot.schema()).map_err(|error| {
        error
            .with("table", snapshot.location().uri())
            .with("version", snapshot.version())
    })?;
    let txn_id = new_id();
    let mut read = snapshot.version();
    let mut conflicts_resolved = Vec::new();
    for _ in 0..append.max_attempts.max(1) {
        let version = read.next()?;
        let timestamp_ms = now_ms();
        let info = append
            .operation
            .to_commit_info(&append.user, timestamp_ms, Some(read), &txn_id);
        let bytes = render(&info, &append.adds)?;
        let committed = |timestamp_ms: i64| Committed {
            version,
            timestamp_ms,
            commit_info: info.to_string(),
            conflicts_resolved: conflicts_resolved.clone(),
        };
        match propose(snapshot.location(), version, bytes).await? {
            Outcome::Committed(_) => {
                return Ok(committed(
                    time_of(snapshot.location(), version, timestamp_ms).await,
                ));
            }
            outcome @ (Outcome::Lost(_) | Outcome::Unknown(_)) => {
                let Some(winner) = read_winner(snapshot, version).await? else {
                    if outcome == Outcome::Lost(version) {
                        return Err(Error::new(
                            ErrorKind::CorruptLog,
                            "something that is no commit stands where the next one should be",
                        )
                        .with("path", LogPath::commit(version))
                        .with("version", version)
                        .hint("move it away; a folder or a dangling link has no place there"));
                    }
                    // Nothing is there, so nothing was committed: the version is proposed again.
                    continue;
                };
                if is_ours(&winner, &txn_id) {
                    return Ok(committed(
                        time_of(snapshot.location(), version, timestamp_ms).await,
                    ));
                }
                check_blind_append(&winner, version)
                    .map_err(|error| error.with("table", snapshot.location().uri()))?;
                conflicts_resolved.push(describe(&winner, version));
                read = version;
            }
        }
    }
    Err(Error::new(
        ErrorKind::CommitConflict(Conflict::ConcurrentWrite),
        format!("other writers won {} versions in a row", append.max_attempts),
    )
    .with("table", snapshot.location().uri())
    .with("version", read)
    .hint("append again, or raise max_attempts"))
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

async fn read_winner(snapshot: &Snapshot, version: Version) -> Result<Option<Actions>> {
    let relative = LogPath::commit(version);
    match snapshot.location().read(&relative).await {
        Ok(bytes) => decode_commit(&bytes, version, Statistics::Skipped, MAX_LINE_BYTES).map(Some),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => {
            let store = store_error(&error, &relative);
            Err(Error::new(
                ErrorKind::CommitUnknown,
                format!("whether version {version} holds this append could not be learnt: {store}"),
            )
            .with("version", version)
            .with("path", relative)
            .hint("look at the table's history before you append again"))
        }
    }
}

fn is_ours(winner: &Actions, txn_id: &str) -> bool {
    let info = winner
        .commit_info
        .as_deref()
        .and_then(|text| serde_json::from_str::<CommitInfo>(text).ok());
    info.and_then(|info| info.txn_id).as_deref() == Some(txn_id)
}

fn describe(winner: &Actions, version: Version) -> String {
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
