//! The type that an engine declared for a column with strings of a limited length, at any depth.
//!
//! Such as `struct<a:char(3),b:array<varchar(5)>>`, as Spark records it in `__CHAR_VARCHAR_TYPE_STRING`.

use std::borrow::Cow;

use super::{DataType, StructField, StructType};

/// The maximum depth of a declared type; deeper parts have no limit.
const MOST_LEVELS: usize = 100;

/// The length limit of a string column, as declared by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredLength {
    /// `char(n)`: padded to `n` characters.
    Char(u32),
    /// `varchar(n)`: at most `n` characters.
    Varchar(u32),
}

/// A declared type, as far as it limits the length of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredType {
    /// A string of a limited length.
    Length(DeclaredLength),
    /// A list with elements of this type.
    Array(Box<DeclaredType>),
    /// A map with keys and values of these types.
    Map(Box<DeclaredType>, Box<DeclaredType>),
    /// A struct with these fields.
    Struct(Vec<(String, DeclaredType)>),
    /// A type without limits.
    Other,
}

impl DeclaredLength {
    /// The text as it is read: text of `char(n)` is padded with spaces to `n` characters.
    ///
    /// ```
    /// use deltaic_protocol::schema::DeclaredLength;
    /// assert_eq!(DeclaredLength::Char(3).padded("é"), "é  ");
    /// assert_eq!(DeclaredLength::Varchar(3).padded("é"), "é");
    /// ```
    #[must_use]
    pub fn padded(self, text: &str) -> Cow<'_, str> {
        let Self::Char(length) = self else {
            return Cow::Borrowed(text);
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match length.saturating_sub(text.chars().count()) {
            0 => Cow::Borrowed(text),
            missing => Cow::Owned(format!("{text}{}", " ".repeat(missing))),
        }
    }
}

impl StructType {
    /// Whether a column or a field of structs is declared as `char(n)`.
    #[must_use]
    pub fn is_char(&self, path: &[String]) -> bool {
        let (mut fields, mut names) = (self, path.iter());
        while let Some(field) = names.next().and_then(|name| fields.field(name)) {
            // The declared type of a column has those of its fields.
            if let Some(declared) = field.declared_lengths() {
                let found = names.try_fold(declared, |of, name| match of {
                    DeclaredType::Struct(fields) => {
                        let field = fields.into_iter().find(|(field, _)| field == name);
                        field.map(|(_, declared)| declared)
                    }
                    _ => None,
                });
                return matches!(found, Some(DeclaredType::Length(DeclaredLength::Char(_))));
            }
            let DataType::Struct(inner) = &field.data_type else {
                return false;
            };
            fields = inner;
        }
        false
    }
}

impl StructField {
    /// The declared type of the column, if it limits the length of strings in it.
    ///
    /// ```
    /// use deltaic_protocol::schema::{DeclaredLength, DeclaredType, StructType};
    /// let schema = StructType::from_json(
    ///     r#"{"type":"struct","fields":[{"name":"a","type":"string","nullable":true,
    ///         "metadata":{"__CHAR_VARCHAR_TYPE_STRING":"char(3)"}}]}"#,
    /// )?;
    /// let declared = schema.fields[0].declared_lengths();
    /// assert_eq!(declared, Some(DeclaredType::Length(DeclaredLength::Char(3))));
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    #[must_use]
    pub fn declared_lengths(&self) -> Option<DeclaredType> {
        let declared = DeclaredType::parse(self.declared_type()?, 0);
        declared.has_limit().then_some(declared)
    }
}

impl DeclaredType {
    fn parse(text: &str, level: usize) -> Self {
        let text = text.trim();
        if level >= MOST_LEVELS {
            return Self::Other;
        }
        let within = |name: &str| {
            let parts = text.strip_prefix(name)?.trim();
            parts.strip_prefix('<')?.strip_suffix('>')
        };
        let below = |text: &str| Box::new(Self::parse(text, level + 1));
        if let Some(element) = within("array") {
            return Self::Array(below(element));
        }
        if let Some(parts) = within("map") {
            return match parts_of(parts).as_slice() {
                [key, value] => Self::Map(below(key), below(value)),
                _ => Self::Other,
            };
        }
        if let Some(fields) = within("struct") {
            let fields = parts_of(fields).into_iter().filter_map(|field| {
                let (name, declared) = name_and_type(field)?;
                Some((name, Self::parse(declared, level + 1)))
            });
            return Self::Struct(fields.collect());
        }
        length_of(text).map_or(Self::Other, Self::Length)
    }

