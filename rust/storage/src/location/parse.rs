//! Makes the location of a table from a path or a URI.

use std::path::Path as FilePath;
use std::sync::{Arc, LazyLock};

use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::client::HttpConnector;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use url::Url;

use super::confined::Confined;
use super::given::environment;
use super::given::options::{self, StorageOptions};
use super::given::uri::RemoteFolder;
use super::remote::shared::{self, Shared};
use super::resolve::{allowed_folder, without_dots};
use super::table_location::{Remote, TableLocation};
use super::without_secrets::{is_scheme, without_secrets};

/// `memory://` is one store per process.
static MEMORY: LazyLock<Arc<InMemory>> = LazyLock::new(|| Arc::new(InMemory::new()));

/// Supported locations.
const SUPPORTED: &str = "local paths, file://, memory://, s3://, s3a://, az://, abfs://, abfss:// and gs://";

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
}

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

fn invalid(uri: &str, why: &str) -> Error {
    let uri = without_secrets(uri);
    Error::new(
        ErrorKind::InvalidArgument,
        format!("{uri:?} is not the location of a table: {why}"),
    )
}
