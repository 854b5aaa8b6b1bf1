//! Action reconciliation: the newest action on a logical file wins.
//!
//! A path can be live only once: with one deletion vector, or without one.
//!
//! There are two phases. The keys come from the newer actions only, which are few; older rows (of a
//! checkpoint, or of a snapshot before a refresh) only probe them and are never inserted. Surviving rows are
//! a bitmap per batch, and unchanged bitmaps are shared.
//!
//! Protocol: *Action Reconciliation*.

use std::sync::Arc;

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use deltaic_protocol::{Error, ErrorKind, Result, Version};
use hashbrown::HashTable;

use crate::decode::FileBatch;
use crate::listing::LogFile;
use deltaic_storage::location::without_secrets;

mod filter;
mod table_state;

pub use table_state::TableState;

use filter::{Filter, spread};

/// A batch of file actions with its surviving rows.
#[derive(Clone, Debug)]
pub struct Survivors {
    /// The actions.
    pub files: Arc<FileBatch>,
    /// The surviving rows.
    pub live: BooleanBuffer,
}

impl Survivors {
    /// Creates a batch whose rows all survive.
    #[must_use]
    pub fn all(files: Arc<FileBatch>) -> Self {
        let live = BooleanBuffer::new_set(files.len());
        Self { files, live }
    }
}

/// The keys of newer actions.
#[derive(Debug, Default)]
pub struct NewerKeys {
    batches: Vec<Arc<FileBatch>>,
    /// How many of the batches, the first ones, contain adds.
    adds: usize,
    table: HashTable<Entry>,
    filter: Filter,
    /// The surviving adds with deletion vectors, by the hashes of their paths.
    vectors: HashTable<(u32, Entry)>,
}

/// The newest row of a key.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    batch: usize,
    row: usize,
    version: Version,
}

impl NewerKeys {
    /// Reconciles actions of commits with each other: returns the surviving rows of each batch of adds, then
    /// of removes, in the order given.
    ///
    /// Fails with `CorruptLog` if one commit adds or removes the same logical file twice, or both adds and
    /// removes it, or if one path remains live with two deletion vectors.
    pub fn reconcile(
        adds: &[Arc<FileBatch>],
        removes: &[Arc<FileBatch>],
    ) -> Result<(Self, Vec<Survivors>, Vec<Survivors>)> {
        let batches: Vec<Arc<FileBatch>> = adds.iter().chain(removes).cloned().collect();
        let mut keys = Self {
            batches: batches.clone(),
            adds: adds.len(),
            table: HashTable::with_capacity(batches.iter().map(|batch| batch.len()).sum()),
            filter: Filter::default(),
            vectors: HashTable::new(),
        };
        let mut live: Vec<BooleanBufferBuilder> = Vec::with_capacity(batches.len());
        for (index, batch) in batches.iter().enumerate() {
            let mut bits = BooleanBufferBuilder::new(batch.len());
            bits.append_n(batch.len(), true);
            live.push(bits);
            for span in &batch.spans {
                for row in span.rows.clone() {
                    let Some(hash) = batch.hashes.get(row).copied() else {
                        continue;
                    };
                    let entry = Entry {
                        hash,
                        batch: index,
                        row,
                        version: span.version,
                    };
                    if let Some(older) = keys.insert(entry, &span.file)?
                        && let Some(bits) = live.get_mut(older.batch)
                    {
                        bits.set_bit(older.row, false);
                    }
                }
            }
        }
        keys.gather_vectors()?;
        let mut survivors = batches.into_iter().zip(live).map(|(files, mut live)| Survivors {
            files,
            live: live.finish(),
        });
        let adds = survivors.by_ref().take(adds.len()).collect();
        let removes = survivors.collect();
        Ok((keys, adds, removes))
    }

    /// Inserts a key; returns the older one if it exists.
    fn insert(&mut self, entry: Entry, file: &LogFile) -> Result<Option<Entry>> {
        self.filter.insert(entry.hash);
        let batches = &self.batches;
        let is_same = |known: &Entry| known.hash == entry.hash && same_key(batches, known, &entry);
        if let Some(known) = self.table.find_mut(spread(entry.hash), is_same) {
            if known.version == entry.version {
                return Err(twice(file));
            }
            return Ok(Some(if known.version < entry.version {
                std::mem::replace(known, entry)
            } else {
                entry
            }));
        }
        self.table
            .insert_unique(spread(entry.hash), entry, |known| spread(known.hash));
        Ok(None)
    }

