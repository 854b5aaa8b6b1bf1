//! Commits and other files with one action per line: each file is fetched once, and many are decoded into one
//! batch.
//!
//! Protocol: *Delta Log Entries*, *Log Compaction Files*.

use std::sync::Arc;

use deltaic_protocol::log_path::LogFileKind;
use deltaic_protocol::{Error, Result, Version};
use futures::{StreamExt, TryStreamExt};

use super::TableActions;
use super::file_batch::{FileBatch, Span};
pub use super::large_file::Splitting;
use super::large_file::{LARGE_BYTES, read_cut, read_large};
use super::line_files::batches;
use super::line_files::unreadable;
use super::lines::{LinesDecoder, empty_file};
use crate::listing::LogFile;
use deltaic_storage::in_parallel;
use deltaic_storage::location::TableLocation;

/// Default maximum length of a line of the log in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 28;

/// Minimum and maximum number of files of a group, which is fetched and decoded together.
const GROUP_FILES: (usize, usize) = (32, 512);

/// Maximum total size of the files of a group, unless a single file is larger.
const GROUP_BYTES: u64 = 32 << 20;

/// The actions of several commits.
#[derive(Clone, Debug, Default)]
pub struct CommitActions {
    /// The adds.
    pub adds: Vec<Arc<FileBatch>>,
    /// The removes.
    pub removes: Vec<Arc<FileBatch>>,
    /// The table actions of each commit with its version, without commits that have none.
    pub tables: Vec<(Version, TableActions)>,
    /// The `commitInfo` of the newest commit, as JSON text.
    pub newest_commit_info: Option<String>,
}

impl CommitActions {
    /// Returns the actions of one commit.
    pub(crate) fn of(file: &LogFile, commit: DecodedCommit) -> Self {
        let mut actions = Self {
            adds: commit.adds,
            removes: commit.removes,
            ..Self::default()
        };
        actions.push(file, commit.table);
        actions
    }

    /// Adds the actions of newer files, of which there is at least one.
    pub(crate) fn extend(&mut self, other: Self) {
        self.adds.extend(other.adds);
        self.removes.extend(other.removes);
        self.tables.extend(other.tables);
        // If the newest file has none, the result is `None`: the commit info of an older commit is not that of the
        // version.
        self.newest_commit_info = other.newest_commit_info;
    }

    /// Adds the table actions of a single file.
    fn push(&mut self, file: &LogFile, table: TableActions) {
        let mut table = if file.path.kind == LogFileKind::Commit {
            table.of_a_commit()
        } else {
            table
        };
        self.newest_commit_info = table.commit_info.take();
        if !table.is_silent() {
            self.tables.push((file.last_version(), table));
        }
    }
}

/// Reads line-based files, oldest first. Every invalid line is a `CorruptLog` with the file, the version and
/// the line.
pub(crate) async fn read_commits(
    location: &Arc<TableLocation>,
    files: &[Arc<LogFile>],
    max_line_bytes: usize,
) -> Result<CommitActions> {
    // Each fetch from a local disk occupies a thread; a fetch from a network mostly waits.
    let (groups_in_flight, fetches) = if location.file_system().is_some() {
        (3, 4)
    } else {
        (8, 32)
    };
    let tasks: Vec<_> = groups(files)
        .into_iter()
        .map(|group| {
            let location = Arc::clone(location);
            async move {
                match group.as_slice() {
                    [file] if file.size > LARGE_BYTES => read_one(&location, file, max_line_bytes).await,
                    _ => read_group(&location, group, fetches, max_line_bytes).await,
                }
            }
        })
        .collect();
    let mut all = CommitActions::default();
    for read in in_parallel(tasks, groups_in_flight).await? {
        all.extend(read);
    }
    Ok(all)
}

fn groups(files: &[Arc<LogFile>]) -> Vec<Vec<Arc<LogFile>>> {
    let (least, most) = GROUP_FILES;
    let length = (files.len() / 8).clamp(least, most);
    let mut groups: Vec<Vec<Arc<LogFile>>> = Vec::new();
    let mut bytes = 0u64;
    for file in files {
        bytes = bytes.saturating_add(file.size);
        match groups.last_mut() {
            Some(group) if group.len() < length && bytes <= GROUP_BYTES => group.push(Arc::clone(file)),
            _ => {
                bytes = file.size;
                groups.push(vec![Arc::clone(file)]);
            }
        }
    }
    groups
}

