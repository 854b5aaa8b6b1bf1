//! Conditions on the generated rows, and a row-by-row evaluation that shares no code with deltaic.

use std::cmp::Ordering;
use std::fmt;

use proptest::prelude::*;

use super::files::{Row, TEXTS};

/// The value of a column in one row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    /// All numbers, dates and times of the generated rows are exact as a double.
    Number(f64),
    Text(String),
    Flag(bool),
    /// A struct that is not NULL.
    Struct,
}

/// The right-hand side of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    Column(&'static str),
    Literal { sql: String, value: Cell },
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Compare {
        column: &'static str,
        operator: &'static str,
        side: Side,
    },
    IsNull {
        column: &'static str,
        negated: bool,
    },
    In {
        column: &'static str,
        values: Vec<Side>,
        negated: bool,
    },
    /// A function of a column and a string: `startswith`, `endswith` or `contains`.
    Function {
        name: &'static str,
        column: &'static str,
        text: &'static str,
    },
    Like {
        pattern: String,
        negated: bool,
    },
    Flag,
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

impl Condition {
    /// The SQL result for a row of a file: true, false or NULL.
    pub(crate) fn holds(&self, row: &Row, old: bool) -> Option<bool> {
        let cell = |column: &str| row.cell(column, old);
        match self {
            Self::Compare {
                column,
                operator,
                side,
            } => compare(operator, &cell(column), &side.cell(row, old)),
            Self::IsNull { column, negated } => Some((cell(column) == Cell::Null) != *negated),
            Self::In {
                column,
                values,
                negated,
            } => {
                let equal = |side: &Side| compare("=", &cell(column), &side.cell(row, old));
                let found = values.iter().map(equal).fold(Some(false), or);
                found.map(|found| found != *negated)
            }
            Self::Function { name, column, text } => match cell(column) {
                Cell::Text(value) => Some(match *name {
                    "startswith" => value.starts_with(text),
                    "endswith" => value.ends_with(text),
                    _ => value.contains(text),
                }),
                _ => None,
            },
            Self::Like { pattern, negated } => match cell("text") {
                Cell::Text(value) => Some(is_like(&value, pattern) != *negated),
                _ => None,
            },
            Self::Flag => match cell("flag") {
                Cell::Flag(value) => Some(value),
                _ => None,
            },
            Self::And(left, right) => {
                let negated = or(
                    left.holds(row, old).map(|it| !it),
                    right.holds(row, old).map(|it| !it),
                );
                negated.map(|it| !it)
            }
            Self::Or(left, right) => or(left.holds(row, old), right.holds(row, old)),
            Self::Not(inner) => inner.holds(row, old).map(|it| !it),
        }
    }
}

fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

impl Side {
    fn cell(&self, row: &Row, old: bool) -> Cell {
        match self {
            Self::Column(name) => row.cell(name, old),
            Self::Literal { value, .. } => value.clone(),
        }
    }
}

fn compare(operator: &str, left: &Cell, right: &Cell) -> Option<bool> {
    let order = match (left, right) {
        (Cell::Number(left), Cell::Number(right)) => number_order(*left, *right),
        (Cell::Text(left), Cell::Text(right)) => left.as_bytes().cmp(right.as_bytes()),
        _ if operator == "<=>" => return Some(left == right),
        _ => return None,
    };
    Some(match operator {
        "=" | "<=>" => order.is_eq(),
        "<>" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    })
}

/// Spark's order: NaN equals itself and is greater than every number, and both zeros are equal.
fn number_order(left: f64, right: f64) -> Ordering {
    let order = left.partial_cmp(&right);
    order.unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

fn is_like(value: &str, pattern: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => value.is_empty(),
        Some('%') => {
            let mut ends = value.char_indices().map(|(at, _)| at).chain([value.len()]);
            ends.any(|at| value.get(at..).is_some_and(|tail| is_like(tail, rest.as_str())))
        }
        Some(wanted) => {
            let mut tail = value.chars();
            tail.next().is_some_and(|first| wanted == '_' || wanted == first)
                && is_like(tail.as_str(), rest.as_str())
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Column(name) => name,
            Self::Literal { sql, .. } => sql,
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match self {
            Self::Compare {
                column,
                operator,
                side,
            } => write!(f, "{column} {operator} {side}"),
            Self::IsNull { column, negated } => write!(f, "{column} IS {}NULL", not(negated)),
            Self::In {
                column,
                values,
                negated,
            } => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(f, "{column} {}IN ({})", not(negated), values.join(", "))
            }
            Self::Function { name, column, text } => write!(f, "{name}({column}, {})", quoted(text)),
            Self::Like { pattern, negated } => write!(f, "text {}LIKE {}", not(negated), quoted(pattern)),
            Self::Flag => f.write_str("flag"),
            Self::And(left, right) => write!(f, "({left} AND {right})"),
            Self::Or(left, right) => write!(f, "({left} OR {right})"),
            Self::Not(inner) => write!(f, "NOT ({inner})"),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "\\'"))
}

