//! The surviving actions of a range of commits, as lines of JSON.
//!
//! Protocol: *Action Reconciliation*, *Log Compaction Files*. Lines are processed newest version first, so
//! the first action on a key survives and is final. A surviving line is copied unchanged: no field is lost.

use std::collections::HashSet;

use deltaic_protocol::actions::{ActionLine, LogicalFileKey, Protocol, parse_line};
use deltaic_protocol::deletion_vector::DescriptorText;
use deltaic_protocol::{Error, ErrorKind, Result};

/// The key of an action: a logical file, an application id or a metadata domain.
#[derive(Debug, PartialEq, Eq, Hash)]
enum ActionKey {
    File(String, Option<(String, String, Option<i32>)>),
    Txn(String),
    Domain(String),
}

/// The surviving lines so far.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    lines: Vec<u8>,
    actions: usize,
    most_bytes: usize,
    newer: HashSet<ActionKey>,
    protocols: Vec<Protocol>,
    has_protocol: bool,
    has_metadata: bool,
    /// Keys of the current commit.
    own: HashSet<ActionKey>,
    own_protocol: bool,
    own_metadata: bool,
}

impl Reconciled {
    /// Creates an empty one; the surviving lines may have at most `most_bytes` bytes.
    pub(super) fn at_most(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            ..Self::default()
        }
    }

    /// Processes a line of the current commit.
    ///
    /// # Errors
    ///
    /// `CorruptLog` if the line is not an action, or if the commit has a second action of the same key;
    /// `InvalidArgument` if the surviving lines exceed the maximum size.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<()> {
        let survives = match parse_line(line)? {
            ActionLine::Add(add) => {
                // A second action of one commit on a file is invalid, whether an add or a remove.
                self.is_first(file(&add.path, add.deletion_vector.as_ref()))?
            }
            ActionLine::Remove(remove) => {
                self.is_first(file(&remove.path, remove.deletion_vector.as_ref()))?
            }
            ActionLine::Txn(txn) => self.is_first(ActionKey::Txn(txn.app_id))?,
            // A removed domain survives too: it removes the domain set before the range.
            ActionLine::DomainMetadata(domain) => self.is_first(ActionKey::Domain(domain.domain))?,
            ActionLine::Protocol(protocol) => {
                self.protocols.push(protocol);
                if std::mem::replace(&mut self.own_protocol, true) {
                    return Err(twice("protocol"));
                }
                !self.has_protocol
            }
            ActionLine::Metadata(_) => {
                if std::mem::replace(&mut self.own_metadata, true) {
                    return Err(twice("metaData"));
                }
                !self.has_metadata
            }
            // Commit info and change data are not part of the state, sidecars and checkpoint metadata are not
            // valid in a commit, and unknown actions cannot be reconciled.
            ActionLine::CommitInfo(_)
            | ActionLine::Cdc
            | ActionLine::Sidecar(_)
            | ActionLine::CheckpointMetadata(_)
            | ActionLine::Other => false,
        };
        if survives {
            self.keep(line)?;
        }
        Ok(())
    }

    /// Finishes the current commit; the next one is older.
    pub(super) fn end_commit(&mut self) {
        self.newer.extend(self.own.drain());
        self.has_protocol |= std::mem::take(&mut self.own_protocol);
        self.has_metadata |= std::mem::take(&mut self.own_metadata);
    }

    /// Number of surviving actions.
    pub(super) fn actions(&self) -> usize {
        self.actions
    }

    /// The protocols of all commits, which determine how the other actions are interpreted.
    pub(super) fn protocols(&self) -> &[Protocol] {
        &self.protocols
    }

    /// Returns the surviving lines, each with a line feed.
    pub(super) fn into_lines(self) -> Vec<u8> {
        self.lines
    }

    /// Whether no newer commit has an action with this key.
    fn is_first(&mut self, word: ActionKey) -> Result<bool> {
        let survives = !self.newer.contains(&word);
        let what = match &word {
            ActionKey::File(..) => "add or remove of one logical file",
            ActionKey::Txn(_) => "txn of one application",
            ActionKey::Domain(_) => "domainMetadata of one domain",
        };
        if self.own.insert(word) {
            Ok(survives)
        } else {
            Err(twice(what))
        }
    }

    fn keep(&mut self, line: &[u8]) -> Result<()> {
        if self.lines.len().saturating_add(line.len()) >= self.most_bytes {
            let message = format!(
                "the actions of these commits take more than {} bytes",
                self.most_bytes
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message)
                .hint("compact fewer commits, or write a checkpoint"));
        }
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
        self.actions = self.actions.saturating_add(1);
        Ok(())
    }
}

fn file(path: &str, vector: Option<&DescriptorText<'_>>) -> ActionKey {
    let vector = vector.map(|vector| {
        let texts = (
            vector.storage_type.to_string(),
            vector.path_or_inline_dv.to_string(),
        );
        (texts.0, texts.1, vector.offset)
    });
    // The normalized path of the key, so that two spellings of one file are equal.
    ActionKey::File(LogicalFileKey::new(path, None).path().to_owned(), vector)
}

fn twice(what: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the commit contains more than one {what}"),
    )
    .hint("the order of actions in a commit has no meaning, so it is unknown which one applies")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TXN: &[u8] = br#"{"txn":{"appId":"a","version":1}}"#;

    fn domain(name: &str) -> String {
        format!(r#"{{"domainMetadata":{{"domain":"{name}","configuration":"","removed":true}}}}"#)
    }

    #[test]
    fn surviving_state_is_bounded() -> Result<()> {
        let mut fits = Reconciled::at_most(TXN.len() + 1);
        fits.take(TXN)?;
        fits.end_commit();
        // Older actions that do not survive need no space.
        fits.take(TXN)?;
        assert_eq!((fits.actions(), fits.lines.len()), (1, TXN.len() + 1));
        let mut full = Reconciled::at_most(TXN.len());
        let error = full.take(TXN).expect_err("the line exceeds the maximum size");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.hint_text().is_some());
        Ok(())
    }

    #[test]
    fn the_first_action_survives_and_duplicates_in_a_commit_are_errors() -> Result<()> {
        let mut words = Reconciled::at_most(1 << 20);
        for name in ["d", "e"] {
            words.take(domain(name).as_bytes())?;
        }
        words.end_commit();
        words.take(domain("d").as_bytes())?;
        assert!(words.take(domain("d").as_bytes()).is_err(), "twice in one commit");
        words.take(domain("f").as_bytes())?;
        words.end_commit();
        let expected = [domain("d"), domain("e"), domain("f")]
            .map(|line| line + "\n")
            .concat();
        assert_eq!(String::from_utf8(words.into_lines()).ok(), Some(expected));
        Ok(())
    }

    /// Two spellings of a path are one file; with another deletion vector it is another file.
    #[test]
    fn files_are_reported_apart_by_their_keys() -> Result<()> {
        let add = |path: &str, vector: &str| {
            format!(
                r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":1,"dataChange":true{vector}}}}}"#
            )
        };
        let vector = r#","deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":1,"sizeInBytes":1,"cardinality":1}"#;
        let mut words = Reconciled::at_most(1 << 20);
        words.take(add("file:///a", "").as_bytes())?;
        assert!(words.take(add("/a", "").as_bytes()).is_err());
        words.take(add("/a", vector).as_bytes())?;
        words.end_commit();
        words.take(add("file:/a", "").as_bytes())?;
        words.take(add("a", "").as_bytes())?;
        assert_eq!(words.actions(), 3);
        Ok(())
    }
}
