//! Where a table is: a store, and the path of the table's root on it.

mod confined;
mod connect;
mod environment;
mod hadoop;
mod names;
mod options;
mod per_process;
mod remote_store;
mod shared;
mod uri;

use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use deltaic_protocol::partition::decode_path;
use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::ObjectStore;
use object_store::client::HttpConnector;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use url::Url;

use self::confined::Confined;
pub(crate) use self::confined::Refused;
pub use self::options::StorageOptions;
use self::shared::Shared;
use self::uri::Place;
use crate::links::{is_no_regular_file, leads_out_of};
use crate::whole_body::read_file;

/// The table's place. It holds no state of the table and is cheap to clone behind an `Arc`.
#[derive(Debug, Clone)]
pub struct TableLocation {
    uri: String,
    store: Arc<dyn ObjectStore>,
    root: Path,
    file_system: Option<PathBuf>,
    allowed_roots: Vec<String>,
    remote: Option<Remote>,
}

/// What a table on a store that answers over a network has besides.
#[derive(Debug, Clone)]
struct Remote {
    place: Place,
    options: StorageOptions,
    proven: Arc<AtomicBool>,
}

/// `memory://` is one store a process.
static MEMORY: LazyLock<Arc<InMemory>> = LazyLock::new(|| Arc::new(InMemory::new()));

/// The scheme of a store that a text begins with although it is no URI of it: `s3:/bucket/table`.
fn meant_as_store(uri: &str) -> Option<&str> {
    const STORES: [&str; 14] = [
        "s3", "s3a", "s3n", "az", "abfs", "abfss", "adl", "wasb", "wasbs", "gs", "gcs", "hdfs", "dbfs",
        "memory",
    ];
    let (scheme, rest) = uri.split_once(':')?;
    let is_store = STORES.iter().any(|store| scheme.eq_ignore_ascii_case(store));
    (is_store && !rest.starts_with("//")).then_some(scheme)
}

impl TableLocation {
    /// Understands a path or URI without options. Nothing is read.
    ///
    /// ```
    /// use deltaic_log::TableLocation;
    ///
    /// let table = TableLocation::parse("/data/my table", Vec::new())?;
    /// assert_eq!(table.uri(), "file:///data/my%20table/");
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn parse(uri: &str, allowed_roots: Vec<String>) -> Result<Self> {
        Self::with_options(uri, StorageOptions::default(), allowed_roots)
    }

