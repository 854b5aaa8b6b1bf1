//! A local file system that opens no file outside of the table's folder and the folders that the user
//! allowed.
//!
//! Symbolic links are resolved. Both the name and the opened file are checked: the name before, so that
//! opening a pipe does not block, and the opened file before a byte is read, so that a concurrently changed
//! link has no effect. For writes only the name of the folder can be checked.

use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use tokio::runtime::Handle;

use super::local_listing::list_local;
use crate::links::{
    PathKind, has_possible_time, is_link, path_kind, place_of_opened, real_path, remove_empty_above,
};
use crate::refused::Refused;
use std::fmt;

/// The table's folder and those that the user allowed.
#[derive(Debug)]
struct Folders {
    root: PathBuf,
    allowed: Vec<PathBuf>,
    /// Whether the table's folder did not exist initially; then it may be deleted when it is empty.
    is_new: bool,
    /// Their canonical paths at the first lookup.
    real: OnceLock<Vec<PathBuf>>,
}

impl Folders {
    fn really_are(&self) -> Vec<PathBuf> {
        let named = std::iter::once(&self.root).chain(&self.allowed);
        named.filter_map(|folder| real_path(folder)).collect()
    }

    /// Whether a canonical path is in one of them.
    fn hold(&self, real: &FilePath) -> bool {
        let known = self.real.get_or_init(|| self.really_are());
        // Since the first lookup, the folder may have been created or, if it is a link, changed.
        known.iter().any(|folder| real.starts_with(folder))
            || self.really_are().iter().any(|folder| real.starts_with(folder))
    }

    /// Whether a folder between one of them and a file is a symbolic link.
    fn reach_through_link(&self, file: &FilePath) -> bool {
        let is_named =
            |folder: &FilePath| self.root == folder || self.allowed.iter().any(|one| one == folder);
        let mut between = file.ancestors().skip(1).take_while(|folder| !is_named(folder));
        between.any(is_link)
    }

    fn ensure_held(&self, real: &FilePath) -> Result<()> {
        if self.hold(real) {
            Ok(())
        } else {
            Err(Refused::Outside.into())
        }
    }

    /// Verifies that a folder, or its nearest existing parent, is in one of them. Parents of the root are accepted.
    fn ensure_folder(&self, folder: &FilePath) -> Result<()> {
        let below_root = folder
            .ancestors()
            .take_while(|above| above.starts_with(&self.root));
        match below_root.filter_map(real_path).next() {
            Some(real) => self.ensure_held(&real),
            None => Ok(()),
        }
    }
}

/// The confined file system.
#[derive(Clone, Debug)]
pub(super) struct Confined {
    files: Arc<LocalFileSystem>,
    folders: Arc<Folders>,
}

impl Confined {
    pub(super) fn new(files: LocalFileSystem, root: PathBuf, allowed: Vec<PathBuf>) -> Self {
        Self {
            files: Arc::new(files),
            folders: Arc::new(Folders {
                is_new: path_kind(&root) == PathKind::Nothing,
                root,
                allowed,
                real: OnceLock::new(),
            }),
        }
    }

    /// Verifies by name only that a file may be opened.
    fn ensure_readable(&self, path: &Path) -> Result<()> {
        let file = self.files.path_to_filesystem(path)?;
        let kind = path_kind(&file);
        let is_linked = kind == PathKind::Link || self.folders.reach_through_link(&file);
        let real = if is_linked { real_path(&file) } else { None };
        if let Some(real) = &real {
            self.folders.ensure_held(real)?;
        }
        match real.map_or(kind, |real| path_kind(&real)) {
            PathKind::Folder | PathKind::Other => Err(Refused::NoRegularFile.into()),
            PathKind::File | PathKind::Link if !has_possible_time(&file) => {
                Err(Refused::ImpossibleTime.into())
            }
            PathKind::File | PathKind::Link | PathKind::Nothing => Ok(()),
        }
    }

    /// Verifies that a file may be written.
    fn ensure_writable(&self, path: &Path) -> Result<()> {
        let file = self.files.path_to_filesystem(path)?;
        file.parent()
            .map_or(Ok(()), |folder| self.folders.ensure_folder(folder))
    }

    /// Verifies that a folder may be listed. A missing folder is empty.
    fn ensure_listable(&self, prefix: Option<&Path>) -> Result<()> {
        let Some(prefix) = prefix.filter(|prefix| !prefix.as_ref().is_empty()) else {
            return Ok(());
        };
        let folder = FilePath::new("/").join(prefix.as_ref());
        real_path(&folder).map_or(Ok(()), |real| self.folders.ensure_held(&real))
    }
}

impl fmt::Display for Confined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.folders.root.display())
    }
}

#[async_trait]
impl ObjectStore for Confined {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.ensure_writable(path)?;
        self.files.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.ensure_writable(path)?;
        self.files.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.ensure_readable(path)?;
        let got = self.files.get_opts(path, options).await?;
        if let GetResultPayload::File(opened, path) = &got.payload
            && let Some(real) = place_of_opened(opened, path)
        {
            self.folders.ensure_held(&real)?;
        }
        Ok(got)
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let confined = self.clone();
        let paths = paths.and_then(move |path| {
            let writable = confined.ensure_writable(&path).map(|()| path);
            async move { writable }
        });
        let root = Arc::clone(&self.folders);
        let deleted = self.files.delete_stream(paths.boxed());
        deleted
            .inspect_ok(move |path| {
                let file = FilePath::new("/").join(path.as_ref());
                remove_empty_above(&file, &root.root, root.is_new);
            })
            .boxed()
    }

    /// Does not follow links to folders: the walk could leave the table or never end.
    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let confined = self.clone();
        let folders = vec![prefix.cloned().unwrap_or_default()];
        stream::try_unfold(folders, move |mut folders| {
            let confined = confined.clone();
            async move {
                let Some(folder) = folders.pop() else {
                    return Ok::<_, Error>(None);
                };
                let listed = confined.list_with_delimiter(Some(&folder)).await?;
                let real = |folder: &Path| !is_link(&FilePath::new("/").join(folder.as_ref()));
                folders.extend(listed.common_prefixes.into_iter().filter(real));
                Ok(Some((stream::iter(listed.objects).map(Ok), folders)))
            }
        })
        .try_flatten()
        .boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.ensure_listable(prefix)?;
        let prefix = prefix.cloned().unwrap_or_default();
        match Handle::try_current() {
            Ok(runtime) => runtime.spawn_blocking(move || list_local(&prefix)).await?,
            Err(_) => list_local(&prefix),
        }
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.ensure_writable(from)?;
        self.ensure_readable(from)?;
        self.ensure_writable(to)?;
        self.files.copy_opts(from, to, options).await
    }
}
