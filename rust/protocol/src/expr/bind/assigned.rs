//! Gives bound values the types of the columns that they are assigned to.

use crate::expr::bound::{BoundPredicate, BoundValue, Computed, Node, operand_name};
use crate::expr::cast::assign::{is_assignable, keeps_all};
use crate::schema::{DataType, PrimitiveType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

impl BoundValue {
    /// Returns the expression with the type of the column that it is assigned to: numbers are converted to other numbers,
    /// with an error for a row whose value the type cannot hold; NULL and dates are converted too, and structs field by
    /// field. Lists and maps are left to the writer of the rows, which converts their parts.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` with the `field` for every other type: an explicit cast is needed.
    pub fn assigned_to(self, column: &str, to: &DataType) -> Result<Self> {
        self.converted(column, to, Missing::Refused)
    }

    /// The same; fields of structs that the value lacks are NULL.
    ///
    /// # Errors
    ///
    /// Those of [`Self::assigned_to`].
    pub fn assigned_with_nulls(self, column: &str, to: &DataType) -> Result<Self> {
        self.converted(column, to, Missing::Null)
    }

    /// Returns the expression of a default with the type of its column: as Spark does, a number is rounded to a decimal or to
    /// a floating-point number.
    ///
    /// # Errors
    ///
    /// Those of [`Self::assigned_to`].
    pub fn assigned_as_default(self, column: &str, to: &DataType) -> Result<Self> {
        self.converted(column, to, Missing::Default)
    }

    fn converted(self, column: &str, to: &DataType, missing: Missing) -> Result<Self> {
        let text = self.text;
        let computed = assigned(self.computed, column, to, (text.as_str(), missing))?;
        let computed = match computed.is_constant()
            && matches!(computed.node, Node::Cast { .. } | Node::Assign { .. })
        {
            true => {
                // A constant that is not kept is found before a row is read.
                computed.constant(text.source())?;
                computed
            }
            false => computed,
        };
        Ok(Self { text, computed })
    }
}

/// What happens if a value lacks a field of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Refused,
    Null,
    /// The value is a default.
    Default,
}

/// Whether a value is a field of a struct that is assigned field by field.
fn is_field(value: &Computed) -> bool {
    matches!(value.node, Node::Field(..))
}

/// Whether a number is rounded to the nearest one of another type: a constant to a floating-point number, because no text
/// has one exactly; and a default to a decimal, as Spark does.
fn is_rounded(value: &Computed, from: PrimitiveType, to: PrimitiveType, missing: Missing) -> bool {
    use PrimitiveType::{Decimal, Double, Float};
    let rounds = match to {
        Float | Double => matches!(from, Decimal { .. } | Float | Double) && value.is_constant(),
        Decimal { .. } => missing == Missing::Default,
        _ => false,
    };
    rounds && is_assignable(from, to)
}

fn assigned(
    computed: Computed,
    column: &str,
    to: &DataType,
    (text, missing): (&str, Missing),
) -> Result<Computed> {
    if computed.data_type == *to {
        return Ok(computed);
    }
    let at = computed.at;
    let with = |node| Computed {
        at,
        data_type: to.clone(),
        node,
    };
    let cast = match (&computed.data_type, to) {
        (DataType::Primitive(PrimitiveType::Void), _) => return Ok(with(Node::Null)),
        (DataType::Primitive(from), DataType::Primitive(wanted))
            if keeps_all(*from, *wanted) || is_rounded(&computed, *from, *wanted, missing) =>
        {
            return Ok(with(Node::Cast {
                inner: Box::new(computed),
                or_null: false,
            }));
        }
        (DataType::Primitive(from), DataType::Primitive(wanted)) if is_assignable(*from, *wanted) => {
            return Ok(with(Node::Assign {
                hint: match is_field(&computed) {
                    true => format!("cast the field in the new value: CAST(... AS {to})"),
                    false => format!("write CAST({text} AS {to}) to round or cut off values"),
                },
                inner: Box::new(computed),
                column: column.to_owned(),
            }));
        }
        (DataType::Primitive(_), DataType::Primitive(_)) if is_field(&computed) => {
            format!("cast the field in the new value: CAST(... AS {to})")
        }
        (DataType::Primitive(_), DataType::Primitive(_)) => format!("write CAST({text} AS {to})"),
        (DataType::Struct(from), DataType::Struct(fields)) if have_same_names(from, fields, missing) => {
            return of_fields(computed, column, fields, (text, missing));
        }
        // The writer of the rows converts their parts.
        (DataType::Array(_), DataType::Array(_)) | (DataType::Map(_), DataType::Map(_))
            if fits(&computed.data_type, to) =>
        {
            return Ok(computed);
        }
        _ => "use a value of the column's own type".to_owned(),
    };
    let what = format!(
        "the column {column} is {to}, but its new value {text} is {}",
        computed.data_type
    );
    Err(Error::new(ErrorKind::SchemaMismatch, what)
        .with("field", column)
        .hint(cast))
}