    fn has_limit(&self) -> bool {
        self.has(&|_| true)
    }

    /// Whether a string in it is declared as `char(n)`.
    #[must_use]
    pub fn has_char(&self) -> bool {
        self.has(&|length| matches!(length, DeclaredLength::Char(_)))
    }

    fn has(&self, is_wanted: &dyn Fn(DeclaredLength) -> bool) -> bool {
        match self {
            Self::Length(length) => is_wanted(*length),
            Self::Array(element) => element.has(is_wanted),
            Self::Map(key, value) => key.has(is_wanted) || value.has(is_wanted),
            Self::Struct(fields) => fields.iter().any(|(_, declared)| declared.has(is_wanted)),
            Self::Other => false,
        }
    }
}

fn length_of(text: &str) -> Option<DeclaredLength> {
    let (name, length) = text.strip_suffix(')')?.split_once('(')?;
    let length = length.trim().parse().ok()?;
    match name.trim() {
        "char" => Some(DeclaredLength::Char(length)),
        "varchar" => Some(DeclaredLength::Varchar(length)),
        _ => None,
    }
}

/// Splits at commas that are in no brackets and no quoted name.
fn parts_of(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0usize, false);
    for (at, character) in text.char_indices() {
        match character {
            '`' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(text.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}

/// Splits `name:type`, where the name may be quoted.
fn name_and_type(field: &str) -> Option<(String, &str)> {
    let mut is_quoted = false;
    let colon = field.char_indices().find(|(_, character)| {
        is_quoted ^= *character == '`';
        *character == ':' && !is_quoted
    });
    let (name, declared) = field.split_at_checked(colon?.0)?;
    let name = name.trim();
    let quoted = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
    let name = quoted.map_or_else(|| name.to_owned(), |name| name.replace("``", "`"));
    Some((name, declared.strip_prefix(':')?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::PrimitiveType;

    fn declared(text: &str) -> Option<DeclaredType> {
        let mut field = StructField::new("x", PrimitiveType::String.into(), true);
        field
            .metadata
            .insert("__CHAR_VARCHAR_TYPE_STRING".to_owned(), json!(text));
        field.declared_lengths()
    }

    #[test]
    fn limits_are_found_at_every_depth() {
        let char = |length| DeclaredType::Length(DeclaredLength::Char(length));
        let varchar = |length| DeclaredType::Length(DeclaredLength::Varchar(length));
        for (text, expected) in [
            ("char(3)", Some(char(3))),
            (" varchar( 20 ) ", Some(varchar(20))),
            ("array<char(5)>", Some(DeclaredType::Array(Box::new(char(5))))),
            (
                "map<varchar(2),decimal(10,2)>",
                Some(DeclaredType::Map(
                    Box::new(varchar(2)),
                    Box::new(DeclaredType::Other),
                )),
            ),
            (
                "struct<a:char(3),`b:,`` c`:array<struct<x:int,y:varchar(1)>>,d:decimal(5,2)>",
                Some(DeclaredType::Struct(vec![
                    ("a".to_owned(), char(3)),
                    (
                        "b:,` c".to_owned(),
                        DeclaredType::Array(Box::new(DeclaredType::Struct(vec![
                            ("x".to_owned(), DeclaredType::Other),
                            ("y".to_owned(), varchar(1)),
                        ]))),
                    ),
                    ("d".to_owned(), DeclaredType::Other),
                ])),
            ),
            ("string", None),
            ("char(-1)", None),
            ("char(x)", None),
            ("array<int>", None),
            ("struct<>", None),
            ("map<char(1)>", None),
            ("", None),
            ("struct<a", None),
        ] {
            assert_eq!(declared(text), expected, "{text}");
        }
        let deep = "array<".repeat(100_000) + "char(1)" + &">".repeat(100_000);
        assert_eq!(declared(&deep), None);
    }
}
