//! Column names as users write them: parts separated by dots, with backticks around a part that has signs.

use std::fmt;

use crate::{Error, ErrorKind, Result};

/// Keywords that cannot begin a name in an expression.
const KEYWORDS: [&str; 30] = [
    "and", "as", "between", "case", "cast", "collate", "distinct", "div", "escape", "exists", "false",
    "from", "ilike", "in", "interval", "is", "like", "not", "null", "or", "r", "regexp", "rlike", "select",
    "true", "try_cast", "unknown", "when", "with", "x",
];

/// The path to a column or to a nested field.
///
/// ```
/// use deltaic_protocol::schema::ColumnName;
/// let name = ColumnName::parse("a.`b.c`")?;
/// assert_eq!(name.parts(), ["a", "b.c"]);
/// assert_eq!(name.to_string(), "a.`b.c`");
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnName(Vec<String>);

impl ColumnName {
    /// Creates a name from its parts, outermost first.
    #[must_use]
    pub fn from_parts(parts: Vec<String>) -> Self {
        Self(parts)
    }

    /// Parses `a.b`, with backticks around a part that contains a dot; a backtick inside is doubled.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::new(ErrorKind::InvalidArgument, format!("column name {text:?}: {why}"))
                .hint("write a.b for a field in a struct, and `a.b` in backticks for a dot in a name")
        };
        let mut parts = Vec::new();
        let mut chars = text.chars().peekable();
        loop {
            let mut part = String::new();
            if chars.next_if_eq(&'`').is_some() {
                loop {
                    match chars.next() {
                        Some('`') if chars.next_if_eq(&'`').is_some() => part.push('`'),
                        Some('`') => break,
                        Some(other) => part.push(other),
                        None => return Err(wrong("a backtick is not closed")),
                    }
                }
            } else {
                while let Some(other) = chars.next_if(|next| *next != '.') {
                    part.push(other);
                }
            }
            if part.is_empty() {
                return Err(wrong("a part is empty"));
            }
            parts.push(part);
            match chars.next() {
                None => return Ok(Self(parts)),
                Some('.') => {}
                Some(_) => return Err(wrong("text follows a closing backtick")),
            }
        }
    }

    /// The parts, outermost first.
    #[must_use]
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// The name as an expression has it: with backticks around each part that is a keyword or begins with a digit, too.
    #[must_use]
    pub fn in_expression(&self) -> String {
        InExpression(&self.0).to_string()
    }

    /// The outermost part: the column.
    #[must_use]
    pub fn column(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |part: &str| part.chars().all(|c| c.is_alphanumeric() || c == '_');
        write_parts(f, &self.0, is_plain)
    }
}

/// The parts of a name as an expression has them: with backticks around keywords and what begins with a digit.
pub(crate) struct InExpression<'a>(pub(crate) &'a [String]);

impl fmt::Display for InExpression<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_parts(f, self.0, |part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !KEYWORDS.contains(&part.to_ascii_lowercase().as_str())
        })
    }
}

fn write_parts(f: &mut fmt::Formatter<'_>, parts: &[String], is_plain: impl Fn(&str) -> bool) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(".")?;
        }
        match is_plain(part) {
            true => f.write_str(part)?,
            false => write!(f, "`{}`", part.replace('`', "``"))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_values_are_read_back() -> Result<()> {
        let names = [
            "a", "ü", "a.b", "c`d", "ü x", "`", "2024", "90d_avg", "1e5", "select", "From", "_1",
        ];
        for parts in names.iter().map(|name| vec!["a", name]) {
            let name = ColumnName::from_parts(parts.iter().map(ToString::to_string).collect());
            assert_eq!(ColumnName::parse(&name.to_string())?, name);
            let name = name.in_expression();
            let expression = crate::expr::parse_predicate(&format!("{name} IS NULL"))?;
            assert_eq!(expression.to_string(), format!("({name} IS NULL)"));
        }
        Ok(())
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", ".", "a.", ".a", "`a", "`a`b", "``"] {
            assert!(ColumnName::parse(text).is_err(), "{text}");
        }
    }
}
