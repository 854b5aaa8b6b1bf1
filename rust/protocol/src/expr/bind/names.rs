//! Resolves column names.

use super::binder::{Binder, Column, Value};
use crate::error::nearest;
use crate::expr::span::Span;
use crate::expr::syntax::{Expr, ExprKind};
use crate::schema::{ColumnName, DataType, DeclaredLength, DeclaredType, PrimitiveType, StructField};
use crate::{Error, Result};

impl Binder<'_> {
    /// A variant cannot be compared: its values have no single type.
    pub(super) fn of_a_variant<T>(&self, at: Span, name: &str) -> Result<T> {
        let message = format!(
            "{} supports only IS NULL and IS NOT NULL for variants, and {name} is a variant or in one",
            self.source.subject
        );
        let hint = "read the rows with scan(variant=\"json\") and filter the values afterwards";
        self.source
            .invalid(at, message, hint)
            .map_err(|error: Error| error.with("field", name))
    }

    /// A string column is compared with what may be a string without its quotes: a name that no column has.
    pub(super) fn ensure_quoted(&self, compared: &Value, with: &Expr) -> Result<()> {
        let (Value::Column(column), ExprKind::Column(names)) = (compared, &with.kind) else {
            return Ok(());
        };
        match names.as_slice() {
            [name]
                if column.data_type == DataType::Primitive(PrimitiveType::String)
                    && !self.has_column(name) =>
            {
                let hint = format!("text needs quotes: '{name}'");
                let unknown = self
                    .source
                    .invalid(with.at, format!("there is no column {name}"), &hint);
                unknown.map_err(|error: Error| error.with("field", name.as_str()))
            }
            _ => Ok(()),
        }
    }

    fn has_column(&self, name: &str) -> bool {
        match self.sides {
            Some(sides) => sides.has(name),
            None => self.schema.field_ignoring_case(name).is_some(),
        }
    }

    /// A column, a nested field, or the value of a key of a map.
    pub(super) fn reference(&self, at: Span, names: &[String]) -> Result<Value> {
        let Some(sides) = self.sides else {
            return self.reference_in_schema(at, names);
        };
        match sides.qualified(names) {
            Ok(names) => self.reference_in_schema(at, &names),
            Err((what, hint)) => self.source.invalid(at, what, &hint),
        }
    }

    fn reference_in_schema(&self, at: Span, names: &[String]) -> Result<Value> {
        let (column, rest) = self.resolve(at, names)?;
        if rest.is_empty() {
            return Ok(Value::Column(column));
        }
        let column = self.typed(at, Value::Column(column))?;
        let found = rest
            .iter()
            .try_fold(column, |of, name| self.field(at, of, name))?;
        Ok(Value::Computed(found))
    }

    /// A column or a nested field, and the names after a map.
    fn resolve<'n>(&self, at: Span, names: &'n [String]) -> Result<(Column, &'n [String])> {
        let name = ColumnName::from_parts(names.to_vec()).to_string();
        let fails = |message: String, hint: &str| {
            self.source
                .invalid(at, message, hint)
                .map_err(|error: Error| error.with("field", name.clone()))
        };
        let mut path = Vec::new();
        let mut fields = self.schema;
        let mut parts = names.iter().peekable();
        let mut rest = names;
        while let Some(part) = parts.next() {
            rest = rest.get(1..).unwrap_or_default();
            let Some(field) = fields.field_ignoring_case(part) else {
                let hint = match nearest(part, fields.names()) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!(
                        "the columns are: {}",
                        fields.names().collect::<Vec<_>>().join(", ")
                    ),
                };
                return fails(format!("there is no column {name}"), &hint);
            };
            path.push(field.name.clone());
            match (&field.data_type, parts.peek()) {
                (data_type, next) if next.is_none() || matches!(data_type, DataType::Map(_)) => {
                    let column = Column {
                        collation: collation(field),
                        is_char: self.schema.is_char(&path),
                        path,
                        data_type: data_type.clone(),
                        shown: None,
                        char_length: char_length(field),
                    };
                    return Ok((column, rest));
                }
                (DataType::Struct(inner), Some(_)) => fields = inner,
                (DataType::Primitive(PrimitiveType::Variant), Some(_)) => {
                    return self.of_a_variant(at, &name);
                }
                (other, below) => {
                    let below = below.map_or("", |below| below.as_str());
                    return fails(
                        format!("{part} is of the type {other} and has no field {below}"),
                        "a dot selects a field of a struct; put backticks around a name that contains a dot",
                    );
                }
            }
        }
        fails("a column name is empty".to_owned(), "")
    }

    /// A column whose values can be compared.
    pub(super) fn comparable(&self, at: Span, column: &Column) -> Result<PrimitiveType> {
        let name = column.name();
        let refused = |message: String, hint: &str| {
            self.source
                .unsupported(at, message, hint)
                .map_err(|error: Error| error.with("field", name.clone()))
        };
        match (&column.data_type, &column.collation) {
            (DataType::Primitive(PrimitiveType::Variant), _) => self.of_a_variant(at, &name),
            (DataType::Primitive(PrimitiveType::String), Some(collation)) => refused(
                format!("the strings of {name} are compared by {collation}, which is not implemented"),
                "read the rows and compare them afterwards, or use IS NULL",
            ),
            (DataType::Primitive(primitive), _) => Ok(*primitive),
            (other, _) => refused(
                format!("{name} is of the type {other}; only primitive values can be compared"),
                "compare its fields, or use IS NULL",
            ),
        }
    }
}

/// The length of a column that is declared as `char(n)`.
fn char_length(field: &StructField) -> Option<u32> {
    match field.declared_lengths() {
        Some(DeclaredType::Length(DeclaredLength::Char(length))) => Some(length),
        _ => None,
    }
}

/// The collation of a string column, unless it is the order of bytes. It is recorded in the metadata of
/// the field.
fn collation(field: &StructField) -> Option<String> {
    let is_of_bytes = |name: &str| {
        let name = name.rsplit('.').next().unwrap_or(name);
        name.eq_ignore_ascii_case("UTF8_BINARY")
    };
    let mut names = field.collations().into_values();
    names.find(|name| !is_of_bytes(name)).map(str::to_owned)
}