fn number(value: i64) -> Side {
    Side::Literal {
        sql: value.to_string(),
        value: Cell::Number(value as f64),
    }
}

fn text(value: &str) -> Side {
    Side::Literal {
        sql: quoted(value),
        value: Cell::Text(value.to_owned()),
    }
}

/// Conditions that some rows match.
pub(crate) fn condition() -> impl Strategy<Value = Condition> {
    use proptest::sample::select;
    let operator = || select(vec!["=", "<>", "<", "<=", ">", ">=", "<=>"]);
    let texts = || select(TEXTS.to_vec());
    let numbers = select(vec!["id", "number", "nested.n", "later", "money", "double"]);
    let doubles = select(vec![
        ("0", 0.0),
        ("1.5", 1.5),
        ("-7.25", -7.25),
        ("CAST('NaN' AS DOUBLE)", f64::NAN),
        ("1E300", 1e300),
    ]);
    let literal = |sql: String, value: f64| Side::Literal {
        sql,
        value: Cell::Number(value),
    };
    let compared = prop_oneof![
        (numbers, (-21i64..21).prop_map(number)),
        (
            Just("double"),
            doubles.prop_map(move |(sql, value)| literal(sql.to_owned(), value))
        ),
        (select(vec!["text", "long", "nested.t"]), texts().prop_map(text)),
        (
            Just("time"),
            (0i32..21).prop_map(move |seconds| {
                literal(
                    format!("TIMESTAMP '1970-01-01 00:00:{seconds:02}Z'"),
                    f64::from(seconds) * 1e6,
                )
            })
        ),
        (
            Just("date"),
            (1i32..9).prop_map(move |day| literal(format!("DATE '1970-01-0{day}'"), f64::from(day - 1)))
        ),
        select(vec![("id", "number"), ("later", "id"), ("text", "nested.t")])
            .prop_map(|(left, right)| (left, Side::Column(right))),
    ];
    let compared = (compared, operator()).prop_map(|((column, side), operator)| Condition::Compare {
        column,
        operator,
        side,
    });
    let nullable = select(vec![
        "text", "double", "nested", "nested.n", "later", "id", "flag",
    ]);
    let is_null =
        (nullable, any::<bool>()).prop_map(|(column, negated)| Condition::IsNull { column, negated });
    let ids = proptest::collection::vec(-21i64..21, 1..4).prop_map(|values| Condition::In {
        column: "id",
        values: values.into_iter().map(number).collect(),
        negated: false,
    });
    let words = (proptest::collection::vec(texts(), 1..4), any::<[bool; 2]>()).prop_map(
        |(texts, [negated, null])| {
            let null = null.then(|| Side::Literal {
                sql: "NULL".to_owned(),
                value: Cell::Null,
            });
            Condition::In {
                column: "text",
                values: texts.into_iter().map(text).chain(null).collect(),
                negated,
            }
        },
    );
    let functions = select(vec![
        ("startswith", "text"),
        ("endswith", "text"),
        ("contains", "long"),
    ]);
    let functions =
        (functions, texts()).prop_map(|((name, column), text)| Condition::Function { name, column, text });
    let like = (texts(), any::<bool>()).prop_map(|(text, negated)| Condition::Like {
        pattern: if negated {
            format!("{text}_")
        } else {
            format!("%{text}%")
        },
        negated,
    });
    let simple = prop_oneof![
        6 => compared,
        1 => is_null,
        1 => ids,
        1 => words,
        2 => functions,
        1 => like,
        1 => Just(Condition::Flag),
    ];
    simple.prop_recursive(3, 8, 3, |inner| {
        let pair = || (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        prop_oneof![
            pair().prop_map(|(left, right)| Condition::And(left, right)),
            pair().prop_map(|(left, right)| Condition::Or(left, right)),
            inner.clone().prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
    })
}
