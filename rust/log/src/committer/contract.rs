//! What transactions require of every committer.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use deltaic_protocol::{Result, Version};

use super::outcome::Outcome;

/// The future that a committer returns.
pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Decides which proposal becomes a version of one table: its store, or the catalog that
/// manages it.
///
/// Transactions rely on these properties of every committer; `deltaic_testkit::committer_contract` tests
/// them:
///
/// - **One.** Of all proposals for a version, by any process and however often, exactly one is committed. Its
///   bytes are visible completely or not at all, and never change.
/// - **Durable.** A `Committed` version survives a power failure, as far as the store can guarantee that.
/// - **Honest.** An error means that nothing was committed and nothing will be: the writer deletes its data
///   files. If this is uncertain, the outcome is `Unknown`. After the commit, no failure is returned as an
///   error.
/// - **Readable.** `read_commit` returns a committed version from then on and in every process, so that a
///   writer with an unknown outcome finds its own `commitInfo.txnId` there.
/// - **Listed.** A committed version is listed in `_delta_log` from then on, unless the committer is
///   [gapless](Self::is_gapless).
///
/// The committer of a table location is selected by the capabilities of its store:
///
/// ```
/// use deltaic_storage::TableLocation;
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
/// A catalog's committer stages each proposal as a separate, complete and durable file in
/// `_delta_log/_staged_commits`, and requests its ratification by the catalog. The catalog ratifies a version
/// once, and only after the previous version; the ratified commit may be published as
/// `_delta_log/<version>.json` later, in order. `read_commit` returns the ratified commit, published or not.
/// Set it as [`Transaction::committer`](crate::transaction::Transaction::committer). Tables with a managing
/// catalog are rejected nevertheless until their snapshots can be read through the catalog.
///
/// Protocol: *Delta Log Entries*, *Creation of New Log Entries*; *Commit Protocol* and *Publishing Commits*
/// of catalog-managed tables.
pub trait Committer: Debug + Send + Sync {
    /// Creates what the first commit of a new table needs, unless it already exists. Returns the reason if it
    /// may not survive a power failure, else `None`.
    fn prepare(&self) -> BoxedFuture<'_, Option<String>> {
        Box::pin(async { Ok(None) })
    }

    /// Proposes the bytes of a commit as a version.
    ///
    /// # Errors
    ///
    /// The reason why the commit was not made: nothing was committed, and nothing will be.
    fn propose(&self, version: Version, commit: Vec<u8>) -> BoxedFuture<'_, Outcome>;

    /// Returns the commit of a version; `None` if the version does not exist.
    ///
    /// # Errors
    ///
    /// `StorageError` if this cannot be determined now.
    fn read_commit(&self, version: Version) -> BoxedFuture<'_, Option<Bytes>>;

    /// Whether a version is committed only if the version before it is the newest at that time. The files of
    /// a log cannot guarantee this: after a cleanup the names of old versions are free again. So unless this
    /// is true, or the snapshot was opened with the catalog's [`LogTail`](crate::log_tail::LogTail), a slow
    /// commit is verified in the listing of `_delta_log`.
    fn is_gapless(&self) -> bool {
        false
    }
}
