//! What each version of a range changed: the files that came and went, and those that hold the changed rows.
//!
//! Protocol: *Change Data Files*, *Reader Requirements for AddCDCFile*.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use deltaic_protocol::actions::{
    ActionLine, Cdc, LogicalFileKey, Metadata, PartitionText, Protocol, parse_line,
};
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::deletion_vector::Descriptor;
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use futures::{StreamExt, TryStreamExt};

use crate::decode::action_text::{ActionText, Line};
use crate::history::{
    adjusted_file_times, in_commit_timestamp, in_commit_timestamps, is_in_commit, read_table_state,
};
use crate::listing::{Listing, LogFile};
use crate::location::TableLocation;
use crate::segment::{newest_version, not_a_table, version_not_found};
use crate::snapshot::{Files, LoadOptions, Snapshot};
use crate::store_error::store_error;

/// How many commits are read side by side.
const COMMITS_IN_FLIGHT: usize = 16;

/// Partition values as the log has them, by the log's names.
pub type PartitionValues = BTreeMap<String, Option<String>>;

/// A file that came or went with its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// As the log has it.
    pub path: String,
    /// The partition values.
    pub partition_values: PartitionValues,
    /// Bytes, where the log says.
    pub size: Option<i64>,
    /// The rows that the file has no more.
    pub deletion_vector: Option<Descriptor>,
    /// The row id of its first row.
    pub base_row_id: Option<i64>,
    /// The version that brought it.
    pub default_row_commit_version: Option<i64>,
    /// What was live at its path before the commit and after it, where that was asked for.
    pub standing: Option<Standing>,
}

/// What is live at a path before and after a commit; none where nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Before.
    pub before: Option<Live>,
    /// After.
    pub after: Option<Live>,
}

/// A live file by its deletion vector.
pub type Live = Option<Descriptor>;

/// What one version changed.
#[derive(Clone, Debug)]
pub struct CommitChanges {
    /// The version.
    pub version: Version,
    /// When it was committed, in milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// Files that came with rows that are new to the table.
    pub adds: Vec<ChangedFile>,
    /// Files that went with rows that the table has no more.
    pub removes: Vec<ChangedFile>,
    /// Files of the changed rows, which stand for all that the version changed.
    pub cdc: Vec<Cdc>,
    /// What the table was before, which files that went were written for.
    pub before: TableForm,
    /// What the table is as of the version.
    pub after: TableForm,
}

/// What a table says about itself.
#[derive(Clone, Debug)]
pub struct TableForm {
    /// The protocol.
    pub protocol: Arc<Protocol>,
    /// The metadata.
    pub metadata: Arc<Metadata>,
}

impl TableForm {
    /// Whether both are the same one.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.protocol, &other.protocol) && Arc::ptr_eq(&self.metadata, &other.metadata)
    }
}

/// What the versions of a range changed.
#[derive(Clone, Debug)]
pub struct ChangeLog {
    /// The versions, the oldest first.
    pub commits: Vec<CommitChanges>,
    /// The table at the last of them.
    pub end: Snapshot,
}

/// What tells the changes of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToldBy {
    /// What its commit says.
    Commit,
    /// What is live before it and after it: of a file that came and was there, nothing changed.
    Standing,
}