async fn read_group(
    location: &Arc<TableLocation>,
    files: Vec<Arc<LogFile>>,
    fetches: usize,
    max_line_bytes: usize,
) -> Result<CommitActions> {
    let fetched: Vec<_> = files
        .into_iter()
        .map(|file| {
            let location = Arc::clone(location);
            async move {
                let relative = file.relative();
                let bytes = location
                    .read(&relative)
                    .await
                    .map_err(|error| unreadable(&error, &file))?;
                Ok::<_, Error>((file, bytes))
            }
        })
        .collect();
    let mut fetched = futures::stream::iter(fetched).buffered(fetches);
    let mut group = Group::new(max_line_bytes);
    while let Some((file, bytes)) = fetched.try_next().await? {
        group.decode(&file, &bytes)?;
    }
    group.finish()
}

async fn read_one(
    location: &Arc<TableLocation>,
    file: &Arc<LogFile>,
    max_line_bytes: usize,
) -> Result<CommitActions> {
    let read = read_large(location, file, max_line_bytes).await;
    let (table, adds, removes) = read.map_err(|error| locate(error, file))?;
    validate(&table, file)?;
    let mut actions = CommitActions {
        adds: adds.into_iter().map(Arc::new).collect(),
        removes: removes.into_iter().map(Arc::new).collect(),
        ..CommitActions::default()
    };
    actions.push(file, table);
    Ok(actions)
}

/// Decodes one commit that is in memory.
pub fn decode_commit(bytes: &[u8], file: &Arc<LogFile>, max_line_bytes: usize) -> Result<DecodedCommit> {
    let mut group = Group::new(max_line_bytes);
    let table = group.decode_file(file, bytes)?;
    let actions = group.finish()?;
    Ok(DecodedCommit {
        adds: actions.adds,
        removes: actions.removes,
        table,
    })
}

/// Reads one commit in pieces, as a large one on a local disk is read; it may have any size.
pub async fn read_commit_in_pieces(
    location: &Arc<TableLocation>,
    file: &Arc<LogFile>,
    cut: Splitting,
    max_line_bytes: usize,
) -> Result<DecodedCommit> {
    let read = read_cut(location, file, cut, max_line_bytes).await;
    let (table, adds, removes) = read.map_err(|error| locate(error, file))?;
    validate(&table, file)?;
    Ok(DecodedCommit {
        adds: adds.into_iter().map(Arc::new).collect(),
        removes: removes.into_iter().map(Arc::new).collect(),
        table,
    })
}

/// The actions of one line-based file.
#[derive(Clone, Debug, Default)]
pub struct DecodedCommit {
    /// The adds.
    pub adds: Vec<Arc<FileBatch>>,
    /// The removes.
    pub removes: Vec<Arc<FileBatch>>,
    /// The table actions.
    pub table: TableActions,
}

/// Files that are decoded into one batch of adds and one of removes.
struct Group {
    decoder: LinesDecoder,
    adds: Vec<Span>,
    removes: Vec<Span>,
    actions: CommitActions,
}

impl Group {
    fn new(max_line_bytes: usize) -> Self {
        Self {
            decoder: LinesDecoder::new(max_line_bytes),
            adds: Vec::new(),
            removes: Vec::new(),
            actions: CommitActions::default(),
        }
    }

    fn decode(&mut self, file: &Arc<LogFile>, bytes: &[u8]) -> Result<()> {
        let table = self.decode_file(file, bytes)?;
        self.actions.push(file, table);
        Ok(())
    }

    fn decode_file(&mut self, file: &Arc<LogFile>, bytes: &[u8]) -> Result<TableActions> {
        let before = self.decoder.rows();
        let decoded = self
            .decoder
            .decode(bytes, 0)
            .map_err(|fault| locate(fault.into(), file))?;
        if decoded.actions == 0 {
            return Err(locate(empty_file(), file));
        }
        validate(&decoded.table, file)?;
        let after = self.decoder.rows();
        for (spans, rows) in [
            (&mut self.adds, before.0..after.0),
            (&mut self.removes, before.1..after.1),
        ] {
            if !rows.is_empty() {
                spans.push(Span {
                    file: Arc::clone(file),
                    version: file.last_version(),
                    rows,
                });
            }
        }
        Ok(decoded.table)
    }

