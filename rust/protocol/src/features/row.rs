//! The row of a feature: everything that the checks and changes of a protocol need to know of it.

use super::drop_rule::{Drop, FileUse};
use super::use_in_table::{always, never};
use crate::actions::Metadata;
use crate::schema::StructType;

/// Which clients a feature binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writers only.
    Writer,
    /// Readers and writers.
    ReaderWriter,
}

/// How far deltaic supports tables with the feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Fully supported.
    Full,
    /// Fully supported once the catalog has provided the tail of the log.
    WithTail,
    /// Not implemented: the table is refused.
    None,
}

/// What is done with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read the log: open the table, list files, read metadata and history.
    Open,
    /// Read rows.
    Read,
    /// Append rows.
    Append,
    /// Remove files, or rows by deletion vectors, without adding rows.
    Remove,
    /// Change the protocol, metadata and domains.
    Alter,
    /// Write checkpoints.
    Checkpoint,
    /// Maintain the log: checksums, compaction files and metadata cleanup.
    Maintain,
}

/// Support for tables with a feature, by verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerbSupport {
    /// For [`Verb::Open`].
    pub open: Support,
    /// For [`Verb::Read`].
    pub read: Support,
    /// For [`Verb::Append`].
    pub append: Support,
    /// For [`Verb::Remove`].
    pub remove: Support,
    /// For [`Verb::Alter`].
    pub alter: Support,
    /// For [`Verb::Checkpoint`].
    pub checkpoint: Support,
    /// For [`Verb::Maintain`].
    pub maintain: Support,
}

/// When a change of a property by a winning commit is compatible with commits that did not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompatibleIf {
    /// Always, unless the property is removed, which is never compatible.
    Set,
    /// The property did not exist.
    New,
    /// The table supports the feature, and the property is now this value.
    Becomes(&'static str),
    /// The property that enables the feature is `true`.
    Enabled,
    /// Column mapping by name was enabled in a table without it: the physical names are those in the existing files.
    MapsColumns,
}

/// A row of the table of features.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// The name in the protocol action.
    pub name: &'static str,
    /// Which clients it binds.
    pub kind: Kind,
    /// The legacy reader and writer versions that imply it; 0 if none does.
    pub legacy: (i32, i32),
    /// Names of the feature before it was finished, or in some writers.
    pub aliases: &'static [&'static str],
    /// Features that a table must also have.
    pub requires: &'static [&'static str],
    /// Features that a table must not have as well.
    pub excludes: &'static [&'static str],
    /// The table property that enables the feature if `true`.
    pub property: Option<&'static str>,
    /// Support for tables with the feature.
    pub support: VerbSupport,
    /// Whether a table that supports the feature also uses it.
    pub active: IsUsed,
    /// Whether a table uses the feature in another way than by its property, so that its protocol must support it.
    pub needed: IsUsed,
    /// The properties that a winning commit may change although others that did not read the change commit after it.
    pub compatible: &'static [(&'static str, CompatibleIf)],
    /// Whether the catalog alone decides who cleans up the log.
    pub(super) cleaned_up_by_catalog: bool,
    /// How it is dropped; `None` if it cannot be dropped.
    pub(super) drop: Option<Drop>,
}

/// Whether metadata and schema use a feature.
type IsUsed = fn(&Metadata, &StructType) -> bool;

impl Feature {
    /// Support for a verb.
    #[must_use]
    pub const fn support(&self, verb: Verb) -> Support {
        match verb {
            Verb::Open => self.support.open,
            Verb::Read => self.support.read,
            Verb::Append => self.support.append,
            Verb::Remove => self.support.remove,
            Verb::Alter => self.support.alter,
            Verb::Checkpoint => self.support.checkpoint,
            Verb::Maintain => self.support.maintain,
        }
    }

    /// How files show that they use the feature, so that dropping it must check or change them; `None` if they do not.
    #[must_use]
    pub fn use_in_files(&self) -> Option<FileUse> {
        self.drop.and_then(|drop| drop.in_files)
    }

    pub(super) const fn property(self, property: &'static str) -> Self {
        Self {
            property: Some(property),
            ..self
        }
    }

    pub(super) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub(super) const fn requires(self, requires: &'static [&'static str]) -> Self {
        Self { requires, ..self }
    }

    pub(super) const fn excludes(self, excludes: &'static [&'static str]) -> Self {
        Self { excludes, ..self }
    }

    pub(super) const fn active(self, active: IsUsed) -> Self {
        Self { active, ..self }
    }

    pub(super) const fn needed(self, needed: IsUsed) -> Self {
        Self { needed, ..self }
    }

    pub(super) const fn compatible(self, compatible: &'static [(&'static str, CompatibleIf)]) -> Self {
        Self { compatible, ..self }
    }

    pub(super) const fn cleaned_up_by_catalog(self) -> Self {
        Self {
            cleaned_up_by_catalog: true,
            ..self
        }
    }

    pub(super) const fn dropped(self, drop: Drop) -> Self {
        Self {
            drop: Some(drop),
            ..self
        }
    }

    /// Only readers of the log support it.
    pub(super) const fn read_only(self) -> Self {
        let support = VerbSupport {
            alter: NONE,
            checkpoint: NONE,
            ..self.support
        };
        Self { support, ..self }
    }

    /// Other clients stage commits, or store them elsewhere: deltaic does not maintain the log.
    pub(super) const fn unmaintained(self) -> Self {
        let support = VerbSupport {
            maintain: NONE,
            ..self.support
        };
        Self { support, ..self }
    }

    pub(super) const fn unaltered(self) -> Self {
        let support = VerbSupport {
            alter: NONE,
            ..self.support
        };
        Self { support, ..self }
    }

    pub(super) const fn opened(self, open: Support) -> Self {
        let support = VerbSupport { open, ..self.support };
        Self { support, ..self }
    }
}

pub(super) const fn writer(name: &'static str, legacy_writer: i32, append: Support) -> Feature {
    Feature {
        name,
        kind: Kind::Writer,
        legacy: (0, legacy_writer),
        aliases: &[],
        requires: &[],
        excludes: &[],
        property: None,
        support: VerbSupport {
            open: FULL,
            read: FULL,
            append,
            remove: append,
            alter: FULL,
            checkpoint: FULL,
            maintain: FULL,
        },
        active: always,
        needed: never,
        compatible: &[],
        cleaned_up_by_catalog: false,
        drop: None,
    }
}

/// A feature that restricts the rows that are written: constraints, defaults, generated values.
pub(super) const fn row_rule(name: &'static str, legacy_writer: i32, used: IsUsed) -> Feature {
    writer(name, legacy_writer, FULL).active(used).needed(used)
}

pub(super) const fn both(name: &'static str, read: Support, append: Support) -> Feature {
    let feature = writer(name, 0, append);
    let support = VerbSupport {
        read,
        ..feature.support
    };
    Feature {
        support,
        kind: Kind::ReaderWriter,
        ..feature
    }
}

pub(super) const FULL: Support = Support::Full;
pub(super) const WITH_TAIL: Support = Support::WithTail;
pub(super) const NONE: Support = Support::None;
