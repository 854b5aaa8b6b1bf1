//! Which columns get statistics. Protocol: *Per-file Statistics*; the properties are those of the reference writer.

use super::unreadable;
use crate::Result;
use crate::actions::Metadata;
use crate::schema::ColumnName;

const NAMED: &str = "delta.dataSkippingStatsColumns";

/// Which columns get statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexedColumns {
    /// The first so many leaf columns.
    First(usize),
    /// All of them.
    All,
    /// These and what is in them.
    Named(Vec<ColumnName>),
}

/// `delta.dataSkippingStatsColumns`, else `delta.dataSkippingNumIndexedCols`, else the first 32 leaf columns.
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

/// Lets `delta.dataSkippingStatsColumns` follow a column that got another path, or that is gone. A list of which nothing
/// is left is taken away.
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

/// What of a path lies below another, ignoring case; none where it does not.
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
}
