//! Changes of the table's configuration: as library calls, and their effect on the model.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_protocol::change::TableChange;
use deltaic_protocol::features::Traces;
use deltaic_protocol::schema::{ColumnName, DataType, PrimitiveType, StructField};
use deltaic_protocol::schema_evolution::Place;

use super::model::State;
use super::observed::TURNED_ON_BY;

/// The state to which a replacement resets the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blank {
    pub(crate) columns: Vec<(String, String)>,
    pub(crate) partition_column: Option<String>,
    pub(crate) properties: BTreeMap<String, String>,
    /// Features that the new table requires, in addition to the old one's.
    pub(crate) features: BTreeSet<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A property, which the table may already have.
    Set(&'static str, String),
    /// An integer column.
    AddColumn(String),
    Rename(String, String),
    Drop(String),
    /// From integer to long.
    Widen(String),
    /// Drops the feature; the history that uses it is retained.
    DropFeature(&'static str),
    Replace(Box<Blank>),
}

impl Change {
    pub(crate) fn replaces(&self) -> bool {
        matches!(self, Self::Replace(_))
    }

    /// The change as an argument of the library; `None` for a replacement.
    pub(crate) fn as_table_change(&self) -> Option<TableChange> {
        let column = |name: &String| ColumnName::from_parts(vec![name.clone()]);
        Some(match self {
            Self::Set(key, value) => TableChange::SetProperties([((*key).to_owned(), value.clone())].into()),
            Self::AddColumn(name) => TableChange::AddColumn {
                field: StructField::new(name, DataType::Primitive(PrimitiveType::Integer), true),
                within: None,
                place: Place::Last,
            },
            Self::Rename(from, to) => TableChange::RenameColumn(column(from), to.clone()),
            Self::Drop(name) => TableChange::DropColumn(column(name)),
            Self::Widen(name) => TableChange::ChangeType(column(name), PrimitiveType::Long),
            Self::DropFeature(name) => TableChange::DropFeature((*name).to_owned(), Traces::InHistory),
            Self::Replace(_) => return None,
        })
    }

    /// Whether the library may have preconditions that the model does not know.
    pub(crate) fn may_be_refused(&self) -> bool {
        matches!(self, Self::DropFeature(_) | Self::Replace(_))
    }

    /// The table after the change, which creates a version; `None` if the change is invalid.
    pub(crate) fn apply(&self, before: &State, version: usize, now_ms: i64) -> Option<State> {
        let mut after = before.clone();
        let is_mapped = before.properties.contains_key("delta.columnMapping.mode");
        let place = |name: &String| before.columns.iter().position(|(known, _)| known == name);
        match self {
            Self::Set(key, value) => {
                let had_times = before.has_times();
                after.properties.insert((*key).to_owned(), value.clone());
                let turned_on = TURNED_ON_BY.iter().find(|(by, to, _)| by == key && to == value);
                after.features.extend(turned_on.map(|(.., feature)| feature));
                if after.has_times() && !had_times {
                    after.times_since = Some(version);
                }
            }
            Self::AddColumn(name) if place(name).is_none() => {
                after.columns.push((name.clone(), "int".to_owned()));
            }
            Self::Rename(from, to) if is_mapped && from == to => {
                place(from)?;
            }
            Self::Rename(from, to) if is_mapped && place(to).is_none() => {
                after.columns[place(from)?].0.clone_from(to);
                if after.partition_column.as_ref() == Some(from) {
                    after.partition_column = Some(to.clone());
                }
            }
            Self::Drop(name) if is_mapped && before.partition_column.as_ref() != Some(name) => {
                after.columns.remove(place(name)?);
                // Data files need a column.
                if after
                    .columns
                    .iter()
                    .all(|(name, _)| before.partition_column.as_ref() == Some(name))
                {
                    return None;
                }
            }
            Self::Widen(name) => {
                let column = &mut after.columns[place(name)?];
                let may_widen = before.has("delta.enableTypeWidening") && column.1 == "int";
                if !may_widen && column.1 != "bigint" {
                    return None;
                }
                "bigint".clone_into(&mut column.1);
            }
            Self::DropFeature(name) => {
                let uses_vectors = before.files.values().any(|file| !file.deleted.is_empty());
                let (property, ..) = TURNED_ON_BY.iter().find(|(.., feature)| feature == name)?;
                if !before.features.contains(name)
                    || before.has(property)
                    || (*name == "deletionVectors" && uses_vectors)
                {
                    return None;
                }
                after.properties.remove(*property);
                after.features.remove(name);
            }
            Self::Replace(blank) => {
                for (path, file) in std::mem::take(&mut after.files) {
                    after.gone.insert((path, file.deleted), now_ms);
                }
                after.columns.clone_from(&blank.columns);
                after.partition_column.clone_from(&blank.partition_column);
                after.properties.clone_from(&blank.properties);
                after.features.extend(&blank.features);
                after.domains.clear();
                after.times_since = before
                    .times_since
                    .filter(|_| before.has_times() && after.has_times());
                if after.has_times() && !before.has_times() {
                    after.times_since = Some(version);
                }
            }
            Self::AddColumn(_) | Self::Rename(..) | Self::Drop(_) => return None,
        }
        Some(after)
    }
}
