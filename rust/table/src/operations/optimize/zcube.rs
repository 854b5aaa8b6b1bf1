//! ZCubes: files that one clustering wrote together, which their tags name as those of delta-spark do.
//!
//! Protocol: *Writer Requirements for Clustered Table* (`clusteringProvider`). The tags are not in the protocol.

use std::collections::BTreeMap;

use deltaic_protocol::actions::Add;
use deltaic_protocol::schema::ColumnName;
use deltaic_storage::clock::new_id;
use serde_json::Value;

/// The clustering implementation whose files are clustered further.
const PROVIDER: &str = "liquid";

const ID: &str = "ZCUBE_ID";
const COLUMNS: &str = "ZCUBE_ZORDER_BY";

/// How a file is clustered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Clustered {
    /// It is not.
    Not,
    /// By the columns of the table, with the other files of a ZCube.
    InCube(String),
    /// By other columns, or by another implementation.
    Otherwise,
}

impl Clustered {
    /// How a file is clustered, in a table with these clustering columns.
    pub(super) fn of(add: &Add, columns: &[ColumnName]) -> Self {
        if add
            .clustering_provider
            .as_deref()
            .is_some_and(|name| name != PROVIDER)
        {
            return Self::Otherwise;
        }
        let tag = |name| add.tags.as_ref().and_then(|tags| tags.get(name)?.as_deref());
        match (tag(ID), tag(COLUMNS)) {
            (Some(id), Some(names)) if are_columns(names, columns) => Self::InCube(id.to_owned()),
            (Some(_), Some(_)) => Self::Otherwise,
            _ => Self::Not,
        }
    }
}

/// What the new files of a bin state about their clustering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClusteringTags {
    provider: Option<String>,
    tags: Option<BTreeMap<String, Option<String>>>,
}

impl ClusteringTags {
    /// Those of a new ZCube.
    pub(super) fn of_new_cube(columns: &[ColumnName]) -> Self {
        let names = Value::from(names_in_spark(columns)).to_string();
        let tags = [(ID, new_id()), (COLUMNS, names)];
        let tags = tags.map(|(name, value)| (name.to_owned(), Some(value)));
        Self {
            provider: Some(PROVIDER.to_owned()),
            tags: Some(tags.into()),
        }
    }

    /// Those of a file.
    pub(super) fn of(add: &Add) -> Self {
        Self {
            provider: add.clustering_provider.clone(),
            tags: add.tags.clone(),
        }
    }

    pub(super) fn set(&self, add: &mut Add) {
        add.clustering_provider.clone_from(&self.provider);
        add.tags.clone_from(&self.tags);
    }
}

/// The names of columns as in delta-spark, which compares the text of the tags.
pub(super) fn names_in_spark(columns: &[ColumnName]) -> Vec<String> {
    let quoted = |part: &String| {
        let is_plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_number = part.chars().all(|c| c.is_ascii_digit());
        match is_plain && !is_number {
            true => part.clone(),
            false => format!("`{}`", part.replace('`', "``")),
        }
    };
    let name = |column: &ColumnName| column.parts().iter().map(quoted).collect::<Vec<_>>().join(".");
    columns.iter().map(name).collect()
}

/// Whether a tag has the names of these columns, in their order.
fn are_columns(tag: &str, columns: &[ColumnName]) -> bool {
    let names: Vec<String> = serde_json::from_str(tag).unwrap_or_default();
    let parsed: Vec<ColumnName> = names.iter().flat_map(|name| ColumnName::parse(name)).collect();
    parsed.len() == names.len() && parsed == columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Vec<ColumnName> {
        let parsed = names.iter().map(|name| ColumnName::parse(name));
        parsed.collect::<Result<_, _>>().expect("names")
    }

    fn tagged(provider: Option<&str>, tags: &[(&str, &str)]) -> Add {
        let tags = tags
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())));
        Add {
            clustering_provider: provider.map(str::to_owned),
            tags: Some(tags.collect()),
            ..Add::default()
        }
    }

    #[test]
    fn names_are_quoted_as_by_spark() {
        let names = columns(&["a_1", "s.`x y`", "`7`", "`a``b`", "ü"]);
        assert_eq!(names_in_spark(&names), ["a_1", "s.`x y`", "`7`", "`a``b`", "`ü`"]);
    }

    #[test]
    fn new_files_are_in_the_cube_of_their_columns() {
        let names = columns(&["a", "s.x", "`b.c`"]);
        let mut add = Add::default();
        ClusteringTags::of_new_cube(&names).set(&mut add);
        assert_eq!(add.clustering_provider.as_deref(), Some("liquid"));
        let tags = add.tags.clone().unwrap_or_default();
        assert_eq!(
            tags.get(COLUMNS).cloned().flatten().as_deref(),
            Some(r#"["a","s.x","`b.c`"]"#)
        );
        let id = tags.get(ID).cloned().flatten().unwrap_or_default();
        assert_eq!(Clustered::of(&add, &names), Clustered::InCube(id.clone()));
        assert_eq!(Clustered::of(&add, &columns(&["a", "s.x"])), Clustered::Otherwise);
        assert_eq!(
            Clustered::of(&add, &columns(&["s.x", "a", "`b.c`"])),
            Clustered::Otherwise
        );
        let mut other = Add::default();
        ClusteringTags::of_new_cube(&names).set(&mut other);
        assert_ne!(Clustered::of(&other, &names), Clustered::InCube(id));
        let mut copied = Add::default();
        ClusteringTags::of(&add).set(&mut copied);
        assert_eq!(copied, add);
    }

    /// protocol: writer-requirements-for-clustered-table.6
    #[test]
    fn files_of_other_implementations_are_recognized() {
        let names = columns(&["a"]);
        let cube = [(ID, "7"), (COLUMNS, r#"["a"]"#)];
        for (add, expected) in [
            (Add::default(), Clustered::Not),
            (tagged(None, &[("app", "x")]), Clustered::Not),
            (tagged(Some("liquid"), &[]), Clustered::Not),
            (tagged(Some("liquid"), &cube[..1]), Clustered::Not),
            (tagged(Some("liquid"), &cube), Clustered::InCube("7".to_owned())),
            (tagged(None, &cube), Clustered::InCube("7".to_owned())),
            (tagged(Some("solid"), &cube), Clustered::Otherwise),
            (tagged(Some("solid"), &[]), Clustered::Otherwise),
            (tagged(None, &[(ID, "7"), (COLUMNS, "[")]), Clustered::Otherwise),
            (
                tagged(None, &[(ID, "7"), (COLUMNS, r#"["a",""]"#)]),
                Clustered::Otherwise,
            ),
            (
                tagged(None, &[(ID, "7"), (COLUMNS, r#"["`a`"]"#)]),
                Clustered::InCube("7".to_owned()),
            ),
        ] {
            assert_eq!(Clustered::of(&add, &names), expected, "{add:?}");
        }
    }
}
