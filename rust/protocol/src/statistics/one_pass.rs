//! The fast parser of statistics: one pass, directly into the columns, without a tree.
//!
//! The statistics of the files of a table are similar: the same keys in the same order. The parser learns
//! the keys of each level, predicts the next key from the previous row, and verifies a prediction with
//! one comparison. Unusual text (white space, escapes, duplicate keys, arrays, invalid JSON) is left to
//! the general parser.

use super::leaf_builders::Columns;
use super::leaf_builders::Kind;
use super::ordinary::is_ordinary;
use super::scanner::Scanner;
use super::schema::{Part, StatisticsSchema, Wanted};

/// Maximum number of learnt keys per level, and maximum length of a key in bytes.
const KEYS: usize = 4096;
const KEY_BYTES: usize = 1024;
/// Number of keys that may be compared without a match before texts increase the budget: enough to learn
/// the widest level, and little compared to the time of parsing, so that untrusted input cannot make
/// parsing slow.
const PATIENCE: usize = KEYS * KEYS / 2;

/// The learnt keys by level. `ESCAPED` as in [`Scanner`].
#[derive(Debug)]
pub(super) struct OnePass<'s, const ESCAPED: bool> {
    levels: Vec<Level<'s>>,
    patience: usize,
}

/// One object in the statistics: the root, or a struct of columns.
#[derive(Debug)]
struct Level<'s> {
    meaning: Meaning<'s>,
    members: Vec<Member>,
}

/// What the keys of a level are.
#[derive(Clone, Copy, Debug)]
enum Meaning<'s> {
    Statistics(&'s [Wanted]),
    Columns(&'s [Wanted], Kind),
}

/// A key and the target of its value.
#[derive(Debug)]
struct Member {
    /// The key with its quotes and its colon.
    key: Box<[u8]>,
    /// Its first bytes, and a mask of which of the 16 bytes they are.
    first: u128,
    mask: u128,
    /// The last 16 bytes of a longer key.
    last: u128,
    target: Target,
    /// The row in which it was last found, plus one.
    seen: usize,
}

/// The target of a value.
#[derive(Clone, Copy, Debug)]
enum Target {
    Nowhere,
    Bound(usize),
    Count(usize),
    TightBounds,
    Level(usize),
}

impl<'s, const ESCAPED: bool> OnePass<'s, ESCAPED> {
    pub(super) fn new(schema: &'s StatisticsSchema) -> Self {
        Self {
            levels: vec![Level {
                meaning: Meaning::Statistics(&schema.fields),
                members: Vec::new(),
            }],
            patience: PATIENCE,
        }
    }

    /// Parses a text into the columns; returns whether the bounds are tight. Returns `None` after
    /// removing the row if the general parser must parse the text.
    pub(super) fn read(&mut self, text: &[u8], columns: &mut Columns, row: usize) -> Option<bool> {
        if !is_ordinary::<ESCAPED>(text) {
            return None;
        }
        self.patience = self.patience.saturating_add(text.len()).min(PATIENCE);
        let mut reading = Reading {
            levels: &mut self.levels,
            patience: &mut self.patience,
            scanner: Scanner::<ESCAPED>::new(text),
            columns,
            row,
            tight: true,
        };
        reading.object(0)?;
        reading.scanner.is_at_end().then_some(reading.tight)
    }
}

struct Reading<'r, 's, 'a, const ESCAPED: bool> {
    levels: &'r mut Vec<Level<'s>>,
    patience: &'r mut usize,
    scanner: Scanner<'a, ESCAPED>,
    columns: &'r mut Columns,
    row: usize,
    tight: bool,
}

impl<'s, const ESCAPED: bool> Reading<'_, 's, '_, ESCAPED> {
    fn object(&mut self, level: usize) -> Option<()> {
        // Moved out while the object is parsed; a level never contains itself.
        let mut members = std::mem::take(&mut self.levels.get_mut(level)?.members);
        let read = self.members(level, &mut members);
        self.levels.get_mut(level)?.members = members;
        read
    }

