//! Selects the columns with statistics. Protocol: *Per-file Statistics*; the properties are those of the
//! reference writer.

use super::unreadable::unreadable;
use crate::Result;
use crate::actions::Metadata;
use crate::schema::{ColumnName, DataType, StructField, StructType};

const NAMED: &str = "delta.dataSkippingStatsColumns";

/// Which columns have statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexedColumns {
    /// The first n leaf columns.
    First(usize),
    /// All columns.
    All,
    /// These columns, including nested fields.
    Named(Vec<ColumnName>),
    /// Those, and these columns.
    Also(Box<IndexedColumns>, Vec<ColumnName>),
}

impl IndexedColumns {
    /// The leaf columns of a schema with statistics, in schema order: each field with the fields that
    /// contain it. Names are compared ignoring case.
    ///
    /// ```
    /// use deltaic_protocol::properties::IndexedColumns;
    /// use deltaic_protocol::schema::StructType;
    /// let schema = StructType::from_json(r#"{"type":"struct","fields":[
    ///     {"name":"s","nullable":true,"metadata":{},"type":{"type":"struct","fields":[
    ///         {"name":"x","type":"long","nullable":true,"metadata":{}}]}},
    ///     {"name":"y","type":"long","nullable":true,"metadata":{}}]}"#)?;
    /// let first = IndexedColumns::First(1).leaves(&schema);
    /// let names: Vec<&str> = first.iter().flatten().map(|field| field.name.as_str()).collect();
    /// assert_eq!(names, ["s", "x"]);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    #[must_use]
    pub fn leaves<'a>(&self, schema: &'a StructType) -> Vec<Vec<&'a StructField>> {
        if let Self::Also(first, named) = self {
            let named = Self::Named(named.clone());
            let mut chosen = first.leaves(schema);
            chosen.extend(named.leaves(schema));
            let is_chosen = |leaf: &Vec<&StructField>| chosen.contains(leaf);
            return Self::All.leaves(schema).into_iter().filter(is_chosen).collect();
        }
        let lower = |name: &String| name.to_lowercase();
        let mut walk = Walk {
            named: match self {
                Self::Named(names) => Some(
                    names
                        .iter()
                        .map(|name| name.parts().iter().map(lower).collect())
                        .collect(),
                ),
                Self::First(_) | Self::All | Self::Also(..) => None,
            },
            left: match self {
                Self::First(count) => *count,
                Self::All | Self::Named(_) | Self::Also(..) => usize::MAX,
            },
            names: Vec::new(),
            fields: Vec::new(),
            found: Vec::new(),
        };
        walk.visit(schema);
        walk.found
    }
}

/// A traversal of the leaf columns of a schema.
struct Walk<'a> {
    /// The selected paths, including nested fields, in lower case; `None` selects all.
    named: Option<Vec<Vec<String>>>,
    left: usize,
    /// The current position: the fields and their names in lower case.
    fields: Vec<&'a StructField>,
    names: Vec<String>,
    found: Vec<Vec<&'a StructField>>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, schema: &'a StructType) {
        for field in &schema.fields {
            if self.left == 0 {
                return;
            }
            self.fields.push(field);
            self.names.push(field.name.to_lowercase());
            let is_meant = |path: &Vec<String>| self.names.starts_with(path);
            if let DataType::Struct(inner) = &field.data_type {
                self.visit(inner);
            } else if self.named.as_ref().is_none_or(|named| named.iter().any(is_meant)) {
                self.left -= 1;
                self.found.push(self.fields.clone());
            }
            self.fields.pop();
            self.names.pop();
        }
    }
}

/// `delta.dataSkippingStatsColumns`, otherwise `delta.dataSkippingNumIndexedCols`, otherwise the first 32
/// leaf columns.
pub fn indexed_columns(metadata: &Metadata) -> Result<IndexedColumns> {
    if let Some(list) = metadata.property(NAMED) {
        let names: Result<Vec<ColumnName>> = list
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(ColumnName::parse)
            .collect();
        return names
            .map(IndexedColumns::Named)
            .map_err(|_| unreadable(NAMED, list));
    }
    const KEY: &str = "delta.dataSkippingNumIndexedCols";
    match metadata.property(KEY) {
        None => Ok(IndexedColumns::First(32)),
        Some(text) => match text.trim().parse::<i64>() {
            Ok(-1) => Ok(IndexedColumns::All),
            Ok(count) if count >= 0 => Ok(IndexedColumns::First(
                usize::try_from(count).unwrap_or(usize::MAX),
            )),
            _ => Err(unreadable(KEY, text)),
        },
    }
}

