//! The files in `_delta_log`: those of the log, and all others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deltaic_protocol::log_path::{
    CheckpointFormat, LAST_CHECKPOINT, LOG_FOLDER, LogFileKind, LogPath, STAGED_COMMITS,
};
use deltaic_protocol::{Error, Result, Version};
use object_store::ObjectMeta;

use crate::check::findings::diagnosis::{
    FOLDER_AS_COMMIT, INCOMPLETE_CHECKPOINT, NEARLY_RIGHT_NAME, NO_REGULAR_FILE, ORPHANED_SIDECAR,
    STAGED_COMMIT, TEMPORARY_FILE, UNREADABLE_FILE,
};
use crate::check::findings::finding::{Finding, Findings};
use crate::check::findings::severity::Severity;
use crate::listing::{Listing, LogFile, list_folder};
use crate::segment::{newest_version, not_a_table};
use deltaic_storage::location::TableLocation;
use deltaic_storage::{is_not_a_folder, store_error};

/// The folder of the sidecars, relative to the log's folder.
const SIDECARS: &str = "_sidecars";

/// The log's folder as the store lists it.
pub(in crate::check) struct LogFolder {
    /// The files whose names the protocol defines.
    pub(in crate::check) listing: Listing,
    /// The names in `_sidecars`.
    pub(in crate::check) sidecars: BTreeSet<String>,
    /// The names in `_staged_commits`.
    staged: BTreeSet<String>,
    /// Names of other files.
    others: Vec<String>,
    /// Versions whose commit is a folder.
    folders: Vec<Version>,
    /// Folders, pipes and dangling links with the name of another file of the log.
    no_files: Vec<(String, Version)>,
    /// Errors of folders of the log that cannot be listed.
    unlisted: Vec<Error>,
}

impl LogFolder {
    /// Lists the folder. Fails if there is no table, or if the store cannot be listed.
    pub(in crate::check) async fn list(location: &TableLocation) -> Result<Self> {
        let folder = location.below(LOG_FOLDER)?;
        let listed = match list_folder(location, &folder).await {
            Ok(listed) => listed,
            Err(error) if is_not_a_folder(&error) => {
                return Err(not_a_table(&Listing::default(), location.uri()));
            }
            Err(error) => return Err(store_error(&error, LOG_FOLDER)),
        };
        let mut found = Self {
            listing: Listing {
                any: !listed.objects.is_empty() || !listed.common_prefixes.is_empty(),
                files: Vec::new(),
            },
            sidecars: BTreeSet::new(),
            staged: BTreeSet::new(),
            others: Vec::new(),
            folders: Vec::new(),
            no_files: Vec::new(),
            unlisted: Vec::new(),
        };
        for object in &listed.objects {
            found.take(location, object);
        }
        found
            .listing
            .files
            .sort_by(|left, right| left.path.cmp(&right.path));
        for prefix in &listed.common_prefixes {
            match prefix.filename() {
                Some(name @ (SIDECARS | STAGED_COMMITS)) => match names_below(location, name).await {
                    Ok(names) if name == SIDECARS => found.sidecars = names,
                    Ok(names) => found.staged = names,
                    Err(error) => found.unlisted.push(error),
                },
                Some(name) => {
                    if let Some(path) = LogPath::parse(name) {
                        found.take_no_file(name, &path);
                    }
                }
                None => {}
            }
        }
        if newest_version(&found.listing).is_none() && found.folders.is_empty() {
            return Err(not_a_table(&found.listing, location.uri()));
        }
        Ok(found)
    }

    fn take(&mut self, location: &TableLocation, object: &ObjectMeta) {
        let Some(name) = object.location.filename() else {
            return;
        };
        // A pipe or a device has size 0 and is not a log file; under the name of a commit it is an
        // error like a folder.
        if object.size == 0 && location.is_not_regular_file(&object.location) {
            if let Some(path) = LogPath::parse(name) {
                self.take_no_file(name, &path);
            }
            return;
        }
        match LogPath::parse(name) {
            Some(path) => self.listing.files.push(Arc::new(LogFile {
                path,
                name: name.to_owned(),
                size: object.size,
                modified_ms: object.last_modified.timestamp_millis(),
                e_tag: object.e_tag.clone(),
            })),
            None => self.others.push(name.to_owned()),
        }
    }

    fn take_no_file(&mut self, name: &str, path: &LogPath) {
        if path.kind == LogFileKind::Commit {
            self.folders.push(path.version);
        } else {
            self.no_files.push((name.to_owned(), path.version));
        }
    }

    /// Reports findings that the names alone show.
    pub(in crate::check) fn examine(&self, findings: &mut Findings) {
        for version in &self.folders {
            findings.add(
                Finding::new(
                    &FOLDER_AS_COMMIT,
                    "there is no regular file at the path of a commit",
                )
                .at(LogPath::commit(*version))
                .of_version(*version),
            );
        }
        for error in &self.unlisted {
            findings.add(Finding::of(&UNREADABLE_FILE, error));
        }
        for (name, version) in &self.no_files {
            let message = "there is no regular file with this name";
            let finding = Finding::new(&NO_REGULAR_FILE, message).at(format!("{LOG_FOLDER}/{name}"));
            findings.add(finding.of_version(*version));
        }
        for name in &self.others {
            if let Some(finding) = classify_name(name) {
                findings.add(finding.at(format!("{LOG_FOLDER}/{name}")));
            }
        }
        self.examine_parts(findings);
        self.examine_staged(findings);
    }