    /// Understands a path or URI: a local path, `file://`, `memory://`, `s3://`, `s3a://`, `az://`, `abfs://`,
    /// `abfss://` or `gs://`. Nothing is read or sent.
    ///
    /// A URI or option that is not known, or that contradicts another, is `InvalidArgument`; another scheme is an
    /// `UnsupportedFeature`.
    pub fn with_options(uri: &str, options: StorageOptions, allowed_roots: Vec<String>) -> Result<Self> {
        if allowed_roots.iter().any(String::is_empty) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "an allowed root is empty: it would allow every place",
            ));
        }
        if uri.is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the table's path is empty",
            ));
        }
        if let Some(place) = Place::parse(uri) {
            return Self::remote(place?, options, allowed_roots);
        }
        if let Some(name) = options.as_map().keys().next() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("the storage option {name:?} is not known: local tables and memory:// have none"),
            )
            .hint("leave storage_options out"));
        }
        if let Some(meant) = meant_as_store(uri) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the table's place names a store and is no URI",
            )
            .with("table", without_secrets(uri))
            .hint(format!(
                "did you mean {meant}://…? A folder of that name is ./{meant}:…"
            )));
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
                    return Err(invalid(uri, "a table in memory has no user"));
                }
                let root = Path::parse(name.trim_matches('/'))
                    .map_err(|_| invalid(uri, "it holds an empty part"))?;
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
            Some((scheme, _)) => Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!("tables on {scheme}:// are not implemented yet"),
            )
            .with("feature", format!("{scheme}://"))
            .hint("local paths, file://, memory://, s3://, s3a://, az://, abfs://, abfss:// and gs:// work today")),
        }
    }

    /// A table on a store of the caller's, for tests.
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

    /// The same table, its store asked through another that is made from it.
    #[must_use]
    pub fn through(self, front: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>) -> Self {
        Self {
            store: front(self.store),
            ..self
        }
    }

    /// A table on a store that answers over a network, with the settings that [`TableLocation::with_options`] makes of
    /// its options, where a connector of the caller's takes the requests in the network's stead; for tests.
    pub fn on_network(uri: &str, options: StorageOptions, network: Arc<dyn HttpConnector>) -> Result<Self> {
        let place = Place::parse(uri).ok_or_else(|| invalid(uri, "no store over a network has it"))??;
        let settings = options::settings(&place, &options, environment::variables(place.service))?;
        let shared = Shared::try_new(&place, &settings, Some(network))?;
        Ok(Self::on_shared(place, shared, options, Vec::new()))
    }

    fn remote(place: Place, options: StorageOptions, allowed_roots: Vec<String>) -> Result<Self> {
        let settings = options::settings(&place, &options, environment::variables(place.service))?;
        let shared = shared::store(&place, settings)?;
        Ok(Self::on_shared(place, shared, options, allowed_roots))
    }

    fn on_shared(place: Place, shared: Shared, options: StorageOptions, allowed_roots: Vec<String>) -> Self {
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
        // Acknowledged data must survive a power cut, so files are on disk before a commit names them. A failed append
        // takes its files away again, and the folders that it made for them.
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

    /// The table's root as a URI that ends with a slash; never a secret.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
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

    /// The options as they were given, which another process needs to reach the table; what the environment said is
    /// not among them. They hold secrets.
    #[must_use]
    pub fn options(&self) -> StorageOptions {
        self.remote
            .as_ref()
            .map(|remote| remote.options.clone())
            .unwrap_or_default()
    }

    /// Whether the store has shown that it keeps the promise of put-if-absent; none where there is nothing to doubt.
    pub(crate) fn proven(&self) -> Option<&AtomicBool> {
        self.remote.as_ref().map(|remote| remote.proven.as_ref())
    }

    /// The table's folder, where it is a local one.
    #[must_use]
    pub fn file_system(&self) -> Option<&FilePath> {
        self.file_system.as_deref()
    }

    /// A folder below the root, as a table's place of its own.
    pub(crate) fn folder(&self, name: &str) -> Result<Self> {
        Ok(Self {
            uri: format!("{}{name}/", self.uri),
            root: self.below(name)?,
            file_system: self.file_system.as_ref().map(|folder| folder.join(name)),
            ..self.clone()
        })
    }

    /// A path of the table's own making below its root, not URI-encoded.
    pub fn below(&self, relative: &str) -> Result<Path> {
        let joined = if self.root.as_ref().is_empty() {
            relative.to_owned()
        } else {
            format!("{}/{relative}", self.root)
        };
        Path::parse(&joined).map_err(|_| {
            Error::new(
                ErrorKind::CorruptLog,
                "no file can be at this path: a part of it is empty, or dots, or holds a control character",
            )
            .with("path", without_secrets(relative))
            .hint("restore the commit that names the path from a backup of the table")
        })
    }

    /// The place on the store of a path out of the log, which is about to be opened.
    ///
    /// A relative path is decoded once and must stay below the root; an absolute one must lie below the root or
    /// below a root that the user allowed. Else it is a `PathEscape`.
    ///
    /// Protocol: *Add File and Remove File*.
    pub fn resolve(&self, log_path: &str) -> Result<Path> {
        let escape = |why: &str| {
            Error::new(
                ErrorKind::PathEscape,
                format!("a path of the log leaves the table's folder: {why}"),
            )
            .with("path", without_secrets(log_path))
            .hint("if the table is a shallow clone and you trust it, name the folder in allowed_roots")
        };
        if let Some((scheme, rest)) = split_scheme(log_path) {
            if scheme.eq_ignore_ascii_case("file") && self.file_system.is_some() {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                return self
                    .resolve_absolute(&decode_path(path)?)
                    .ok_or_else(|| escape("it is absolute"));
            }
            let Some(remote) = &self.remote else {
                return Err(escape("it names another store"));
            };
            return match Place::parse(log_path) {
                Some(Ok(place)) if place.is_beside(&remote.place) => {
                    let allowed = is_below(&place.root, &self.root) || self.allows(&place);
                    if allowed {
                        Ok(place.root)
                    } else {
                        Err(escape("it is absolute"))
                    }
                }
                _ => Err(escape("it names another store")),
            };
        }
        let decoded = decode_path(log_path)?;
        if decoded.starts_with('/') {
            return self
                .resolve_absolute(&decoded)
                .ok_or_else(|| escape("it is absolute"));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in decoded.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or_else(|| {
                        escape("it climbs out with ..")
                            .hint("no root allows this: restore the commit that names the path from a backup of the table")
                    })?;
                }
                other => parts.push(other),
            }
        }
        if parts.is_empty() {
            return Err(escape("it names no file")
                .hint("restore the commit that names the path from a backup of the table"));
        }
        self.below(&parts.join("/"))
    }

    /// Whether a place on the same store lies below a root that the user allowed.
    fn allows(&self, place: &Place) -> bool {
        self.allowed_roots
            .iter()
            .filter_map(|allowed| Place::parse(allowed)?.ok())
            .any(|allowed| place.is_beside(&allowed) && is_below(&place.root, &allowed.root))
    }

    /// Whether something stands at the place that is no regular file: a pipe would never end. Only a local table can tell.
    pub(crate) fn is_no_regular_file(&self, path: &Path) -> bool {
        self.file_system.is_some() && is_no_regular_file(&FilePath::new("/").join(path.as_ref()))
    }

    /// Proves that a resolved path is a regular file and does not lead out of the table by a symbolic link.
    pub fn check_links(&self, log_path: &str, path: &Path) -> Result<()> {
        let Some(root) = &self.file_system else {
            return Ok(());
        };
        let file = FilePath::new("/").join(path.as_ref());
        let mut folders = vec![root.clone()];
        folders.extend(self.allowed_roots.iter().map(|allowed| allowed_folder(allowed)));
        if self.is_no_regular_file(path) {
            return Err(Error::new(
                ErrorKind::CorruptData,
                "what stands at a data file's place is no regular file",
            )
            .with("path", log_path)
            .hint("restore the file from a backup of the table"));
        }
        match leads_out_of(&file, &folders) {
            None => Ok(()),
            Some(_) => Err(Error::new(
                ErrorKind::PathEscape,
                "a file of the table is a symbolic link that leaves the table's folder",
            )
            .with("path", log_path)
            .hint("if you trust where it leads, name that folder in allowed_roots")),
        }
    }

    fn resolve_absolute(&self, absolute: &str) -> Option<Path> {
        let root = self.file_system.as_deref()?;
        let wanted = without_dots(FilePath::new(absolute));
        let allowed = (wanted.starts_with(root) && wanted != root)
            || self
                .allowed_roots
                .iter()
                .any(|allowed| wanted.starts_with(allowed_folder(allowed)));
        if allowed {
            Path::from_absolute_path(&wanted).ok()
        } else {
            None
        }
    }

    /// Reads a whole file of the table's own naming.
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
        format!("{uri:?} is not the place of a table: {why}"),
    )
}