    fn finish(self) -> Result<CommitActions> {
        let (adds, removes) = batches(self.decoder.finish()?, self.adds, self.removes)?;
        Ok(CommitActions {
            adds: adds.into_iter().map(Arc::new).collect(),
            removes: removes.into_iter().map(Arc::new).collect(),
            ..self.actions
        })
    }
}

fn validate(table: &TableActions, file: &LogFile) -> Result<()> {
    let checked = match file.path.kind {
        LogFileKind::Compaction { .. } => table.validate().and_then(|()| table.validate_compaction()),
        _ => table.validate(),
    };
    checked.map_err(|error| locate(error, file))
}

pub(super) fn locate(error: Error, file: &LogFile) -> Error {
    let located = error
        .with("path", file.relative())
        .with("version", file.path.version);
    located.or_hint("the commit is damaged: restore it from a backup of the table")
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::log_path::LogPath;

    use deltaic_protocol::ErrorKind;

    use super::*;
    use crate::decode::StatisticsSource;

    fn decode_with(text: &[u8], max_line_bytes: usize) -> Result<DecodedCommit> {
        let version = Version::try_new(7)?;
        let file = LogFile {
            path: LogPath {
                version,
                kind: LogFileKind::Commit,
            },
            name: format!("{}.json", version.file_stem()),
            size: 1,
            modified_ms: 0,
            e_tag: None,
        };
        decode_commit(text, &Arc::new(file), max_line_bytes)
    }

    fn decode(text: &[u8]) -> Result<DecodedCommit> {
        decode_with(text, 1 << 20)
    }

    const ADD: &str = r#"{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}"}}"#;

    /// protocol: delta-log-entries.1
    #[test]
    fn lines_may_end_as_they_like() -> Result<()> {
        let remove = r#"{"remove":{"path":"b","dataChange":true}}"#;
        for (end, tail) in [("\n", "\n"), ("\r\n", ""), ("\n\n", "\n \n")] {
            let actions = decode(format!("{ADD}{end}{remove}{tail}").as_bytes())?;
            let rows = |batches: &[Arc<FileBatch>]| batches.iter().map(|batch| batch.len()).sum::<usize>();
            assert_eq!((rows(&actions.adds), rows(&actions.removes)), (1, 1));
        }
        Ok(())
    }

    #[test]
    fn statistics_are_left_at_a_place_that_is_known() -> Result<()> {
        let spaced = ADD.replace("\"stats\":", "\"stats\" : ");
        let text = format!("{ADD}\r\n\n{spaced}\n");
        let actions = decode(text.as_bytes())?;
        let batch = actions.adds.first().map(|batch| &batch.statistics);
        let Some(StatisticsSource::Lines(places)) = batch else {
            panic!("the statistics have no position");
        };
        for (first, length) in places.first.iter().zip(&places.length) {
            let (first, length) = (
                usize::try_from(*first).unwrap_or(0),
                usize::try_from(*length).unwrap_or(0),
            );
            assert_eq!(text.get(first..first + length), Some(r#""{\"numRecords\":1}""#));
        }
        Ok(())
    }

    #[test]
    fn damage_names_the_version_and_the_line() {
        let metadata = r#"{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"","partitionColumns":[],"configuration":{}}}"#;
        let txn = r#"{"txn":{"appId":"a","version":1}}"#;
        for text in [
            "".to_owned(),
            "\n".to_owned(),
            format!("{ADD}\n{{\"add\":{{\"path\":\"a"),
            format!("{ADD}\n\0\0\0\0"),
            format!("\u{feff}{ADD}"),
            format!("{metadata}\n{metadata}"),
            format!("{txn}\n{txn}"),
            ADD.replace("\"size\":1", "\"size\":-1"),
        ] {
            let error = decode(text.as_bytes()).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::CorruptLog),
                "{text}"
            );
            assert!(
                error.is_some_and(|error| error.to_string().contains("version: 7")),
                "{text}"
            );
        }
        assert!(decode_with(ADD.as_bytes(), 20).is_err());
    }
}
