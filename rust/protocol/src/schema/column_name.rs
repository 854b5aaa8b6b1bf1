//! Column names as users write them: parts separated by dots, with backticks around a part that contains
//! a dot.

use std::fmt;

use crate::{Error, ErrorKind, Result};

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

    /// The outermost part: the column.
    #[must_use]
    pub fn column(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            let plain = part.chars().all(|c| c.is_alphanumeric() || c == '_');
            if plain {
                f.write_str(part)?;
            } else {
                write!(f, "`{}`", part.replace('`', "``"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_values_are_read_back() -> Result<()> {
        for parts in [vec!["a"], vec!["a", "b"], vec!["a.b", "c`d"], vec!["ü x", "`"]] {
            let name = ColumnName::from_parts(parts.iter().map(ToString::to_string).collect());
            assert_eq!(ColumnName::parse(&name.to_string())?, name);
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