    /// Collects the surviving adds with deletion vectors. Raises an error if a path survives with two of
    /// them, or both with and without one.
    fn gather_vectors(&mut self) -> Result<()> {
        let added = self.batches.iter().take(self.adds);
        if !added.clone().any(|batch| batch.keys.any_vector()) {
            return Ok(());
        }
        let batches = &self.batches;
        let survivors = self.table.iter().filter(|entry| {
            let batch = batches.get(entry.batch).filter(|_| entry.batch < self.adds);
            batch.is_some_and(|batch| batch.keys.has_vector(entry.row))
        });
        let survivors: Vec<Entry> = survivors.copied().collect();
        for entry in survivors {
            let Some(batch) = self.batches.get(entry.batch).cloned() else {
                continue;
            };
            let hash = batch.path_hash(entry.row);
            if let Some(other) = self.added_at(&batch, entry.row, hash) {
                let newer = if other.version > entry.version {
                    other
                } else {
                    &entry
                };
                return Err(self.live_twice(newer));
            }
            self.filter.insert(hash);
            self.vectors
                .insert_unique(spread(hash), (hash, entry), |(hash, _)| spread(*hash));
        }
        Ok(())
    }

    /// Returns the surviving add with the path of a row, whatever its deletion vector; `hash` is that of the
    /// path.
    fn added_at(&self, files: &FileBatch, row: usize, hash: u32) -> Option<&Entry> {
        let is_path = |known: &Entry| {
            let batch = self.batches.get(known.batch);
            batch.is_some_and(|batch| batch.keys.is_same_path(known.row, &files.keys, row))
        };
        let with_vector = self
            .vectors
            .find(spread(hash), |(known, entry)| *known == hash && is_path(entry))
            .map(|(_, entry)| entry);
        // Without a deletion vector the hash of the key is that of the path.
        with_vector.or_else(|| {
            self.table.find(spread(hash), |known| {
                let batch = self.batches.get(known.batch).filter(|_| known.batch < self.adds);
                known.hash == hash
                    && batch.is_some_and(|batch| !batch.keys.has_vector(known.row))
                    && is_path(known)
            })
        })
    }

    fn live_twice(&self, newer: &Entry) -> Error {
        let batch = self.batches.get(newer.batch);
        let path = batch.map_or("", |batch| batch.keys.path(newer.row));
        let error = Error::new(
            ErrorKind::CorruptLog,
            format!(
                "a file is in the table twice, with two deletion vectors: {}",
                without_secrets(path)
            ),
        )
        .with("version", newer.version)
        .hint("its rows would be read twice; the commit that added it again should have removed it: restore that commit from a backup");
        match batch.and_then(|batch| batch.file_of(newer.row)) {
            Some(file) => error.with("path", file.relative()),
            None => error,
        }
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the older adds without those superseded by a newer action. Fails with `CorruptLog` if one of them
    /// survives although a newer action adds its path with another deletion vector.
    pub fn probe_adds(&self, older: &Survivors) -> Result<Survivors> {
        let probed = self.probe(older);
        let files = &older.files;
        let any_vector = files.keys.any_vector();
        if self.adds == 0 || self.is_empty() || (!any_vector && self.vectors.is_empty()) {
            return Ok(probed);
        }
        for (row, hash) in files.hashes.iter().enumerate() {
            if !probed.live.value(row) {
                continue;
            }
            let hash = if any_vector && files.keys.has_vector(row) {
                files.path_hash(row)
            } else {
                *hash
            };
            if self.filter.may_hold(hash)
                && let Some(newer) = self.added_at(files, row, hash)
            {
                return Err(self.live_twice(newer));
            }
        }
        Ok(probed)
    }

    fn holds(&self, files: &FileBatch, row: usize, hash: u32) -> bool {
        let is_same = |known: &Entry| {
            known.hash == hash
                && self
                    .batches
                    .get(known.batch)
                    .is_some_and(|batch| batch.keys.key(known.row) == files.keys.key(row))
        };
        self.filter.may_hold(hash) && self.table.find(spread(hash), is_same).is_some()
    }

    /// Returns the older survivors without those superseded by a newer action.
    #[must_use]
    pub fn probe(&self, older: &Survivors) -> Survivors {
        let files = &older.files;
        let mut patched: Option<BooleanBufferBuilder> = None;
        if !self.is_empty() {
            for (row, hash) in files.hashes.iter().enumerate() {
                if self.filter.may_hold(*hash) && older.live.value(row) && self.holds(files, row, *hash) {
                    patched
                        .get_or_insert_with(|| {
                            let mut bits = BooleanBufferBuilder::new(older.live.len());
                            bits.append_buffer(&older.live);
                            bits
                        })
                        .set_bit(row, false);
                }
            }
        }
        Survivors {
            files: Arc::clone(files),
            live: patched.map_or_else(|| older.live.clone(), |mut bits| bits.finish()),
        }
    }
}

fn same_key(batches: &[Arc<FileBatch>], left: &Entry, right: &Entry) -> bool {
    match (batches.get(left.batch), batches.get(right.batch)) {
        (Some(a), Some(b)) => a.keys.key(left.row) == b.keys.key(right.row),
        _ => false,
    }
}

fn twice(file: &LogFile) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "the commit adds or removes one logical file more than once",
    )
    .with("path", file.relative())
    .with("version", file.path.version)
    .hint("the order of actions in a commit has no meaning, so it is unknown which one applies")
}

#[cfg(test)]
mod tests;
