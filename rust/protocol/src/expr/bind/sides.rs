//! Conditions and values over the two sides of a merge: the rows of a table and those of its source.
//!
//! A name is `alias.column`, or `column` if only one side has it. Expressions are evaluated over batches with one struct
//! column for each side ([`TARGET`] and [`SOURCE`]), in which a row without a match is NULL.

use crate::error::nearest;
use crate::schema::{ColumnName, DataType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// The column with the rows of the table.
pub const TARGET: &str = "target";
/// The column with the rows of the source.
pub const SOURCE: &str = "source";

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The rows of the table.
    Target,
    /// The rows that are merged into it.
    Source,
}

/// The columns of two sides and their aliases.
#[derive(Clone, Debug)]
pub struct Sides {
    aliases: [String; 2],
    columns: [StructType; 2],
    joined: StructType,
    /// The only side that names may refer to; `None` for both.
    only: Option<Side>,
}

impl Sides {
    /// The columns of a table and of its source, with their aliases.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if both have one alias, ignoring case.
    pub fn try_new(target: (&str, &StructType), source: (&str, &StructType)) -> Result<Self> {
        if target.0.to_lowercase() == source.0.to_lowercase() {
            let what = format!("the alias {} is that of both sides", target.0);
            return Err(Error::new(ErrorKind::InvalidArgument, what)
                .hint("give the source and the target different aliases"));
        }
        let side =
            |name: &str, schema: &StructType| StructField::new(name, DataType::Struct(schema.clone()), true);
        Ok(Self {
            aliases: [target.0.to_owned(), source.0.to_owned()],
            columns: [target.1.clone(), source.1.clone()],
            joined: StructType {
                fields: vec![side(TARGET, target.1), side(SOURCE, source.1)],
            },
            only: None,
        })
    }

    /// The same sides, of which expressions may use only one: where a row has no match.
    #[must_use]
    pub fn only(&self, side: Side) -> Self {
        Self {
            only: Some(side),
            ..self.clone()
        }
    }

    /// The alias of a side.
    #[must_use]
    pub fn alias_of(&self, side: Side) -> &str {
        let [target, source] = &self.aliases;
        match side {
            Side::Target => target,
            Side::Source => source,
        }
    }

    /// The name of a column of a side in an expression.
    #[must_use]
    pub fn name_of(&self, side: Side, column: &str) -> ColumnName {
        ColumnName::from_parts(vec![self.alias_of(side).to_owned(), column.to_owned()])
    }

    /// The schema of the batches that bound expressions are evaluated over.
    #[must_use]
    pub fn joined(&self) -> &StructType {
        &self.joined
    }

    /// Finds the side of a column, and the names of the column there. Otherwise returns what is wrong and a hint.
    pub(in crate::expr) fn find<'n>(
        &self,
        names: &'n [String],
    ) -> std::result::Result<(Side, &'n [String]), (String, String)> {
        let Some((first, below)) = names.split_first() else {
            return Err(("a column name is empty".to_owned(), String::new()));
        };
        let [target, source] = &self.aliases;
        if !below.is_empty() {
            for (side, alias) in [(Side::Target, target), (Side::Source, source)] {
                if alias.to_lowercase() == first.to_lowercase() {
                    return match self.only {
                        Some(only) if only != side => Err((
                            format!("{alias} has no row where this is evaluated"),
                            "rows without a match have the columns of one side only".to_owned(),
                        )),
                        _ => Ok((side, below)),
                    };
                }
            }
        }
        let [in_target, in_source] = [Side::Target, Side::Source].map(|side| {
            self.only.is_none_or(|only| only == side)
                && self.columns_of(side).field_ignoring_case(first).is_some()
        });
        match (in_target, in_source) {
            (true, false) => Ok((Side::Target, names)),
            (false, true) => Ok((Side::Source, names)),
            (true, true) => Err((
                format!("the column {first} is in both {target} and {source}"),
                format!("write {target}.{first} or {source}.{first}"),
            )),
            (false, false) => {
                let known = self.columns.iter().flat_map(StructType::names);
                let near = nearest(first, known.chain([target.as_str(), source.as_str()]));
                let aliases = format!("the aliases are {target} and {source}");
                let hint = match near {
                    Some(near) if below.is_empty() => format!("did you mean {near}?"),
                    Some(near) => format!("did you mean {near}? {aliases}"),
                    None if below.is_empty() => format!("write {target}.column or {source}.column"),
                    None => aliases,
                };
                let what = if below.is_empty() {
                    "column"
                } else {
                    "column or alias"
                };
                Err((format!("there is no {what} {first}"), hint))
            }
        }
    }

    /// The names of a column in the batches that expressions are evaluated over.
    ///
    /// # Errors
    ///
    /// What is wrong, and a hint.
    pub(in crate::expr) fn qualified(
        &self,
        names: &[String],
    ) -> std::result::Result<Vec<String>, (String, String)> {
        let (side, names) = self.find(names)?;
        let side = match side {
            Side::Target => TARGET,
            Side::Source => SOURCE,
        };
        Ok(std::iter::once(side.to_owned())
            .chain(names.iter().cloned())
            .collect())
    }

    /// Whether a side has a column.
    pub(in crate::expr) fn has(&self, name: &str) -> bool {
        self.columns
            .iter()
            .any(|side| side.field_ignoring_case(name).is_some())
    }

    fn columns_of(&self, side: Side) -> &StructType {
        let [target, source] = &self.columns;
        match side {
            Side::Target => target,
            Side::Source => source,
        }
    }
}
