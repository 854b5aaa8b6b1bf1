//! The location of a table: a store, and the path of the table's root on it.

mod absolute;
mod confined;
mod connect;
mod environment;
mod hadoop;
mod local_files;
mod local_listing;
mod names;
mod network;
mod options;
mod per_process;
mod places;
mod remains;
mod remote_store;
mod resolve;
mod sent;
mod shared;
mod unlisted;
mod uri;
mod without_writes;

use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::client::HttpConnector;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use url::Url;

use self::confined::Confined;
pub use self::options::StorageOptions;
pub use self::remains::LocalRemains;
use self::resolve::{allowed_folder, without_dots};
pub use self::sent::Sent;
use self::shared::Shared;
use self::uri::RemoteFolder;
use crate::links::is_not_regular_file;
use crate::whole_body::read_file;

/// The location of a table. It has no state of the table and is cheap to clone in an `Arc`.
#[derive(Debug, Clone)]
pub struct TableLocation {
    uri: String,
    store: Arc<dyn ObjectStore>,
    root: Path,
    file_system: Option<PathBuf>,
    allowed_roots: Vec<String>,
    remote: Option<Remote>,
}

/// Additional fields of a table on a remote store.
#[derive(Debug, Clone)]
struct Remote {
    place: RemoteFolder,
    options: StorageOptions,
    proven: Arc<AtomicBool>,
}

/// Maximum number of concurrent requests to a local disk.
const LOCAL_AT_ONCE: usize = 16;

/// The size of the parts in which files are sent to a store, and to a local disk, where small ones cost little.
const PART_BYTES: usize = 10 << 20;
const LOCAL_PART_BYTES: usize = 1 << 20;

/// `memory://` is one store per process.
static MEMORY: LazyLock<Arc<InMemory>> = LazyLock::new(|| Arc::new(InMemory::new()));

/// Supported locations.
const SUPPORTED: &str = "local paths, file://, memory://, s3://, s3a://, az://, abfs://, abfss:// and gs://";

/// Returns the scheme if a text starts like a store's URI without being one: `s3:/bucket/table`.
fn meant_as_store(uri: &str) -> Option<&str> {
    const STORES: [&str; 16] = [
        "s3", "s3a", "s3n", "az", "abfs", "abfss", "adl", "wasb", "wasbs", "gs", "gcs", "hdfs", "dbfs",
        "memory", "http", "https",
    ];
    let (scheme, rest) = uri.split_once(':')?;
    let is_store = STORES.iter().any(|store| scheme.eq_ignore_ascii_case(store));
    (is_store && !rest.starts_with("//")).then_some(scheme)
}

