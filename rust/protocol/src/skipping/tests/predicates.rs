//! Generates predicates as text: comparisons of columns with similar values and with each other, and
//! their combinations.

use super::tables::{Column, Table};
use super::values::{Chance, literal, value};
use crate::expr::Scalar;
use crate::schema::PrimitiveType;

const COMPARISONS: [&str; 7] = ["=", "<>", "<", "<=", ">", ">=", "<=>"];

/// A predicate on a table. Some cannot be bound, because not all types can be compared.
pub(super) fn predicate(table: &Table, chance: &mut Chance, depth: usize) -> String {
    let inner = |chance: &mut Chance| predicate(table, chance, depth - 1);
    match chance.below(if depth == 0 { 4 } else { 11 }) {
        0..=3 => leaf(table, chance),
        4 | 5 => format!("({} AND {})", inner(chance), inner(chance)),
        6 | 7 => format!("({} OR {})", inner(chance), inner(chance)),
        8 => format!(
            "({0} AND {1}) OR ({0} AND {2})",
            inner(chance),
            leaf(table, chance),
            leaf(table, chance)
        ),
        9 => {
            let truth = chance.pick(&["TRUE", "FALSE", "NOT TRUE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"]);
            format!("(({}) IS {truth})", inner(chance))
        }
        _ => format!("NOT ({})", inner(chance)),
    }
}

fn leaf(table: &Table, chance: &mut Chance) -> String {
    let column = chance.pick(&table.columns).clone();
    let name = column.path.join(".");
    let near = |chance: &mut Chance| literal(&value(chance, column.now));
    match chance.below(20) {
        0..=6 => format!("{name} {} {}", chance.pick(&COMPARISONS), near(chance)),
        7 => format!("{} {} {name}", near(chance), chance.pick(&COMPARISONS)),
        8 => format!(
            "{name} {} {}",
            chance.pick(&COMPARISONS),
            of_another_type(&column, chance)
        ),
        9 | 10 => {
            let other = chance.pick(&table.columns).path.join(".");
            format!("{name} {} {other}", chance.pick(&COMPARISONS))
        }
        11 => format!("{name} IS {}NULL", chance.pick(&["", "NOT "])),
        12 => {
            let above = chance.pick(&["s", "s.t", "items"]);
            format!("{above} IS {}NULL", chance.pick(&["", "NOT "]))
        }
        13 | 14 => {
            let mut values: Vec<String> = (0..1 + chance.below(5)).map(|_| near(chance)).collect();
            if chance.percent(15) {
                values.push("NULL".to_owned());
            }
            format!("{name} {}IN ({})", chance.pick(&["", "NOT "]), values.join(", "))
        }
        15 | 16 => {
            let (low, high) = (near(chance), near(chance));
            format!("{name} {}BETWEEN {low} AND {high}", chance.pick(&["", "NOT "]))
        }
        17 if column.now == PrimitiveType::Boolean => name,
        17 if matches!(column.now, PrimitiveType::Float | PrimitiveType::Double) => {
            format!("{}isnan({name})", chance.pick(&["", "NOT "]))
        }
        17 | 18 if column.now == PrimitiveType::String => of_text(&name, chance),
        19 => (*chance.pick(&["TRUE", "FALSE", "NULL", "NOT NULL"])).to_owned(),
        _ => format!("{name} {} {}", chance.pick(&COMPARISONS[..6]), near(chance)),
    }
}

/// A test of a prefix, a substring or a pattern.
fn of_text(name: &str, chance: &mut Chance) -> String {
    let Scalar::String(text) = value(chance, PrimitiveType::String) else {
        panic!("it is text")
    };
    let part: String = text.chars().take(chance.below(36)).collect();
    let not = chance.pick(&["", "NOT "]);
    match chance.below(7) {
        5 => format!("{not}endswith({name}, '{part}')"),
        6 => format!("{not}contains({name}, '{part}')"),
        0 | 1 => format!("{not}startswith({name}, '{part}')"),
        2 => format!("{name} {not}LIKE '{part}%'"),
        3 => format!("{name} {not}LIKE '{part}_'"),
        _ => format!("{name} {not}LIKE '{part}%x'"),
    }
}

/// A number, a timestamp or a string of another type than that of the column.
fn of_another_type(column: &Column, chance: &mut Chance) -> String {
    let others = match column.now {
        PrimitiveType::Date | PrimitiveType::Timestamp | PrimitiveType::TimestampNtz => {
            vec![
                PrimitiveType::Date,
                PrimitiveType::Timestamp,
                PrimitiveType::TimestampNtz,
            ]
        }
        PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Boolean => vec![column.now],
        _ => vec![
            PrimitiveType::Byte,
            PrimitiveType::Long,
            PrimitiveType::Float,
            PrimitiveType::Double,
            PrimitiveType::Decimal {
                precision: 10,
                scale: 2,
            },
            PrimitiveType::Decimal {
                precision: 20,
                scale: 4,
            },
        ],
    };
    let other = *chance.pick(&others);
    literal(&value(chance, other))
}
