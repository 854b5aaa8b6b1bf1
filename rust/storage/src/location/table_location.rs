//! The location of a table: its root, its store and its options.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::path::Path;

use super::given::options::StorageOptions;
use super::given::uri::RemoteFolder;
use super::without_secrets::without_secrets;
use crate::links::is_not_regular_file;
use crate::whole_body::read_file;

/// The location of a table. It has no state of the table and is cheap to clone in an `Arc`.
#[derive(Debug, Clone)]
pub struct TableLocation {
    pub(super) uri: String,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) root: Path,
    pub(super) file_system: Option<PathBuf>,
    pub(super) allowed_roots: Vec<String>,
    pub(super) remote: Option<Remote>,
}

/// Additional fields of a table on a remote store.
#[derive(Debug, Clone)]
pub(super) struct Remote {
    pub(super) place: RemoteFolder,
    pub(super) options: StorageOptions,
    pub(super) proven: Arc<AtomicBool>,
}

/// Maximum number of concurrent requests to a local disk.
const LOCAL_AT_ONCE: usize = 16;

/// The size of the parts in which files are sent to a store, and to a local disk, where small ones cost little.
const PART_BYTES: usize = 10 << 20;
const LOCAL_PART_BYTES: usize = 1 << 20;

impl TableLocation {
    /// Creates a table on a given store, for tests.
    #[must_use]
    pub fn on_store(uri: String, store: Arc<dyn ObjectStore>, root: Path) -> Self {
        Self {
            uri,
            store,
            root,
            file_system: None,
            allowed_roots: Vec::new(),
            remote: None,
        }
    }

    /// Returns the table with its store wrapped.
    #[must_use]
    pub fn through(self, front: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>) -> Self {
        Self {
            store: front(self.store),
            ..self
        }
    }

    /// The table's root as a URI that ends with a slash; never contains a secret.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Folders outside the table in which its files may be.
    #[must_use]
    pub fn allowed_roots(&self) -> &[String] {
        &self.allowed_roots
    }

    /// The location of a table whose log names files of another one, which it may read.
    ///
    /// # Errors
    ///
    /// Those of [`Self::with_options`].
    pub fn as_clone_of(&self, source: &Self) -> Result<Self> {
        let mut roots = self.allowed_roots.clone();
        let of_source = std::iter::once(source.uri.clone()).chain(source.allowed_roots.iter().cloned());
        for root in of_source {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        Self::with_options(&self.uri, self.options(), roots)
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// The table's root on the store.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The options as specified, which another process needs to open the table, without those of the
    /// environment. They contain secrets.
    #[must_use]
    pub fn options(&self) -> StorageOptions {
        self.remote
            .as_ref()
            .map(|remote| remote.options.clone())
            .unwrap_or_default()
    }

    /// Whether the store has proven to honor put-if-absent; `None` if it need not be verified.
    pub fn proven(&self) -> Option<&AtomicBool> {
        self.remote.as_ref().map(|remote| remote.proven.as_ref())
    }

    /// The table's folder if it is local.
    #[must_use]
    pub fn file_system(&self) -> Option<&FilePath> {
        self.file_system.as_deref()
    }

    /// Maximum number of concurrent requests of an operation: each to a local disk occupies a thread, and
    /// more threads do not read faster, while each to a network mostly waits.
    #[must_use]
    pub fn at_once(&self, on_network: usize) -> usize {
        match self.file_system {
            Some(_) => on_network.min(LOCAL_AT_ONCE),
            None => on_network,
        }
    }

    /// Returns the size of the parts in which new files are sent. A writer holds one for each open file.
    #[must_use]
    pub fn part_bytes(&self) -> usize {
        match self.file_system {
            Some(_) => LOCAL_PART_BYTES,
            None => PART_BYTES,
        }
    }

    /// Returns a folder below the root as a separate table location.
    pub fn folder(&self, name: &str) -> Result<Self> {
        Ok(Self {
            uri: format!("{}{name}/", self.uri),
            root: self.below(name)?,
            file_system: self.file_system.as_ref().map(|folder| folder.join(name)),
            ..self.clone()
        })
    }

    /// Returns a path below the root that was not read from the log, and so is not URI-encoded.
    pub fn below(&self, relative: &str) -> Result<Path> {
        let joined = if self.root.as_ref().is_empty() {
            relative.to_owned()
        } else {
            format!("{}/{relative}", self.root)
        };
        Path::parse(&joined).map_err(|_| {
            Error::new(
                ErrorKind::CorruptLog,
                "the path is invalid: a segment is empty, consists of dots, or contains a control character",
            )
            .with("path", without_secrets(relative))
            .hint("restore the commit that names the path from a backup of the table")
        })
    }

    /// Whether the path exists and is not a regular file: reading a pipe would block. Always false for remote
    /// tables.
    pub fn is_not_regular_file(&self, path: &Path) -> bool {
        self.file_system.is_some() && is_not_regular_file(&FilePath::new("/").join(path.as_ref()))
    }

    /// Reads a whole file by a path that was not read from the log.
    pub async fn read(&self, relative: &str) -> Result<bytes::Bytes, object_store::Error> {
        let path = self
            .below(relative)
            .map_err(|error| object_store::Error::Generic {
                store: "table",
                source: Box::new(error),
            })?;
        read_file(&self.store, &path).await
    }
}