    /// Reports multi-part checkpoints with missing parts.
    fn examine_parts(&self, findings: &mut Findings) {
        let mut sets: BTreeMap<(Version, u32), Vec<&Arc<LogFile>>> = BTreeMap::new();
        for file in &self.listing.files {
            if let LogFileKind::MultiPartCheckpoint { parts, .. } = file.path.kind {
                sets.entry((file.path.version, parts)).or_default().push(file);
            }
        }
        for ((version, parts), files) in sets {
            if u32::try_from(files.len()) == Ok(parts) {
                continue;
            }
            let first = files.first().map(|file| file.relative()).unwrap_or_default();
            let what = format!("the checkpoint has {parts} parts, but only {} exist", files.len());
            findings.add(
                Finding::new(&INCOMPLETE_CHECKPOINT, what)
                    .at(first)
                    .of_version(version),
            );
        }
    }

    fn examine_staged(&self, findings: &mut Findings) {
        let commits: BTreeSet<Version> = self.listing.commits().map(|file| file.path.version).collect();
        for name in &self.staged {
            let version = name.split_once('.').and_then(|(stem, _)| {
                let path = LogPath::parse(&format!("{stem}.json"))?;
                Some(path.version)
            });
            let published = version.is_some_and(|version| commits.contains(&version));
            let what = if published {
                "a staged commit of a published version was not deleted"
            } else {
                "a staged commit is not published"
            };
            let mut finding =
                Finding::new(&STAGED_COMMIT, what).at(format!("{LOG_FOLDER}/{STAGED_COMMITS}/{name}"));
            finding.version = version.map(Version::as_i64);
            findings.add(finding);
        }
    }

    /// Reports sidecars that no checkpoint refers to.
    pub(in crate::check) fn examine_sidecars(&self, named: &BTreeSet<String>, findings: &mut Findings) {
        for name in self.sidecars.difference(named) {
            findings.add(
                Finding::new(&ORPHANED_SIDECAR, "no checkpoint refers to the sidecar")
                    .at(format!("{LOG_FOLDER}/{SIDECARS}/{name}")),
            );
        }
    }
}

async fn names_below(location: &TableLocation, below: &str) -> Result<BTreeSet<String>> {
    let relative = format!("{LOG_FOLDER}/{below}");
    let folder = location.below(&relative)?;
    let listed = location.store().list_with_delimiter(Some(&folder)).await;
    let listed = listed.map_err(|error| store_error(&error, &relative))?;
    let names = listed
        .objects
        .iter()
        .filter_map(|object| object.location.filename());
    Ok(names
        // Hadoop's local file system stores a hidden checksum file next to each file.
        .filter(|name| !name.starts_with('.'))
        .map(str::to_owned)
        .collect())
}

/// Returns the finding for a name that the protocol does not define; `None` if the name is harmless.
fn classify_name(name: &str) -> Option<Finding> {
    // Some file systems store checksums in hidden files.
    if name == LAST_CHECKPOINT || (name.starts_with('.') && name.ends_with(".crc")) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let is_temporary = lower.ends_with(".tmp")
        || lower.contains(".tmp.")
        || lower.starts_with('.') && lower.contains(".json.")
        || lower.starts_with("_commit_") && lower.contains(".tmp");
    if is_temporary {
        return Some(Finding::new(&TEMPORARY_FILE, "a temporary file of a writer"));
    }
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let ending = [".json", ".crc", ".parquet"]
        .iter()
        .any(|end| lower.ends_with(end));
    let is_near = ending && digits > 0 || LogPath::parse(&lower).is_some();
    let is_hint = name != LAST_CHECKPOINT && lower.trim_start_matches('_') == "last_checkpoint";
    (is_near || is_hint).then(|| {
        Finding::new(&NEARLY_RIGHT_NAME, "the name resembles that of a log file")
            .with_severity(Severity::Warning)
    })
}

/// Whether a checkpoint's file is a V2 top-level file in JSON.
pub(super) fn is_json_checkpoint(file: &LogFile) -> bool {
    matches!(
        file.path.kind,
        LogFileKind::UuidCheckpoint {
            format: CheckpointFormat::Json,
            ..
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_reported_apart() {
        let code = |name: &str| classify_name(name).map(|finding| finding.diagnosis.code);
        for name in [
            "1.json",
            "0000000000000000001.json",
            "00000000000000000001.JSON",
            "00000000000000000001.checkpoint.1.3.parquet",
            "99999999999999999999.json",
            "00000000000000000001.checkpoint.not-a-uuid.parquet",
            "last_checkpoint",
        ] {
            assert_eq!(code(name), Some("NEARLY_RIGHT_NAME"), "{name}");
        }
        for name in [
            "00000000000000000001.json.tmp",
            ".00000000000000000001.json.3f.tmp",
            "_commit_1.json.tmp",
        ] {
            assert_eq!(code(name), Some("TEMPORARY_FILE"), "{name}");
        }
        for name in [
            "_last_checkpoint",
            ".00000000000000000001.json.crc",
            "._last_checkpoint.crc",
            "README.md",
        ] {
            assert_eq!(code(name), None, "{name}");
        }
    }
}
