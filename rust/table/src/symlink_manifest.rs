//! Writes symlink manifests, by which engines without Delta support find the files of a table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::partition::{folder, values_of_row};
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::store_error;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

/// The folder of the manifests, below the root of the table.
const FOLDER: &str = "_symlink_format_manifest";

/// The number of manifests that are written or deleted concurrently in a network store.
const IN_FLIGHT: usize = 16;

/// The manifests of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifests {
    /// The written manifests, relative to the root of the table.
    pub written: Vec<String>,
    /// Manifests of partitions without files, which were deleted.
    pub deleted: Vec<String>,
}

/// Writes a manifest for each partition that has files, or one for a table without partitions: the absolute URIs of its
/// files, a line each. Then deletes manifests of other partitions. With `dry_run`, changes nothing.
///
/// Must be called inside a runtime.
///
/// # Errors
///
/// `UnsupportedFeature` for a table with deletion vectors or column mapping, which readers of manifests ignore, and for
/// a path with a line break; `PathEscape` for a file outside of the table and of the allowed folders; errors of the
/// store.
pub async fn write_manifests(snapshot: &Snapshot, dry_run: bool) -> Result<Manifests> {
    let located = |error: Error| {
        error
            .with("table", snapshot.location().uri())
            .with("version", snapshot.version())
    };
    let contents = contents(snapshot).await.map_err(located)?;
    let location = snapshot.location();
    let written: Vec<String> = contents.keys().cloned().collect();
    let deleted = stale(location, &contents).await.map_err(located)?;
    if !dry_run {
        let at_once = location.at_once(IN_FLIGHT);
        let puts = contents.into_iter().map(|(manifest, text)| {
            let location = Arc::clone(location);
            async move {
                let put = location
                    .store()
                    .put(&location.below(&manifest)?, text.into())
                    .await;
                put.map(drop).map_err(|error| store_error(&error, &manifest))
            }
        });
        let puts = futures::stream::iter(puts).buffer_unordered(at_once);
        puts.try_collect::<()>().await.map_err(located)?;
        // Only then: a partition always has one of its manifests.
        let deletes = deleted.clone().into_iter().map(|manifest| {
            let location = Arc::clone(location);
            async move {
                match location.store().delete(&location.below(&manifest)?).await {
                    Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                    Err(error) => Err(store_error(&error, &manifest)),
                }
            }
        });
        let deletes = futures::stream::iter(deletes).buffer_unordered(at_once);
        deletes.try_collect::<()>().await.map_err(located)?;
    }
    Ok(Manifests { written, deleted })
}

/// Returns the text of each manifest, by its path relative to the root.
async fn contents(snapshot: &Snapshot) -> Result<BTreeMap<String, String>> {
    if snapshot.column_mapping() != ColumnMappingMode::None {
        return Err(unsupported("columnMapping", "column mapping")
            .hint("these readers find columns by their names in the schema, which data files do not have"));
    }
    let location = snapshot.location();
    let columns = &snapshot.metadata().partition_columns;
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    if columns.is_empty() {
        files.insert(manifest_of(""), BTreeSet::new());
    }
    let (live, _) = snapshot.files(None).await?;
    for batch in &live.batches {
        for row in 0..batch.len() {
            let path = batch.adds.path.value(row);
            if batch.adds.descriptor(row).is_some() {
                return Err(unsupported("deletionVectors", "deletion vectors")
                    .with("path", path)
                    .hint("these readers would return deleted rows: rewrite the files with deletion vectors first"));
            }
            let values = values_of_row(&batch.adds.partition_values, row);
            let of_column = |name| {
                let value = values.get(name).and_then(Option::as_deref);
                // As in Spark, empty text is NULL.
                value.filter(|value| !value.is_empty())
            };
            let folder = folder(columns.iter().map(|name| (name.as_str(), of_column(name))));
            let uri = uri_of(location, path)?;
            files.entry(manifest_of(&folder)).or_default().insert(uri);
        }
    }
    let lines = |uris: BTreeSet<String>| uris.into_iter().map(|uri| uri + "\n").collect();
    Ok(files
        .into_iter()
        .map(|(manifest, uris)| (manifest, lines(uris)))
        .collect())
}

fn manifest_of(folder: &str) -> String {
    match folder {
        "" => format!("{FOLDER}/manifest"),
        folder => format!("{FOLDER}/{folder}/manifest"),
    }
}

/// Returns the URI of a file, as readers of manifests expect it: with the path as the store has it, not URI-encoded.
fn uri_of(location: &TableLocation, path: &str) -> Result<String> {
    let place = location.resolve(path)?;
    let (scheme, rest) = location.uri().split_once("://").unwrap_or(("file", ""));
    let authority = rest.split('/').next().unwrap_or_default();
    let uri = format!("{scheme}://{authority}/{place}");
    match uri.contains(['\n', '\r']) {
        false => Ok(uri),
        true => Err(Error::new(
            ErrorKind::UnsupportedFeature,
            "the path of a file contains a line break, which a manifest cannot represent",
        )
        .with("path", path)),
    }
}

/// Returns the existing manifests that are not written.
async fn stale(location: &TableLocation, written: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let folder = location.below(FOLDER)?;
    let mut found = Vec::new();
    let mut objects = location.store().list(Some(&folder));
    while let Some(object) = objects.next().await {
        let object = object.map_err(|error| store_error(&error, FOLDER))?;
        let relative = relative_to(location.root(), &object.location);
        if object.location.filename() == Some("manifest")
            && let Some(relative) = relative.filter(|path| !written.contains_key(path))
        {
            found.push(relative);
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn relative_to(root: &Path, path: &Path) -> Option<String> {
    let parts: Vec<String> = path
        .prefix_match(root)?
        .map(|part| part.as_ref().to_owned())
        .collect();
    Some(parts.join("/"))
}

fn unsupported(feature: &'static str, what: &str) -> Error {
    Error::new(
        ErrorKind::UnsupportedFeature,
        format!("the table has {what}, so symlink manifests cannot represent it"),
    )
    .with("feature", feature)
}