/// Whether a path lies in a folder, part for part.
fn is_below(path: &Path, folder: &Path) -> bool {
    path.prefix_matches(folder) && path != folder
}

/// The folder that an allowed root names: as a path, or as a `file:` URI like a table's own.
fn allowed_folder(allowed: &str) -> PathBuf {
    let of_uri = split_scheme(allowed)
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file"))
        .and_then(|_| Url::parse(allowed).ok()?.to_file_path().ok());
    let folder = of_uri.unwrap_or_else(|| PathBuf::from(allowed));
    without_dots(&std::path::absolute(&folder).unwrap_or(folder))
}

fn split_scheme(path: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = path.split_once(':')?;
    // `time=03:06/x` is relative: a scheme is letters and digits, and a slash follows it.
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && rest.starts_with('/');
    is_scheme.then_some((scheme, rest))
}

/// A foreign URI without what may be secret in it: the query, and whoever signs in.
#[must_use]
pub fn without_secrets(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    match path.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, below) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}/{below}")
        }
        None => path.to_owned(),
    }
}

fn without_dots(path: &FilePath) -> PathBuf {
    use std::path::Component;
    let mut kept = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_cannot_be_tells_no_query() -> Result<()> {
        let table = TableLocation::parse("/data/t", Vec::new())?;
        for path in ["a\0b?sig=Signature", "a%FF?sig=Signature"] {
            let error = table.resolve(path).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::CorruptLog),
                "{path}"
            );
            assert!(
                !error.is_some_and(|error| format!("{error:?}").contains("Signature")),
                "{path}"
            );
        }
        Ok(())
    }

    #[test]
    fn paths_of_the_log_stay_below_the_root() -> Result<()> {
        let table = TableLocation::parse("/data/my table", vec!["/shared/clones".to_owned()])?;
        assert_eq!(table.uri(), "file:///data/my%20table/");
        for (path, expected) in [
            ("a.parquet", "data/my table/a.parquet"),
            ("s=a%252Fb/x%20y.parquet", "data/my table/s=a%2Fb/x y.parquet"),
            ("./a//b/../c.parquet", "data/my table/a/c.parquet"),
            ("time=03:06/x.parquet", "data/my table/time=03:06/x.parquet"),
            ("/data/my%20table/a.parquet", "data/my table/a.parquet"),
            ("file:///data/my%20table/a.parquet", "data/my table/a.parquet"),
            ("file:/shared/clones/a.parquet", "shared/clones/a.parquet"),
        ] {
            assert_eq!(table.resolve(path)?.as_ref(), expected, "{path}");
        }
        for path in [
            "../a.parquet",
            "a/../../b.parquet",
            "%2e%2e/a.parquet",
            "/etc/passwd",
            "/data/my%20table/../x",
            "/data/my%20tables/x",
            "/data/my%20table",
            "file:///data/my%20table/",
            "file:///etc/passwd",
            "s3://bucket/key?X-Amz-Signature=abc",
            "https://user:Signature@host/x",
            "http://host/x",
            "",
            "a/..",
        ] {
            let error = table.resolve(path).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::PathEscape),
                "{path}"
            );
            assert!(
                !error.is_some_and(|error| error.to_string().contains("Signature")),
                "{path}"
            );
        }
        Ok(())
    }
}
