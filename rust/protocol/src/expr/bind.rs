//! A predicate meets a schema: names become columns, literals get types, and what cannot be compared is refused.

use std::collections::BTreeSet;

use super::scalar::{format_decimal, parse_decimal};
use super::{Literal, Predicate, Scalar, Term};
use crate::error::nearest;
use crate::schema::{ColumnName, DataType, PrimitiveType, StructType};
use crate::{Error, ErrorKind, Result};

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<=>`: NULL equals NULL, and the answer is never NULL.
    NullSafeEqual,
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A column, or a field in one: the names from the outermost in, as the schema spells them.
    Column(Vec<String>),
    /// A value of the comparison's type.
    Scalar(Scalar),
}

/// A predicate that a schema has been asked about. Both sides of a comparison are brought to `common` first.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundPredicate {
    /// TRUE, FALSE or NULL for every row.
    Constant(Option<bool>),
    /// A boolean column.
    Column(Vec<String>),
    /// Two values compared in a type that holds both.
    Compare {
        /// How.
        op: Comparison,
        /// The left side.
        left: Operand,
        /// The right side.
        right: Operand,
        /// The type in which they are compared.
        common: PrimitiveType,
    },
    /// `IS NULL`.
    IsNull(Vec<String>),
    /// A string column begins with a text.
    StartsWith(Vec<String>, String),
    /// All of them.
    And(Vec<BoundPredicate>),
    /// One of them.
    Or(Vec<BoundPredicate>),
    /// The opposite.
    Not(Box<BoundPredicate>),
}

impl BoundPredicate {
    /// The top-level columns that the predicate looks at.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        self.collect_columns(&mut found);
        found
    }

    fn collect_columns<'a>(&'a self, found: &mut BTreeSet<&'a str>) {
        let mut add = |path: &'a [String]| found.extend(path.first().map(String::as_str));
        match self {
            Self::Constant(_) => {}
            Self::Column(path) | Self::IsNull(path) | Self::StartsWith(path, _) => add(path),
            Self::Compare { left, right, .. } => {
                for side in [left, right] {
                    if let Operand::Column(path) = side {
                        add(path);
                    }
                }
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.collect_columns(found)),
            Self::Not(inner) => inner.collect_columns(found),
        }
    }

    /// The parts that must all be TRUE.
    #[must_use]
    pub fn conjuncts(&self) -> Vec<&Self> {
        match self {
            Self::And(parts) => parts.iter().flat_map(Self::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Joins conjuncts again; none of none.
    #[must_use]
    pub fn all_of(mut parts: Vec<Self>) -> Option<Self> {
        if parts.len() > 1 {
            Some(Self::And(parts))
        } else {
            parts.pop()
        }
    }
}

impl Predicate {
    /// Gives every name and literal the type that the schema asks for.
    ///
    /// An unknown column is `InvalidPredicate` with the nearest name; so are sides that cannot be compared.
    pub fn bind(&self, schema: &StructType) -> Result<BoundPredicate> {
        Ok(match self {
            Self::And(parts) => BoundPredicate::And(bind_all(parts, schema)?),
            Self::Or(parts) => BoundPredicate::Or(bind_all(parts, schema)?),
            Self::Not(inner) => BoundPredicate::Not(Box::new(inner.bind(schema)?)),
            Self::Term(Term::Literal(Literal::Boolean(value))) => BoundPredicate::Constant(Some(*value)),
            Self::Term(Term::Literal(Literal::Null)) => BoundPredicate::Constant(None),
            Self::Term(Term::Literal(_)) => {
                return Err(invalid("a literal stands where a condition is expected"));
            }
            Self::Term(Term::Column(name)) => match resolve(name, schema)? {
                (path, DataType::Primitive(PrimitiveType::Boolean)) => BoundPredicate::Column(path),
                (_, DataType::Primitive(PrimitiveType::Variant)) => return Err(of_a_variant(name)),
                (_, other) => {
                    return Err(
                        invalid(format!("the column {name} is a {other}, not a condition"))
                            .with("field", name.to_string())
                            .hint("compare it with something, for example: id > 0"),
                    );
                }
            },
            Self::IsNull(Term::Column(name)) => BoundPredicate::IsNull(resolve(name, schema)?.0),
            Self::IsNull(Term::Literal(literal)) => BoundPredicate::Constant(Some(*literal == Literal::Null)),
            Self::StartsWith(Term::Column(name), prefix) => match resolve(name, schema)? {
                (path, DataType::Primitive(PrimitiveType::String)) => {
                    BoundPredicate::StartsWith(path, prefix.clone())
                }
                (_, DataType::Primitive(PrimitiveType::Variant)) => return Err(of_a_variant(name)),
                (_, other) => {
                    return Err(
                        invalid(format!("startswith needs a string, and {name} is a {other}"))
                            .with("field", name.to_string()),
                    );
                }
            },
            Self::StartsWith(Term::Literal(_), _) => return Err(invalid("startswith needs a column")),
            Self::Compare(op, left, right) => compare(*op, left, right, schema)?,
            Self::In(term, list) => {
                let equal =
                    |item: &Literal| compare(Comparison::Equal, term, &Term::Literal(item.clone()), schema);
                BoundPredicate::Or(list.iter().map(equal).collect::<Result<_>>()?)
            }
        })
    }
}

fn bind_all(parts: &[Predicate], schema: &StructType) -> Result<Vec<BoundPredicate>> {
    parts.iter().map(|part| part.bind(schema)).collect()
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidPredicate, message)
}

/// A variant is judged by nobody but who reads it: its values have no one type.
fn of_a_variant(name: &ColumnName) -> Error {
    invalid(format!(
        "a predicate can only ask of a variant whether it IS NULL or IS NOT NULL, and {name} is or lies in one"
    ))
    .with("field", name.to_string())
    .hint("read the rows with scan(variant=\"json\") and look into the values afterwards")
}

fn resolve(name: &ColumnName, schema: &StructType) -> Result<(Vec<String>, DataType)> {
    let mut path = Vec::new();
    let mut fields = schema;
    let mut parts = name.parts().iter().peekable();
    while let Some(part) = parts.next() {
        let Some(field) = fields.field_ignoring_case(part) else {
            let hint = match nearest(part, fields.names()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!(
                    "the columns are: {}",
                    fields.names().collect::<Vec<_>>().join(", ")
                ),
            };
            return Err(invalid(format!("there is no column {name}"))
                .with("field", name.to_string())
                .hint(hint));
        };
        path.push(field.name.clone());
        match (&field.data_type, parts.peek()) {
            (data_type, None) => return Ok((path, data_type.clone())),
            (DataType::Struct(inner), Some(_)) => fields = inner,
            (DataType::Primitive(PrimitiveType::Variant), Some(_)) => return Err(of_a_variant(name)),
            (other, Some(below)) => {
                return Err(invalid(format!("{part} is a {other} and has no field {below}"))
                    .with("field", name.to_string())
                    .hint("a dot looks into a struct; put backticks around a name that holds a dot"));
            }
        }
    }
    Err(invalid("a column name is empty"))
}

fn resolve_primitive(name: &ColumnName, schema: &StructType) -> Result<(Vec<String>, PrimitiveType)> {
    match resolve(name, schema)? {
        (_, DataType::Primitive(PrimitiveType::Variant)) => Err(of_a_variant(name)),
        (path, DataType::Primitive(primitive)) => Ok((path, primitive)),
        (_, other) => Err(Error::new(
            ErrorKind::UnsupportedExpression,
            format!("{name} is a {other}; only values without parts are compared"),
        )
        .with("field", name.to_string())
        .hint("compare its fields, or ask whether it IS NULL")),
    }
}

fn compare(op: Comparison, left: &Term, right: &Term, schema: &StructType) -> Result<BoundPredicate> {
    match (left, right) {
        (Term::Column(a), Term::Column(b)) => {
            let ((left, left_type), (right, right_type)) =
                (resolve_primitive(a, schema)?, resolve_primitive(b, schema)?);
            let common = common_type(left_type, right_type).ok_or_else(|| {
                invalid(format!(
                    "{a} ({left_type}) and {b} ({right_type}) cannot be compared"
                ))
            })?;
            Ok(BoundPredicate::Compare {
                op,
                left: Operand::Column(left),
                right: Operand::Column(right),
                common,
            })
        }
        (Term::Column(name), Term::Literal(literal)) => compare_literal(op, name, literal, schema),
        (Term::Literal(literal), Term::Column(name)) => compare_literal(mirrored(op), name, literal, schema),
        (Term::Literal(_), Term::Literal(_)) => Err(Error::new(
            ErrorKind::UnsupportedExpression,
            "two literals are compared; a predicate needs a column",
        )),
    }
}

fn mirrored(op: Comparison) -> Comparison {
    match op {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        Comparison::Equal | Comparison::NotEqual | Comparison::NullSafeEqual => op,
    }
}

fn compare_literal(
    op: Comparison,
    name: &ColumnName,
    literal: &Literal,
    schema: &StructType,
) -> Result<BoundPredicate> {
    if *literal == Literal::Null {
        let (path, _) = resolve(name, schema)?;
        return Ok(match op {
            Comparison::NullSafeEqual => BoundPredicate::IsNull(path),
            _ => BoundPredicate::Constant(None),
        });
    }
    let (path, column_type) = resolve_primitive(name, schema)?;
    let (scalar, common) = typed(literal, column_type).map_err(|why| {
        invalid(format!("{name} is a {column_type}: {why}")).with("field", name.to_string()).hint(
            "write the literal as the column's type, for example DATE '2026-11-01', 9.5, 'text' or X'00FF'",
        )
    })?;
    Ok(BoundPredicate::Compare {
        op,
        left: Operand::Column(path),
        right: Operand::Scalar(scalar),
        common,
    })
}

/// The literal as a value of the type in which it is compared with a column.
fn typed(literal: &Literal, column: PrimitiveType) -> Result<(Scalar, PrimitiveType), String> {
    let shown = |text: &str| format!("it cannot be compared with {text}");
    let literal_scalar = match literal {
        Literal::Null => return Err("it cannot be compared with NULL".to_owned()),
        Literal::Boolean(value) => Scalar::Boolean(*value),
        Literal::Binary(bytes) => Scalar::Binary(bytes.clone()),
        Literal::Number(digits) if is_numeric(column) => return number(digits, column),
        Literal::Number(digits) => return Err(shown(digits)),
        Literal::String(text) => {
            return match Scalar::parse(text, column) {
                Some(scalar) => Ok((scalar, column)),
                None if is_numeric(column) => number(text.trim(), column),
                None => Err(format!("{text:?} is not a {column}")),
            };
        }
        Literal::Typed(text, PrimitiveType::Decimal { precision: 0, .. }) => decimal_literal(text)?,
        Literal::Typed(text, data_type) => {
            Scalar::parse(text, *data_type).ok_or_else(|| format!("{text:?} is not a {data_type}"))?
        }
    };
    let common = common_type(column, literal_scalar.data_type())
        .ok_or_else(|| shown(&format!("a {}", literal_scalar.data_type())))?;
    convert(&literal_scalar, common)
        .map(|scalar| (scalar, common))
        .ok_or_else(|| shown("a value so large"))
}

fn is_numeric(data_type: PrimitiveType) -> bool {
    is_integral(data_type)
        || matches!(
            data_type,
            PrimitiveType::Float | PrimitiveType::Double | PrimitiveType::Decimal { .. }
        )
}

fn is_integral(data_type: PrimitiveType) -> bool {
    matches!(
        data_type,
        PrimitiveType::Byte | PrimitiveType::Short | PrimitiveType::Integer | PrimitiveType::Long
    )
}

/// A number as written, beside a numeric column.
fn number(digits: &str, column: PrimitiveType) -> Result<(Scalar, PrimitiveType), String> {
    let not_a_number = || format!("{digits:?} is not a number");
    if matches!(column, PrimitiveType::Float | PrimitiveType::Double) {
        let value: f64 = digits.parse().map_err(|_| not_a_number())?;
        return Ok((Scalar::Double(value), PrimitiveType::Double));
    }
    if let (true, Ok(value)) = (is_integral(column), digits.parse::<i64>()) {
        return Ok((Scalar::Long(value), PrimitiveType::Long));
    }
    if digits.contains(['e', 'E']) {
        let value: f64 = digits.parse().map_err(|_| not_a_number())?;
        return Ok((Scalar::Double(value), PrimitiveType::Double));
    }
    let literal = decimal_literal(digits)?;
    let common = common_type(column, literal.data_type())
        .ok_or_else(|| format!("{digits} has too many digits to be compared exactly"))?;
    convert(&literal, common)
        .map(|scalar| (scalar, common))
        .ok_or_else(|| format!("{digits} has too many digits to be compared exactly"))
}

fn decimal_literal(digits: &str) -> Result<Scalar, String> {
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = u8::try_from(fraction)
        .ok()
        .filter(|scale| *scale <= 38)
        .ok_or("a literal has too many digits")?;
    let unscaled =
        parse_decimal(digits, 38, scale).ok_or_else(|| format!("{digits:?} is not a decimal number"))?;
    let count = u8::try_from(unscaled.unsigned_abs().to_string().len()).unwrap_or(38);
    Ok(Scalar::Decimal {
        unscaled,
        precision: count.max(scale).max(1),
        scale,
    })
}

/// The type in which values of two types are compared, as Spark does; none where they cannot be, exactly.
fn common_type(left: PrimitiveType, right: PrimitiveType) -> Option<PrimitiveType> {
    use PrimitiveType::{Date, Decimal, Double, Float, Long, Timestamp, TimestampNtz};
    if left == right {
        return Some(left);
    }
    match (left, right) {
        (a, b) if is_integral(a) && is_integral(b) => Some(Long),
        (Float | Double, b) if is_numeric(b) => Some(Double),
        (a, Float | Double) if is_numeric(a) => Some(Double),
        (a, b) if is_numeric(a) && is_numeric(b) => {
            let digits = |data_type| match data_type {
                Decimal { precision, scale } => (precision.saturating_sub(scale), scale),
                _ => (19, 0),
            };
            let ((left_whole, left_scale), (right_whole, right_scale)) = (digits(a), digits(b));
            let scale = left_scale.max(right_scale);
            let precision = left_whole.max(right_whole).checked_add(scale)?;
            (precision <= 38).then_some(Decimal { precision: 38, scale })
        }
        (Timestamp, Date | TimestampNtz) | (Date | TimestampNtz, Timestamp) => Some(Timestamp),
        (TimestampNtz, Date) | (Date, TimestampNtz) => Some(TimestampNtz),
        _ => None,
    }
}

/// A value in a type that [`common_type`] gave.
fn convert(scalar: &Scalar, to: PrimitiveType) -> Option<Scalar> {
    let integer = |scalar: &Scalar| match scalar {
        Scalar::Byte(value) => Some(i64::from(*value)),
        Scalar::Short(value) => Some(i64::from(*value)),
        Scalar::Integer(value) => Some(i64::from(*value)),
        Scalar::Long(value) => Some(*value),
        _ => None,
    };
    if scalar.data_type() == to {
        return Some(scalar.clone());
    }
    Some(match to {
        PrimitiveType::Long => Scalar::Long(integer(scalar)?),
        PrimitiveType::Double => Scalar::Double(match scalar {
            Scalar::Float(value) => f64::from(*value),
            Scalar::Decimal { unscaled, scale, .. } => format_decimal(*unscaled, *scale).parse().ok()?,
            other => integer(other)?.to_string().parse().ok()?,
        }),
        PrimitiveType::Decimal { precision, scale } => {
            let text = match scalar {
                Scalar::Decimal { unscaled, scale, .. } => format_decimal(*unscaled, *scale),
                other => integer(other)?.to_string(),
            };
            Scalar::Decimal {
                unscaled: parse_decimal(&text, precision, scale)?,
                precision,
                scale,
            }
        }
        PrimitiveType::Timestamp => match scalar {
            Scalar::Date(days) => Scalar::Timestamp(i64::from(*days).checked_mul(86_400_000_000)?),
            Scalar::TimestampNtz(micros) => Scalar::Timestamp(*micros),
            _ => return None,
        },
        PrimitiveType::TimestampNtz => match scalar {
            Scalar::Date(days) => Scalar::TimestampNtz(i64::from(*days).checked_mul(86_400_000_000)?),
            _ => return None,
        },
        _ => return None,
    })
}
