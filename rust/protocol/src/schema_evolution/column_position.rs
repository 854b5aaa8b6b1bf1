//! The position of a column among its siblings.

use super::find::{fields_mut, find, lost};
use crate::error::nearest;
use crate::schema::{ColumnName, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// A position among siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before all siblings.
    First,
    /// Directly after the sibling with this name.
    After(String),
    /// After all siblings.
    Last,
}

/// Inserts a field at a position.
pub(crate) fn insert(fields: &mut Vec<StructField>, field: StructField, place: &Place) -> Result<()> {
    let index = match place {
        Place::First => 0,
        Place::Last => fields.len(),
        Place::After(name) => {
            let exactly = fields.iter().position(|other| other.name == *name);
            let found = exactly.or_else(|| {
                fields
                    .iter()
                    .position(|other| other.name.to_lowercase() == name.to_lowercase())
            });
            1 + found.ok_or_else(|| {
                let near = nearest(name, fields.iter().map(|field| field.name.as_str()));
                Error::new(
                    ErrorKind::InvalidArgument,
                    format!(
                        "there is no column {name:?} next to {} to be placed after",
                        field.name
                    ),
                )
                .with("field", field.name.as_str())
                .hint(near.map_or_else(
                    || "a column can only be placed after a column of the same struct".to_owned(),
                    |near| format!("did you mean {near}?"),
                ))
            })?
        }
    };
    fields.insert(index, field);
    Ok(())
}

/// Moves a column or field among its siblings.
///
/// # Errors
///
/// Returns `InvalidArgument` with the most similar name if the column or the sibling does not exist.
///
/// ```
/// use deltaic_protocol::schema::{ColumnName, PrimitiveType, StructField, StructType};
/// use deltaic_protocol::schema_evolution::{Place, move_column};
/// let column = |name: &str| StructField::new(name, PrimitiveType::Long.into(), true);
/// let mut schema = StructType { fields: vec![column("a"), column("b"), column("c")] };
/// move_column(&mut schema, &ColumnName::parse("c")?, &Place::After("a".to_owned()))?;
/// assert_eq!(schema.names().collect::<Vec<_>>(), ["a", "c", "b"]);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn move_column(schema: &mut StructType, column: &ColumnName, place: &Place) -> Result<()> {
    let found = find(schema, column)?;
    found.ensure_field("moved")?;
    let (name, parents) = found.split()?;
    if let Place::After(other) = place
        && other.to_lowercase() == name.to_lowercase()
    {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("{name} cannot be placed after itself"),
        )
        .with("field", name));
    }
    let fields = fields_mut(schema, parents).ok_or_else(lost)?;
    let from = fields
        .iter()
        .position(|field| field.name == name)
        .ok_or_else(lost)?;
    let field = fields.remove(from);
    insert(fields, field, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{DataType, PrimitiveType};

    fn letters(names: &str) -> StructType {
        StructType {
            fields: names
                .chars()
                .map(|name| StructField::new(name, PrimitiveType::Long.into(), true))
                .collect(),
        }
    }

    fn names(schema: &StructType) -> String {
        schema.names().collect()
    }

    #[test]
    fn a_column_moves_and_the_others_retain_their_order() -> Result<()> {
        for (column, place, expected) in [
            ("a", Place::First, "abcd"),
            ("c", Place::First, "cabd"),
            ("a", Place::Last, "bcda"),
            ("a", Place::After("b".to_owned()), "bacd"),
            ("d", Place::After("A".to_owned()), "adbc"),
            ("b", Place::After("a".to_owned()), "abcd"),
        ] {
            let mut schema = letters("abcd");
            move_column(&mut schema, &ColumnName::parse(column)?, &place)?;
            assert_eq!(names(&schema), expected, "{column} {place:?}");
        }
        let mut outer = letters("z");
        outer
            .fields
            .push(StructField::new("s", DataType::Struct(letters("ab")), true));
        move_column(&mut outer, &ColumnName::parse("s.b")?, &Place::First)?;
        assert_eq!(outer.fields[1].data_type, DataType::Struct(letters("ba")));
        for (column, after) in [("s.b", "z"), ("z", "a"), ("a", "z"), ("z", "z")] {
            let before = outer.clone();
            let mut schema = outer.clone();
            let moved = move_column(
                &mut schema,
                &ColumnName::parse(column)?,
                &Place::After(after.to_owned()),
            );
            assert!(moved.is_err_and(|error| error.kind() == ErrorKind::InvalidArgument));
            assert_eq!(outer, before);
        }
        Ok(())
    }
}
