//! The actions of a range of commits that survive, as the lines that the commits hold.
//!
//! Protocol: *Action Reconciliation*, *Log Compaction Files*. Lines are given newest version first, so the first word on
//! anything stands and nothing is taken back. A line that stands is copied as it is: no field of it is lost.

use std::collections::HashSet;

use deltaic_protocol::actions::{ActionLine, LogicalFileKey, Protocol, parse_line};
use deltaic_protocol::deletion_vector::DescriptorText;
use deltaic_protocol::{Error, ErrorKind, Result};

/// A logical file, a transaction's application or a domain that there is a newer word on.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Word {
    File(String, Option<(String, String, Option<i32>)>),
    Txn(String),
    Domain(String),
}

/// What survives of the lines so far.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    lines: Vec<u8>,
    actions: usize,
    most_bytes: usize,
    newer: HashSet<Word>,
    protocols: Vec<Protocol>,
    has_protocol: bool,
    has_metadata: bool,
    /// What the commit at hand has a word on.
    own: HashSet<Word>,
    own_protocol: bool,
    own_metadata: bool,
}

impl Reconciled {
    /// Nothing yet; what survives may have so many bytes.
    pub(super) fn at_most(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            ..Self::default()
        }
    }

    /// Takes a line of the commit at hand.
    ///
    /// # Errors
    ///
    /// `CorruptLog` where the line is no action, or the second of its commit on one thing; `InvalidArgument` where too much
    /// survives.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<()> {
        let stands = match parse_line(line)? {
            ActionLine::Add(add) => {
                // The second word of one commit on a file is damage, whether it comes or goes.
                self.is_first(file(&add.path, add.deletion_vector.as_ref()))?
            }
            ActionLine::Remove(remove) => {
                self.is_first(file(&remove.path, remove.deletion_vector.as_ref()))?
            }
            ActionLine::Txn(txn) => self.is_first(Word::Txn(txn.app_id))?,
            // One that is removed stands too: what is said of it before the range is over.
            ActionLine::DomainMetadata(domain) => self.is_first(Word::Domain(domain.domain))?,
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
            // Who made a commit and what changed in it is no part of the state; what only a checkpoint means is none of a
            // commit's actions; what is not known nobody can reconcile.
            ActionLine::CommitInfo(_)
            | ActionLine::Cdc
            | ActionLine::Sidecar(_)
            | ActionLine::CheckpointMetadata(_)
            | ActionLine::Other => false,
        };
        if stands {
            self.keep(line)?;
        }
        Ok(())
    }

    /// Ends the commit at hand; the next one is older.
    pub(super) fn end_commit(&mut self) {
        self.newer.extend(self.own.drain());
        self.has_protocol |= std::mem::take(&mut self.own_protocol);
        self.has_metadata |= std::mem::take(&mut self.own_metadata);
    }

    /// How many actions survive.
    pub(super) fn actions(&self) -> usize {
        self.actions
    }

    /// The protocols of all commits, whose other actions mean what these say.
    pub(super) fn protocols(&self) -> &[Protocol] {
        &self.protocols
    }

    /// The lines that survive, each with its end.
    pub(super) fn into_lines(self) -> Vec<u8> {
        self.lines
    }

    /// Whether no newer commit has a word on this.
    fn is_first(&mut self, word: Word) -> Result<bool> {
        let stands = !self.newer.contains(&word);
        let what = match &word {
            Word::File(..) => "add or remove of one logical file",
            Word::Txn(_) => "txn of one application",
            Word::Domain(_) => "domainMetadata of one domain",
        };
        if self.own.insert(word) {
            Ok(stands)
        } else {
            Err(twice(what))
        }
    }

    fn keep(&mut self, line: &[u8]) -> Result<()> {
        if self.lines.len().saturating_add(line.len()) >= self.most_bytes {
            let message = format!("what these commits say has more than {} bytes", self.most_bytes);
            return Err(Error::new(ErrorKind::InvalidArgument, message)
                .hint("compact fewer commits, or write a checkpoint"));
        }
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
        self.actions = self.actions.saturating_add(1);
        Ok(())
    }
}

fn file(path: &str, vector: Option<&DescriptorText<'_>>) -> Word {
    let vector = vector.map(|vector| {
        let texts = (
            vector.storage_type.to_string(),
            vector.path_or_inline_dv.to_string(),
        );
        (texts.0, texts.1, vector.offset)
    });
    // The key's own spelling of a path, so that two spellings of one file are one.
    Word::File(LogicalFileKey::new(path, None).path().to_owned(), vector)
}

fn twice(what: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the commit holds more than one {what}"),
    )
    .hint("the order of actions in a commit means nothing, so neither can be taken for the truth")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TXN: &[u8] = br#"{"txn":{"appId":"a","version":1}}"#;

    fn domain(name: &str) -> String {
        format!(r#"{{"domainMetadata":{{"domain":"{name}","configuration":"","removed":true}}}}"#)
    }

    #[test]
    fn what_survives_is_bounded() -> Result<()> {
        let mut fits = Reconciled::at_most(TXN.len() + 1);
        fits.take(TXN)?;
        fits.end_commit();
        // What is older and does not survive takes no room.
        fits.take(TXN)?;
        assert_eq!((fits.actions(), fits.lines.len()), (1, TXN.len() + 1));
        let mut full = Reconciled::at_most(TXN.len());
        let error = full.take(TXN).expect_err("it is too much");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.hint_text().is_some());
        Ok(())
    }

    #[test]
    fn the_first_word_given_stands_and_two_words_of_one_commit_do_not() -> Result<()> {
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

    /// A path in two spellings is one file, and one with another deletion vector is another.
    #[test]
    fn files_are_told_apart_by_their_keys() -> Result<()> {
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
