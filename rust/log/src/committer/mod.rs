//! Making a commit: exactly one writer wins a version, and what is acknowledged is durable.

mod disk;
mod file_system;
mod object_store;
mod probe;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ::object_store::Error as StoreError;
use bytes::Bytes;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};

pub use self::disk::{Disk, Files};
pub use self::file_system::FileSystem;
pub use self::probe::probe;

use crate::location::TableLocation;
use crate::store_error::store_error;

/// What became of a proposed commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the version.
    Committed(Version),
    /// It is the version, and the store could not make sure that it survives a power failure; and why.
    NotSynced(Version, String),
    /// The staged proposal was deleted before it got the version's name, as a cleanup does that deletes the version.
    /// Nothing was committed, and nothing will be.
    Withdrawn(Version),
    /// The version was taken already. By whom, only the version tells: a store that lost an answer and was asked again
    /// says so of the very commit that it took.
    Lost(Version),
    /// No answer came that tells; the version has to be read.
    Unknown(Version),
}

/// What a committer answers in its time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Who decides which proposal is a version of one table: its store, by what it can do, or the catalog that manages it.
///
/// Of every committer a transaction relies on this, and `deltaic_testkit::committer_contract` tries it out:
///
/// - **One.** Of all that is proposed as a version, by whichever process and however often, one is committed and no other.
///   Its bytes are seen whole or not at all, and never change.
/// - **Durable.** What is `Committed` survives the loss of power, as far as the store can promise that.
/// - **Honest.** An error means that nothing was committed and nothing will be: whoever proposed removes its data files.
///   Where that is not certain the outcome is `Unknown`. After the commit nothing makes an error of it.
/// - **Told.** What was committed is what `read_commit` gives, from then on and to every process, so that who does not know its
///   outcome finds its own `commitInfo.txnId` there.
/// - **Listed.** What was committed is listed in `_delta_log` from then on, unless the committer is [gapless](Self::is_gapless).
///
/// A table's location commits by what its store can do:
///
/// ```
/// use deltaic_log::TableLocation;
/// use deltaic_log::committer::{Committer, Outcome};
/// use deltaic_protocol::Version;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let table = TableLocation::parse("memory://committer", Vec::new())?;
/// let first = Version::ZERO;
/// table.prepare().await?;
/// assert_eq!(table.propose(first, b"{}\n".to_vec()).await?, Outcome::Committed(first));
/// assert_eq!(table.propose(first, b"[]\n".to_vec()).await?, Outcome::Lost(first));
/// assert_eq!(table.read_commit(first).await?.as_deref(), Some(&b"{}\n"[..]));
/// # Ok::<(), deltaic_protocol::Error>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A catalog's committer stages each proposal in a file of its own below `_delta_log/_staged_commits`, whole and durable,
/// and asks the catalog to ratify it. The catalog ratifies a version once, and only behind the version before; the ratified
/// commit may be published as `_delta_log/<version>.json` later, in order. `read_commit` gives what is ratified, published or not.
/// A transaction is given one in [`Transaction::committer`](crate::transaction::Transaction::committer). Tables that name
/// a catalog as their manager are refused all the same, until snapshots of them can be read through it.
///
/// Protocol: *Delta Log Entries*, *Creation of New Log Entries*; *Commit Protocol* and *Publishing Commits* of
/// catalog-managed tables.
pub trait Committer: Debug + Send + Sync {
    /// Makes what the first commit of a new table needs, and does no harm where it is there. Returns why it may not survive
    /// a power failure; none if it does.
    fn prepare(&self) -> Answer<'_, Option<String>> {
        Box::pin(async { Ok(None) })
    }

    /// Proposes the bytes of a commit as a version.
    ///
    /// # Errors
    ///
    /// Whatever kept the commit from being made: nothing was committed, and nothing will be.
    fn propose(&self, version: Version, commit: Vec<u8>) -> Answer<'_, Outcome>;

    /// The commit that is a version; none where the version has not been made.
    ///
    /// # Errors
    ///
    /// `StorageError` where that cannot be learnt now.
    fn read_commit(&self, version: Version) -> Answer<'_, Option<Bytes>>;

    /// Whether a version is committed only if the version before it is the newest at that moment. The files of a log cannot
    /// promise this: after a cleanup the names of old versions are free again. So unless this is true, or the snapshot was
    /// opened with the catalog's [`LogTail`](crate::log_tail::LogTail), a commit that took long is looked for in `_delta_log`.
    fn is_gapless(&self) -> bool {
        false
    }
}

impl Committer for TableLocation {
    fn prepare(&self) -> Answer<'_, Option<String>> {
        match self.file_system() {
            Some(root) => Box::pin(file_system::prepare(root, Arc::new(Disk))),
            None => Box::pin(async { Ok(None) }),
        }
    }

    fn propose(&self, version: Version, commit: Vec<u8>) -> Answer<'_, Outcome> {
        match self.file_system() {
            Some(root) => Box::pin(file_system::propose(root, Arc::new(Disk), version, commit)),
            None => Box::pin(object_store::propose(self, version, commit)),
        }
    }

    fn read_commit(&self, version: Version) -> Answer<'_, Option<Bytes>> {
        Box::pin(published(self, version))
    }
}

/// What `_delta_log` has as a version.
async fn published(location: &TableLocation, version: Version) -> Result<Option<Bytes>> {
    let relative = LogPath::commit(version);
    match location.read(&relative).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(store_error(&error, &relative).with("version", version)),
    }
}