/// Reads what the versions from `first` to `last` changed, both among them; to the newest without a last one. Must be
/// called inside a runtime.
///
/// Errors: `VersionNotFound` with the range where a commit is not, or no longer, in the log; `InvalidArgument` where the
/// first is behind the last.
pub async fn read_changes(
    location: &Arc<TableLocation>,
    first: Version,
    last: Option<Version>,
    told_by: ToldBy,
    options: LoadOptions,
) -> Result<ChangeLog> {
    let listing = Listing::whole(location).await?;
    let newest = newest_version(&listing).ok_or_else(|| not_a_table(&listing, location.uri()))?;
    let last = last.unwrap_or(newest);
    if first > newest {
        return Err(version_not_found(&listing, first).with("table", location.uri()));
    }
    if first > last {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("changes from version {first} to {last}: the first is behind the last"),
        ));
    }
    let files: Vec<Arc<LogFile>> = listing
        .commits()
        .filter(|file| file.path.version >= first && file.path.version <= last)
        .cloned()
        .collect();
    ensure_whole(&listing, &files, first, last).map_err(|error| error.with("table", location.uri()))?;
    let times = in_commit_timestamps(location, &listing, newest, options).await?;
    let file_times = adjusted_file_times(&listing);
    let end = Snapshot::load(Arc::clone(location), Some(last), options);
    let base = form_before(location, &listing, first, options);
    let reads: Vec<_> = files
        .into_iter()
        .map(|file| read_commit(location, file, options.max_line_bytes))
        .collect();
    let commits = futures::stream::iter(reads)
        .buffered(COMMITS_IN_FLIGHT)
        .try_collect::<Vec<Commit>>();
    let (end, base, commits) = futures::try_join!(end, base, commits)?;
    let (mut form, is_before) = base;
    // Files that went are read as the table was before they did.
    if let Some(commit) = commits.first().filter(|_| !is_before && first > Version::ZERO)
        && (commit.metadata.is_some() || commit.protocol.is_some())
        && !commit.removes.is_empty()
    {
        return Err(Error::new(
            ErrorKind::VersionNotFound,
            format!("what the table was before version {first}, which changed it, is no longer in the log"),
        )
        .with("table", location.uri())
        .with("version", first)
        .hint("ask for changes from the version after it on"));
    }
    let mut live = match told_by {
        ToldBy::Standing => LivePaths::before(location, first, options).await?,
        ToldBy::Commit => None,
    };
    let mut changes = Vec::with_capacity(commits.len());
    for mut commit in commits {
        if let Some(live) = &mut live {
            live.pass(&mut commit);
        }
        let version = commit.version;
        let mut after = form.clone();
        if let Some(newer) = commit.protocol {
            after.protocol = Arc::new(newer);
        }
        if let Some(newer) = commit.metadata {
            after.metadata = Arc::new(newer);
        }
        // The first commit of a table has nothing before it.
        let before = if version == Version::ZERO {
            after.clone()
        } else {
            form
        };
        let timestamp_ms = if is_in_commit(&times, version) {
            in_commit_timestamp(commit.commit_info.as_deref(), version)?
        } else {
            file_times.get(&version).copied().unwrap_or(commit.modified_ms)
        };
        let removes = with_values(location, version, &before, commit.removes, options).await?;
        changes.push(CommitChanges {
            version,
            timestamp_ms,
            adds: commit.adds,
            removes,
            cdc: commit.cdc,
            before,
            after: after.clone(),
        });
        form = after;
    }
    Ok(ChangeLog {
        commits: changes,
        end,
    })
}

/// What the table was before a version, and that it is that; where the log before it is gone, what it is as of the
/// version.
async fn form_before(
    location: &Arc<TableLocation>,
    listing: &Listing,
    first: Version,
    options: LoadOptions,
) -> Result<(TableForm, bool)> {
    let before = Version::try_new(first.as_i64().saturating_sub(1)).unwrap_or(first);
    let mut found = None;
    for version in [before, first] {
        if let Ok(Some(form)) = read_table_state(location, listing, version, options).await {
            found = Some((form, version == before));
            break;
        }
    }
    let ((protocol, metadata), is_before) = found.ok_or_else(|| {
        Error::new(
            ErrorKind::CorruptLog,
            format!("what the table was at version {first} cannot be told: the log before it is not whole"),
        )
        .with("table", location.uri())
        .with("version", first)
        .hint("ask for changes from a later version")
    })?;
    Ok((TableForm { protocol, metadata }, is_before))
}

/// Proves that the commits of a range are all there.
fn ensure_whole(listing: &Listing, files: &[Arc<LogFile>], first: Version, last: Version) -> Result<()> {
    let mut expected = first.as_i64();
    for file in files {
        if file.path.version.as_i64() != expected {
            break;
        }
        expected = expected.saturating_add(1);
    }
    if expected > last.as_i64() {
        return Ok(());
    }
    let missing = Version::try_new(expected)?;
    let mut there: Vec<Version> = listing.commits().map(|file| file.path.version).collect();
    there.reverse();
    let Some(newest) = there.first().copied() else {
        return Err(gone(missing));
    };
    let unbroken = there.iter().zip(0i64..);
    let oldest = unbroken
        .take_while(|(version, back)| version.as_i64().saturating_add(*back) == newest.as_i64())
        .last()
        .map_or(newest, |(version, _)| *version);
    Err(gone(missing)
        .with("oldest", oldest)
        .with("newest", newest)
        .hint(format!("changes can be read from version {oldest} to {newest}")))
}

fn gone(version: Version) -> Error {
    Error::new(
        ErrorKind::VersionNotFound,
        format!("the commit of version {version} is not in the log, so what it changed cannot be told"),
    )
    .with("version", version)
}

/// A file that went, with its partition values where the writer kept them.
struct Removed {
    file: ChangedFile,
    has_values: bool,
}