/// Updates `delta.dataSkippingStatsColumns` for a column that was renamed or dropped. An empty list is
/// removed.
pub(crate) fn follow_column(metadata: &mut Metadata, from: &[String], to: Option<&[String]>) -> Result<()> {
    let Some(_) = metadata.property(NAMED) else {
        return Ok(());
    };
    let IndexedColumns::Named(columns) = indexed_columns(metadata)? else {
        return Ok(());
    };
    let followed: Vec<ColumnName> = columns
        .iter()
        .filter_map(|column| match below(column.parts(), from) {
            None => Some(column.clone()),
            Some(rest) => to.map(|to| ColumnName::from_parts(to.iter().chain(rest).cloned().collect())),
        })
        .collect();
    if followed == columns {
        return Ok(());
    }
    if followed.is_empty() {
        metadata.configuration.remove(NAMED);
    } else {
        let list: Vec<String> = followed.iter().map(ToString::to_string).collect();
        metadata
            .configuration
            .insert(NAMED.to_owned(), Some(list.join(",")));
    }
    Ok(())
}

/// The rest of a path below another, ignoring case; `None` if it is not below it.
fn below<'a>(path: &'a [String], above: &[String]) -> Option<&'a [String]> {
    let (start, rest) = path.split_at_checked(above.len())?;
    let same = start
        .iter()
        .zip(above)
        .all(|(left, right)| left.to_lowercase() == right.to_lowercase());
    same.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::metadata;

    #[test]
    fn the_list_of_columns_follows_names() -> Result<()> {
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        for (list, from, to, expected) in [
            ("a, b", "b", Some("c"), Some("a,c")),
            ("a,B.x", "b", Some("c"), Some("a,c.x")),
            ("a,b.x", "b.x", None, Some("a")),
            ("a,b.x", "b", None, Some("a")),
            ("b", "b", None, None),
            ("a , bb", "b", None, Some("a , bb")),
            ("b.y", "b.x", Some("b.z"), Some("b.y")),
            ("`a.b`", "a", None, Some("`a.b`")),
            ("a", "a", Some("my col"), Some("`my col`")),
        ] {
            let mut table = metadata(&[(NAMED, list)]);
            follow_column(&mut table, &path(from), to.map(path).as_deref())?;
            assert_eq!(table.property(NAMED), expected, "{list} {from} {to:?}");
        }
        let mut plain = metadata(&[]);
        follow_column(&mut plain, &path("a"), None)?;
        assert_eq!(plain, metadata(&[]));
        Ok(())
    }

    /// Any type but a struct is a leaf; a name selects all fields in it, ignoring case.
    #[test]
    fn the_columns_that_get_statistics_are_the_first_or_the_named() {
        let schema = StructType::from_json(
            r#"{"type":"struct","fields":[
                {"name":"a","type":"long","nullable":true,"metadata":{}},
                {"name":"S","nullable":true,"metadata":{},"type":{"type":"struct","fields":[
                    {"name":"x","type":"long","nullable":true,"metadata":{}},
                    {"name":"Y","nullable":true,"metadata":{},"type":{"type":"struct","fields":[
                        {"name":"z","type":"long","nullable":true,"metadata":{}}]}}]}},
                {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":"long"}}]}"#,
        )
        .expect("a schema");
        let named = |list: &str| {
            let table = metadata(&[(NAMED, list)]);
            indexed_columns(&table).expect("a list")
        };
        for (indexed, expected) in [
            (IndexedColumns::All, &["a", "S.x", "S.Y.z", "l"][..]),
            (IndexedColumns::First(0), &[]),
            (IndexedColumns::First(2), &["a", "S.x"]),
            (IndexedColumns::First(9), &["a", "S.x", "S.Y.z", "l"]),
            (named("s.y, A"), &["a", "S.Y.z"]),
            (named("s"), &["S.x", "S.Y.z"]),
            (named("x, s.Y.z.w, none"), &[]),
            (
                IndexedColumns::Also(
                    Box::new(IndexedColumns::First(1)),
                    vec![ColumnName::parse("s.y.Z").expect("a name")],
                ),
                &["a", "S.Y.z"],
            ),
            (
                IndexedColumns::Also(
                    Box::new(IndexedColumns::First(2)),
                    vec![ColumnName::parse("A").expect("a name")],
                ),
                &["a", "S.x"],
            ),
        ] {
            let leaves = indexed.leaves(&schema);
            let path = |fields: &Vec<&StructField>| {
                let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                names.join(".")
            };
            let found: Vec<String> = leaves.iter().map(path).collect();
            assert_eq!(found, expected, "{indexed:?}");
        }
    }
}
