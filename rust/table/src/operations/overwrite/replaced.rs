//! The rows that an overwrite replaces.

use deltaic_protocol::expr::{Predicate, Sides, parse_predicate};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// The rows that an overwrite replaces.
#[derive(Clone, Debug, Default)]
pub enum Replaced {
    /// All rows.
    #[default]
    All,
    /// The rows for which a predicate is true. The new rows must match it too.
    Where(Predicate),
    /// The rows of the partitions that the new rows are in; all rows of a table without partitions.
    Partitions,
    /// The rows that match a new row.
    Matching(MatchedBy),
}

/// The condition on which a row of the table matches a new row.
#[derive(Clone, Debug)]
pub struct MatchedBy {
    /// The condition.
    pub on: Predicate,
    /// The name of the table in the condition.
    pub target_alias: String,
    /// The name of the new rows in the condition.
    pub source_alias: String,
    /// The columns of the new rows, which the condition may name.
    pub columns: Vec<String>,
}

impl MatchedBy {
    /// Whether the new rows have a column, ignoring case.
    pub(super) fn has(&self, column: &str) -> bool {
        let column = column.to_lowercase();
        self.columns.iter().any(|name| name.to_lowercase() == column)
    }

    /// Verifies the condition for the columns of a table, before and with new rows.
    ///
    /// # Errors
    ///
    /// `InvalidPredicate`, `UnsupportedExpression`; `ValueError` if both have one alias.
    pub(crate) fn ensure_binds(&self, before: &StructType, with_rows: &StructType) -> Result<()> {
        let of_rows = with_rows.fields.iter().filter(|field| self.has(&field.name));
        let rows = StructType {
            fields: of_rows.cloned().collect(),
        };
        let sides = Sides::try_new((&self.target_alias, before), (&self.source_alias, &rows))?;
        sides.join(&self.on).map(drop)
    }
}

/// The JSON form.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wire {
    All,
    Where(String),
    Partitions,
    Matching {
        on: String,
        target_alias: String,
        source_alias: String,
        #[serde(default)]
        columns: Vec<String>,
    },
}

impl Replaced {
    /// Selects the rows by a predicate, or by the name of a mode: `static` for all rows, `dynamic` for partitions.
    ///
    /// # Errors
    ///
    /// `ValueError` for another name, or for `dynamic` with a predicate.
    pub fn try_new(predicate: Option<Predicate>, partitions: &str) -> Result<Self> {
        let invalid = |what: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, what).hint(hint));
        match (partitions, predicate) {
            ("static", None) => Ok(Self::All),
            ("static", Some(predicate)) => Ok(Self::Where(predicate)),
            ("dynamic", None) => Ok(Self::Partitions),
            ("dynamic", Some(_)) => invalid(
                "where and partitions=\"dynamic\" exclude each other".to_owned(),
                "pass one of them: each selects the rows to replace",
            ),
            (other, _) => invalid(
                format!("partitions may not be {other:?}"),
                "it is \"static\" or \"dynamic\"",
            ),
        }
    }

    /// Parses JSON: `"all"`, `"partitions"`, `{"where": …}` or `{"matching": {"on": …, "target_alias": …,
    /// "source_alias": …}}`.
    ///
    /// # Errors
    ///
    /// `ValueError` for other JSON; `InvalidPredicate`, `UnsupportedExpression`.
    ///
    /// ```
    /// use deltaic_table::operations::Replaced;
    /// let replaced = Replaced::from_json("{\"where\": \"id > 5\"}")?;
    /// assert_eq!(replaced.to_json(), "{\"where\":\"id > 5\"}");
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        let parsed = serde_json::from_str(text).map_err(|error| {
            let what = format!("the rows to replace are invalid: {error}");
            Error::new(ErrorKind::InvalidArgument, what)
        })?;
        Ok(match parsed {
            Wire::All => Self::All,
            Wire::Where(text) => Self::Where(parse_predicate(&text)?),
            Wire::Partitions => Self::Partitions,
            Wire::Matching {
                on,
                target_alias,
                source_alias,
                columns,
            } => Self::Matching(MatchedBy {
                on: parse_predicate(&on)?,
                target_alias,
                source_alias,
                columns,
            }),
        })
    }

    /// The JSON form.
    #[must_use]
    pub fn to_json(&self) -> String {
        let wire = match self {
            Self::All => Wire::All,
            Self::Where(predicate) => Wire::Where(predicate.text().to_owned()),
            Self::Partitions => Wire::Partitions,
            Self::Matching(matched) => Wire::Matching {
                on: matched.on.text().to_owned(),
                target_alias: matched.target_alias.clone(),
                source_alias: matched.source_alias.clone(),
                columns: matched.columns.clone(),
            },
        };
        serde_json::json!(wire).to_string()
    }
}