#[derive(Default)]
struct Actions {
    touched: Vec<(String, Live, bool)>,
    adds: Vec<ChangedFile>,
    removes: Vec<Removed>,
    cdc: Vec<Cdc>,
    protocol: Option<Protocol>,
    metadata: Option<Metadata>,
    commit_info: Option<String>,
}

struct Commit {
    version: Version,
    modified_ms: i64,
    /// Every file that came or went: its path, its vector, and whether it came.
    touched: Vec<(String, Live, bool)>,
    adds: Vec<ChangedFile>,
    removes: Vec<Removed>,
    cdc: Vec<Cdc>,
    protocol: Option<Protocol>,
    metadata: Option<Metadata>,
    commit_info: Option<String>,
}

async fn read_commit(
    location: &Arc<TableLocation>,
    file: Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<Commit> {
    let (relative, version, modified_ms) = (file.relative(), file.path.version, file.modified_ms);
    let failed = |error: object_store::Error| store_error(&error, &relative).with("version", version);
    let text = ActionText::fetch(Arc::clone(location), file, max_line_bytes)
        .await
        .map_err(failed)?;
    let mut actions = Actions::default();
    let mut outcome = Ok(());
    text.for_each_line(&mut |number, line| {
        if outcome.is_ok() {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            outcome = actions.take(&line).map_err(|error| error.with("line", number));
        }
    })
    .await
    .map_err(failed)?;
    outcome.map_err(|error| error.with("path", relative.as_str()).with("version", version))?;
    Ok(Commit {
        version,
        modified_ms,
        touched: actions.touched,
        adds: actions.adds,
        removes: actions.removes,
        cdc: actions.cdc,
        protocol: actions.protocol,
        metadata: actions.metadata,
        commit_info: actions.commit_info,
    })
}

impl Actions {
    fn take(&mut self, line: &Line<'_>) -> Result<()> {
        let Line::Text(line) = line else {
            return Err(Error::new(
                ErrorKind::CorruptLog,
                "a line is longer than max_line_bytes allows",
            )
            .hint("raise max_line_bytes if the table is yours"));
        };
        let action = parse_line(line)?;
        match &action {
            ActionLine::Add(add) => {
                let vector = add.deletion_vector.as_ref().map(Descriptor::from);
                self.touched.push((add.path.0.clone().into_owned(), vector, true));
            }
            ActionLine::Remove(remove) => {
                let vector = remove.deletion_vector.as_ref().map(Descriptor::from);
                self.touched
                    .push((remove.path.0.clone().into_owned(), vector, false));
            }
            _ => {}
        }
        match action {
            ActionLine::Add(add) if add.data_change => self.adds.push(ChangedFile {
                path: add.path.0.into_owned(),
                partition_values: owned(&add.partition_values),
                size: Some(add.size),
                deletion_vector: add.deletion_vector.as_ref().map(Descriptor::from),
                base_row_id: add.base_row_id,
                default_row_commit_version: add.default_row_commit_version,
                standing: None,
            }),
            ActionLine::Remove(remove) if remove.data_change => self.removes.push(Removed {
                has_values: remove.partition_values.is_some(),
                file: ChangedFile {
                    path: remove.path.0.into_owned(),
                    partition_values: remove.partition_values.as_ref().map(owned).unwrap_or_default(),
                    size: remove.size,
                    deletion_vector: remove.deletion_vector.as_ref().map(Descriptor::from),
                    base_row_id: remove.base_row_id,
                    default_row_commit_version: remove.default_row_commit_version,
                    standing: None,
                },
            }),
            ActionLine::Cdc => {
                let text = std::str::from_utf8(line)
                    .map_err(|_| Error::new(ErrorKind::CorruptLog, "a cdc action is not UTF-8"))?;
                self.cdc.extend(Cdc::parse_line(text)?);
            }
            ActionLine::Protocol(protocol) => self.protocol = Some(protocol),
            ActionLine::Metadata(metadata) => self.metadata = Some(metadata),
            ActionLine::CommitInfo(info) => self.commit_info = Some(info.get().to_owned()),
            _ => {}
        }
        Ok(())
    }
}

fn owned(values: &PartitionText<'_>) -> PartitionValues {
    let text = |text: &deltaic_protocol::actions::Text<'_>| text.0.clone().into_owned();
    values
        .0
        .iter()
        .map(|(name, value)| (text(name), value.as_ref().map(text)))
        .collect()
}

/// The files that went with their partition values: where a writer kept none, or left out those that are NULL, they are
/// those of the version before.
async fn with_values(
    location: &Arc<TableLocation>,
    version: Version,
    form: &TableForm,
    removes: Vec<Removed>,
    options: LoadOptions,
) -> Result<Vec<ChangedFile>> {
    let schema = form.metadata.schema()?;
    let mode = ColumnMappingMode::of(&form.protocol, &form.metadata)?;
    let columns = form.metadata.partition_columns.iter();
    let names: Vec<&str> = columns
        .map(|name| {
            schema
                .field(name)
                .map_or(name.as_str(), |field| name_in_log(field, mode))
        })
        .collect();
    let lacks = |file: &ChangedFile| {
        names
            .iter()
            .any(|name| !file.partition_values.contains_key(*name))
    };
    if !removes.iter().any(|removed| lacks(&removed.file)) {
        return Ok(removes.into_iter().map(|removed| removed.file).collect());
    }
    let before = Version::try_new(version.as_i64().saturating_sub(1))?;
    let files = match Snapshot::load(Arc::clone(location), Some(before), options).await {
        Ok(snapshot) => snapshot.files(None).await?.0,
        // What is NULL may be left out, so that a file whose other values are there is whole.
        Err(_) if removes.iter().all(|removed| removed.has_values) => Files::default(),
        Err(error) => return Err(error),
    };
    let mut known: HashMap<LogicalFileKey<'_>, (usize, usize)> = HashMap::new();
    for (index, batch) in files.batches.iter().enumerate() {
        for row in 0..batch.len() {
            known.insert(
                LogicalFileKey::new(batch.adds.path.value(row), None),
                (index, row),
            );
        }
    }
    let filled = removes.into_iter().map(|removed| {
        let mut file = removed.file;
        if !lacks(&file) {
            return file;
        }
        let place = known.get(&LogicalFileKey::new(&file.path, None)).copied();
        if let Some((index, row)) = place
            && let Some(batch) = files.batches.get(index)
        {
            file.partition_values = values_of_row(&batch.adds.partition_values, row);
        } else if removed.has_values {
            for name in &names {
                file.partition_values.entry((*name).to_owned()).or_default();
            }
        }
        file
    });
    Ok(filled.collect())
}

/// What is live, by the paths in their shortest spelling.
struct LivePaths(HashMap<String, Live>);

impl LivePaths {
    /// What is live before a version; none where that was cleaned up.
    async fn before(
        location: &Arc<TableLocation>,
        version: Version,
        options: LoadOptions,
    ) -> Result<Option<Self>> {
        let mut live = HashMap::new();
        if version == Version::ZERO {
            return Ok(Some(Self(live)));
        }
        let before = Version::try_new(version.as_i64().saturating_sub(1))?;
        let snapshot = match Snapshot::load(Arc::clone(location), Some(before), options).await {
            Ok(snapshot) => snapshot,
            // Where it was cleaned up, the commits are taken at their word.
            Err(error) if error.kind() == ErrorKind::VersionNotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (files, _) = snapshot.files(None).await?;
        for batch in &files.batches {
            for row in 0..batch.len() {
                live.insert(shortest(batch.adds.path.value(row)), batch.adds.descriptor(row));
            }
        }
        Ok(Some(Self(live)))
    }

    /// Goes on over a commit, and notes what stood at each path that it changed.
    fn pass(&mut self, commit: &mut Commit) {
        let paths: Vec<String> = commit
            .adds
            .iter()
            .chain(commit.removes.iter().map(|removed| &removed.file))
            .map(|file| shortest(&file.path))
            .collect();
        let before: Vec<Option<Live>> = paths.iter().map(|path| self.0.get(path).cloned()).collect();
        // The order of actions means nothing: what comes stays.
        for (path, vector, _) in commit.touched.iter().filter(|(_, _, came)| !came) {
            let path = shortest(path);
            let is_it = self.0.get(&path).is_some_and(|live| {
                live.as_ref().map(Descriptor::key) == vector.as_ref().map(Descriptor::key)
            });
            if is_it {
                self.0.remove(&path);
            }
        }
        for (path, vector, _) in commit.touched.iter().filter(|(_, _, came)| *came) {
            self.0.insert(shortest(path), vector.clone());
        }
        let files = commit
            .adds
            .iter_mut()
            .chain(commit.removes.iter_mut().map(|removed| &mut removed.file));
        for ((file, path), before) in files.zip(&paths).zip(before) {
            file.standing = Some(Standing {
                before,
                after: self.0.get(path).cloned(),
            });
        }
    }
}

fn shortest(path: &str) -> String {
    LogicalFileKey::new(path, None).path().to_owned()
}