/// Whether a text can be a URI's scheme, which is short.
fn is_scheme(text: &str) -> bool {
    text.len() <= 12
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

impl TableLocation {
    /// Parses a path or URI without options. Does no I/O.
    ///
    /// ```
    /// use deltaic_storage::TableLocation;
    ///
    /// let table = TableLocation::parse("/data/my table", Vec::new())?;
    /// assert_eq!(table.uri(), "file:///data/my%20table/");
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn parse(uri: &str, allowed_roots: Vec<String>) -> Result<Self> {
        Self::with_options(uri, StorageOptions::default(), allowed_roots)
    }

    /// Parses a path or URI: a local path, `file://`, `memory://`, `s3://`, `s3a://`, `az://`, `abfs://`,
    /// `abfss://` or `gs://`. Does no I/O.
    ///
    /// An invalid URI, an unknown option, and options that contradict each other are `InvalidArgument`;
    /// another scheme is an `UnsupportedFeature`.
    pub fn with_options(uri: &str, options: StorageOptions, allowed_roots: Vec<String>) -> Result<Self> {
        if allowed_roots.iter().any(String::is_empty) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "an allowed root is empty: it would allow every location",
            ));
        }
        if uri.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the table's path is empty",
            ));
        }
        if let Some(place) = RemoteFolder::parse(uri) {
            return Self::remote(place?, options, allowed_roots);
        }
        if let Some(name) = options.as_map().keys().next() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("unknown storage option {name:?}: local tables and memory:// have no options"),
            )
            .hint("omit storage_options"));
        }
        if let Some(meant) = meant_as_store(uri) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("The table location starts with {meant}: but is not a URI"),
            )
            .with("table", without_secrets(uri))
            .hint(
                if SUPPORTED.contains(&format!("{meant}://").to_ascii_lowercase()) {
                    format!("did you mean {meant}://…? For a folder of that name, write ./{meant}:…")
                } else {
                    format!("supported: {SUPPORTED}. For a folder of that name, write ./{meant}:…")
                },
            ));
        }
        match uri.split_once("://") {
            None => Self::local(FilePath::new(uri), allowed_roots),
            Some(("file", _)) => {
                let path = Url::parse(uri)
                    .ok()
                    .and_then(|url| url.to_file_path().ok())
                    .ok_or_else(|| invalid(uri, "it is not a local path"))?;
                Self::local(&path, allowed_roots)
            }
            Some(("memory", name)) => {
                if name.contains('@') {
                    return Err(invalid(uri, "a memory:// URI must not have a user name"));
                }
                let root = Path::parse(name.trim_matches('/'))
                    .map_err(|_| invalid(uri, "its path has an empty segment"))?;
                let store: Arc<dyn ObjectStore> = Arc::<InMemory>::clone(&MEMORY);
                Ok(Self {
                    uri: format!("memory://{root}/"),
                    store,
                    root,
                    file_system: None,
                    allowed_roots,
                    remote: None,
                })
            }
            // An invalid scheme is not printed, since it may be a secret.
            Some((scheme, _)) if !is_scheme(scheme) => Err(Error::new(
                ErrorKind::InvalidArgument,
                "The table location has no valid scheme before ://",
            )
            .hint(format!("supported: {SUPPORTED}"))),
            Some((scheme, _)) => Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!("Tables on {scheme}:// are not supported"),
            )
            .with("feature", format!("{scheme}://"))
            .hint(format!("supported: {SUPPORTED}"))),
        }
    }

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

    /// Creates a table on a remote store with the settings of [`TableLocation::with_options`] and a connector
    /// that replaces the network, for tests.
    pub fn on_network(uri: &str, options: StorageOptions, network: Arc<dyn HttpConnector>) -> Result<Self> {
        let place = RemoteFolder::parse(uri).ok_or_else(|| invalid(uri, "no remote store supports it"))??;
        let settings = options::settings(&place, &options, environment::variables(place.service))?;
        let shared = Shared::try_new(&place, &settings, Some(network))?;
        Ok(Self::on_shared(place, shared, options, Vec::new()))
    }

    fn remote(place: RemoteFolder, options: StorageOptions, allowed_roots: Vec<String>) -> Result<Self> {
        let settings = options::settings(&place, &options, environment::variables(place.service))?;
        let shared = shared::store(&place, settings)?;
        Ok(Self::on_shared(place, shared, options, allowed_roots))
    }

    fn on_shared(
        place: RemoteFolder,
        shared: Shared,
        options: StorageOptions,
        allowed_roots: Vec<String>,
    ) -> Self {
        Self {
            uri: place.to_uri(),
            store: shared.store,
            root: place.root.clone(),
            file_system: None,
            allowed_roots,
            remote: Some(Remote {
                place,
                options,
                proven: shared.proven,
            }),
        }
    }

    fn local(path: &FilePath, allowed_roots: Vec<String>) -> Result<Self> {
        let shown = path.display().to_string();
        let absolute = std::path::absolute(path).map_err(|error| invalid(&shown, &error.to_string()))?;
        let absolute = without_dots(&absolute);
        let url = Url::from_directory_path(&absolute)
            .map_err(|()| invalid(&shown, "it is not an absolute path"))?;
        let root =
            Path::from_absolute_path(&absolute).map_err(|error| invalid(&shown, &error.to_string()))?;
        // Acknowledged data must survive a power failure, so files are on disk before a commit refers to
        // them. A failed append deletes its files and the folders that it created.
        let files = LocalFileSystem::new().with_fsync(true);
        let allowed = allowed_roots.iter().map(|allowed| allowed_folder(allowed));
        let store = Arc::new(Confined::new(files, absolute.clone(), allowed.collect()));
        Ok(Self {
            uri: url.to_string(),
            store,
            root,
            file_system: Some(absolute),
            allowed_roots,
            remote: None,
        })
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

fn invalid(uri: &str, why: &str) -> Error {
    let uri = without_secrets(uri);
    Error::new(
        ErrorKind::InvalidArgument,
        format!("{uri:?} is not the location of a table: {why}"),
    )
}

/// Removes possible secrets from a path or URI: the query and the user info, even if the URI is invalid.
#[must_use]
pub fn without_secrets(path: &str) -> String {
    let (scheme, rest) = scheme_of(path);
    let slashes = rest.len() - rest.trim_start_matches('/').len();
    let (start, rest) = rest.split_at(slashes);
    // Only a URI has user info.
    let is_uri = !scheme.is_empty() || slashes > 1;
    let rest = if is_uri { without_user(rest) } else { rest };
    let rest = without_query(rest);
    format!("{scheme}{start}{rest}")
}

/// Splits off the scheme of a text with its colon.
fn scheme_of(text: &str) -> (&str, &str) {
    let at = text.find(':').filter(|at| text.get(..*at).is_some_and(is_scheme));
    match at.and_then(|at| text.split_at_checked(at + 1)) {
        // A drive letter is not a scheme.
        Some((scheme, rest)) if scheme.len() > 2 => (scheme, rest),
        _ => ("", text),
    }
}

/// Returns the part after the user info. A password may contain any character, though it should not.
fn without_user(rest: &str) -> &str {
    let authority = rest.split('/').next().unwrap_or(rest);
    let behind = |text: &str| text.rfind('@').map(|at| at + 1);
    let cut = behind(authority).or_else(|| {
        // `user:pass/word@host` has a user: the colon of a host is followed by a port number.
        let (_, port) = authority.split_once(':')?;
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        if is_port { None } else { behind(rest) }
    });
    let rest = cut.and_then(|cut| rest.get(cut..)).unwrap_or(rest);
    // A nested URI.
    let inner = rest.find("//").and_then(|at| Some(at + behind(rest.get(at..)?)?));
    inner.and_then(|cut| rest.get(cut..)).unwrap_or(rest)
}

fn without_query(rest: &str) -> &str {
    let plain = rest.find(['?', '#']);
    // An encoded question mark is part of a name, unless what follows looks like a signature.
    let encoded = rest.find("%3F").or_else(|| rest.find("%3f")).filter(|at| {
        let behind = rest.get(*at..).unwrap_or_default().to_ascii_lowercase();
        ["sig", "token", "credential"]
            .iter()
            .any(|word| behind.contains(word))
    });
    let cut = plain.into_iter().chain(encoded).min();
    cut.and_then(|cut| rest.get(..cut)).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn no_client_who_signs_in_and_no_query_is_shown() {
        for (path, shown) in [
            ("s3://bucket/a@b/c.parquet", "s3://bucket/a@b/c.parquet"),
            ("a@b/c.parquet", "a@b/c.parquet"),
            ("t=10:00@x/c.parquet", "t=10:00@x/c.parquet"),
            ("http://host:80/a@b", "http://host:80/a@b"),
            ("C:/Users/a@b", "C:/Users/a@b"),
            ("/data/a@b?x", "/data/a@b"),
            ("s3://u:PlAnT@bucket/f", "s3://bucket/f"),
            ("s3://AKIA:Pl/AnT@bucket/f", "s3://bucket/f"),
            ("s3://u:PlAnT#x@bucket/f", "s3://bucket/f"),
            ("s3://u:PlAnT?x@bucket/f", "s3://bucket/f"),
            ("s3:/u:PlAnT@bucket/t", "s3:/bucket/t"),
            ("s3:u:PlAnT@bucket", "s3:bucket"),
            ("https:/u:PlAnT@bucket/f", "https:/bucket/f"),
            ("//u:PlAnT@bucket/f", "//bucket/f"),
            ("https:///u:PlAnT@bucket/f", "https:///bucket/f"),
            ("memory:/x/://u:PlAnT@t", "memory:/t"),
            ("abfss:/c@a.b://u:PlAnT@t/f", "abfss:/t/f"),
            ("f%3Fsig=PlAnT", "f"),
            ("what%3F.parquet", "what%3F.parquet"),
            ("https://h/p?sig=PlAnT#x", "https://h/p"),
        ] {
            assert_eq!(without_secrets(path), shown, "{path}");
        }
    }
}