/// Whether the writer of rows converts values of a type to another: fields by their names, where the value may lack fields
/// that may be NULL.
fn fits(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Primitive(PrimitiveType::Void), _) => true,
        (DataType::Primitive(from), DataType::Primitive(to)) => is_assignable(*from, *to),
        (DataType::Array(from), DataType::Array(to)) => fits(&from.element_type, &to.element_type),
        (DataType::Map(from), DataType::Map(to)) => {
            fits(&from.key_type, &to.key_type) && fits(&from.value_type, &to.value_type)
        }
        (DataType::Struct(from), DataType::Struct(to)) => {
            let has = |field: &StructField| to.field_ignoring_case(&field.name);
            let lacks = |field: &&StructField| from.field_ignoring_case(&field.name).is_none();
            let mut given = from.fields.iter();
            given.all(|field| has(field).is_some_and(|to| fits(&field.data_type, &to.data_type)))
                && to.fields.iter().filter(lacks).all(|field| field.nullable)
        }
        _ => false,
    }
}

fn have_same_names(from: &StructType, to: &StructType, missing: Missing) -> bool {
    let found = to.fields.iter();
    let found = found.filter(|field| from.field_ignoring_case(&field.name).is_some());
    let found = found.count();
    from.fields.len() == found && (missing == Missing::Null || to.fields.len() == found)
}

/// A struct whose fields are converted to those of another, in their order; a NULL struct is NULL.
fn of_fields(
    computed: Computed,
    column: &str,
    fields: &StructType,
    (text, missing): (&str, Missing),
) -> Result<Computed> {
    let (at, from) = (computed.at, computed.data_type.clone());
    let name = operand_name(column);
    let operand = |data_type: &DataType, node| Computed {
        at,
        data_type: data_type.clone(),
        node,
    };
    let mut parts = Vec::new();
    for field in &fields.fields {
        let DataType::Struct(own) = &from else {
            return Err(Error::internal("a struct is expected"));
        };
        let index = own
            .fields
            .iter()
            .position(|known| known.name.to_lowercase() == field.name.to_lowercase());
        let Some((index, source)) = index.and_then(|index| Some((index, own.fields.get(index)?))) else {
            if missing == Missing::Null {
                parts.push(operand(&field.data_type, Node::Null));
                continue;
            }
            return Err(Error::internal("a field is expected"));
        };
        let whole = operand(&from, Node::Column(vec![name.clone()]));
        let part = operand(&source.data_type, Node::Field(Box::new(whole), index));
        parts.push(assigned(
            part,
            &format!("{column}.{}", field.name),
            &field.data_type,
            (text, missing),
        )?);
    }
    // Whether fields may be NULL is checked when rows are written.
    let relaxed = DataType::Struct(StructType {
        fields: fields
            .fields
            .iter()
            .zip(&parts)
            .map(|(field, part)| StructField::new(&field.name, part.data_type.clone(), true))
            .collect(),
    });
    let structure = operand(&relaxed, Node::Struct(parts));
    let case = Node::Case {
        branches: vec![(
            BoundPredicate::IsNull(vec![name.clone()]),
            operand(&relaxed, Node::Null),
        )],
        otherwise: Box::new(structure),
    };
    Ok(operand(
        &relaxed,
        Node::With(vec![(name, computed)], Box::new(operand(&relaxed, case))),
    ))
}