    fn members(&mut self, level: usize, members: &mut Vec<Member>) -> Option<()> {
        if self.scanner.next()? != b'{' {
            return None;
        }
        if self.scanner.peek()? == b'}' {
            self.scanner.advance(1);
            return Some(());
        }
        let stamp = self.row + 1;
        let mut guess = 0;
        loop {
            let rest = self.scanner.rest();
            let member = match members.get_mut(guess) {
                Some(member) if member.matches_at(rest) => member,
                _ => {
                    guess = self.look_up(level, members, guess)?;
                    members.get_mut(guess)?
                }
            };
            if member.seen == stamp {
                return None;
            }
            member.seen = stamp;
            self.scanner.advance(member.key.len());
            self.value(member.target)?;
            guess += 1;
            match self.scanner.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    #[inline(always)]
    fn value(&mut self, target: Target) -> Option<()> {
        if let Target::Count(place) = target
            && let Some(digit) = self.scanner.single_digit()
        {
            self.columns.get_mut(place)?.put_digit(self.row, digit);
            return Some(());
        }
        let first = self.scanner.peek()?;
        if first == b'-' || first.is_ascii_digit() {
            let start = self.scanner.place();
            let Some(number) = self.scanner.short_number() else {
                return self.long_number(target);
            };
            return match target {
                Target::Bound(place) => {
                    let column = self.columns.get_mut(place)?;
                    if !column.put_number(self.row, number) {
                        column.put_token(self.row, self.scanner.since(start));
                    }
                    Some(())
                }
                Target::Count(place) => {
                    self.columns.get_mut(place)?.put_count(self.row, number);
                    Some(())
                }
                Target::Nowhere | Target::TightBounds | Target::Level(_) => Some(()),
            };
        }
        match target {
            Target::Bound(place) if self.scanner.is_at_string() => {
                let column = self.columns.get_mut(place)?;
                if let Some((text, bytes)) = self.scanner.string_of(column.time_length)
                    && column.put_time(self.row, text)
                {
                    self.scanner.advance(bytes);
                } else {
                    column.put_text(self.row, self.scanner.string()?);
                }
                Some(())
            }
            Target::TightBounds => {
                self.tight = first != b'f';
                self.scanner.skip_value()
            }
            Target::Level(level) if first == b'{' => self.object(level),
            _ => self.scanner.skip_value(),
        }
    }

    #[inline(never)]
    fn long_number(&mut self, target: Target) -> Option<()> {
        let start = self.scanner.place();
        let number = self.scanner.any_number()?;
        let token = self.scanner.since(start);
        match target {
            Target::Bound(place) => {
                let column = self.columns.get_mut(place)?;
                if !(number.is_plain() && column.put_number(self.row, number)) {
                    column.put_token(self.row, token);
                }
            }
            Target::Count(place) => self.columns.get_mut(place)?.put_count_token(self.row, token),
            Target::Nowhere | Target::TightBounds | Target::Level(_) => {}
        }
        Some(())
    }

    /// The index of the member at the current position, which is not the predicted one; a new key is
    /// learnt at the index where it was found.
    #[cold]
    #[inline(never)]
    fn look_up(&mut self, level: usize, known: &mut Vec<Member>, guess: usize) -> Option<usize> {
        let rest = self.scanner.rest();
        let (before, after) = known.split_at_checked(guess)?;
        if let Some(at) = after.iter().position(|member| member.matches_at(rest)) {
            *self.patience = self.patience.checked_sub(at)?;
            return Some(guess + at);
        }
        *self.patience = self.patience.checked_sub(known.len())?;
        if let Some(at) = before.iter().position(|member| member.matches_at(rest)) {
            return Some(at);
        }
        let mut ahead = self.scanner.clone();
        let name = ahead.string()?;
        let length = rest.len() - ahead.rest().len() + 1;
        let key = rest.get(..length).filter(|key| key.ends_with(b":"))?;
        if known.len() >= KEYS || length > KEY_BYTES {
            return None;
        }
        let target = self.target(level, std::str::from_utf8(name).ok()?)?;
        known.insert(guess, Member::new(key, target));
        Some(guess)
    }

    /// The target of the value of a key; `None` if the general parser must decide.
    fn target(&mut self, level: usize, name: &str) -> Option<Target> {
        let (wanted, kind) = match self.levels.get(level)?.meaning {
            Meaning::Columns(fields, kind) => (fields, kind),
            Meaning::Statistics(fields) => {
                let kind = match name {
                    "numRecords" => return Some(Target::Count(Columns::NUM_RECORDS)),
                    "tightBounds" => return Some(Target::TightBounds),
                    "minValues" => Kind::Min,
                    "maxValues" => Kind::Max,
                    "nullCount" => Kind::NullCount,
                    // The alternative name of `nullCount`.
                    "nullCounts" => return None,
                    _ => return Some(Target::Nowhere),
                };
                // Also if no column is wanted: known keys are skipped faster.
                return Some(self.new_level(Meaning::Columns(fields, kind)));
            }
        };
        let Some(field) = wanted.iter().find(|field| field.key == name) else {
            return Some(Target::Nowhere);
        };
        Some(match &field.part {
            Part::Fields(below) => self.new_level(Meaning::Columns(below, kind)),
            Part::Leaf(leaf) => {
                let place = Columns::place(kind, leaf.index);
                match kind {
                    Kind::NullCount => Target::Count(place),
                    _ if leaf.bounds.is_some() => Target::Bound(place),
                    _ => Target::Nowhere,
                }
            }
        })
    }

    fn new_level(&mut self, meaning: Meaning<'s>) -> Target {
        self.levels.push(Level {
            meaning,
            members: Vec::new(),
        });
        Target::Level(self.levels.len() - 1)
    }
}

impl Member {
    fn new(key: &[u8], target: Target) -> Self {
        let (first, mask) = key
            .iter()
            .take(16)
            .rev()
            .fold((0u128, 0u128), |(first, mask), byte| {
                (first << 8 | u128::from(*byte), mask << 8 | 0xFF)
            });
        Self {
            key: key.into(),
            first,
            mask,
            last: key
                .last_chunk::<16>()
                .map_or(0, |chunk| u128::from_le_bytes(*chunk)),
            target,
            seen: 0,
        }
    }

    /// Whether the text continues with the key, whose first 16 bytes are known to match.
    #[inline]
    fn ends_at(&self, rest: &[u8]) -> bool {
        match rest.get(..self.key.len()).and_then(|key| key.last_chunk::<16>()) {
            Some(chunk) if self.key.len() <= 32 => u128::from_le_bytes(*chunk) == self.last,
            _ => rest.starts_with(&self.key),
        }
    }

    /// Whether the text continues with the key.
    #[inline]
    fn matches_at(&self, rest: &[u8]) -> bool {
        match rest.first_chunk::<16>() {
            Some(chunk) => {
                (u128::from_le_bytes(*chunk) ^ self.first) & self.mask == 0
                    && (self.key.len() <= 16 || self.ends_at(rest))
            }
            None => rest.starts_with(&self.key),
        }
    }
}
