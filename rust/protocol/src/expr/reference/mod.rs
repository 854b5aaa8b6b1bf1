//! A slow reference implementation of the evaluator, row by row, and properties of both, written only
//! from Spark's rules.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use proptest::prelude::*;

mod cases;

use crate::expr::bind::literal_position;
use crate::expr::cast::coercion;
use crate::expr::literal::integers;
use crate::expr::{BoundPredicate, Comparison, Operand, Scalar, cast, evaluate, parse_predicate};
use crate::schema::{DataType, PrimitiveType, StructField, StructType};
use cases::{comparisons, predicates, rows, values};

/// A row: a value for each column, in the order of [`TYPES`].
type Row = Vec<Option<Scalar>>;

const MONEY: PrimitiveType = PrimitiveType::Decimal {
    precision: 5,
    scale: 2,
};
const TYPES: [(&str, PrimitiveType); 14] = [
    ("byte", PrimitiveType::Byte),
    ("short", PrimitiveType::Short),
    ("int", PrimitiveType::Integer),
    ("Long", PrimitiveType::Long),
    ("float", PrimitiveType::Float),
    ("double", PrimitiveType::Double),
    ("money", MONEY),
    ("two words", PrimitiveType::String),
    ("bytes", PrimitiveType::Binary),
    ("day", PrimitiveType::Date),
    ("at", PrimitiveType::Timestamp),
    ("ntz", PrimitiveType::TimestampNtz),
    ("flag", PrimitiveType::Boolean),
    // A field of `outer`, which is NULL if the flag is.
    ("in.ner`", PrimitiveType::Integer),
];

fn path(at: usize) -> Vec<String> {
    let name = TYPES[at].0.to_owned();
    if at == TYPES.len() - 1 {
        vec!["outer".to_owned(), name]
    } else {
        vec![name]
    }
}

fn schema() -> StructType {
    let field = |(name, kind): (&str, PrimitiveType)| StructField::new(name, kind.into(), true);
    let mut fields: Vec<StructField> = TYPES.into_iter().map(field).collect();
    let inner = fields.pop().into_iter().collect();
    let inner = DataType::Struct(StructType { fields: inner });
    fields.push(StructField::new("outer", inner, true));
    StructType { fields }
}

fn batch(rows: &[Row]) -> RecordBatch {
    let column = |at: usize| {
        let values: Vec<Option<Scalar>> = rows.iter().map(|row| row[at].clone()).collect();
        Scalar::to_column(&values, TYPES[at].1)
    };
    let arrow = schema().to_arrow().unwrap();
    let mut columns: Vec<ArrayRef> = (0..TYPES.len() - 1).map(column).collect();
    let nulls: NullBuffer = rows.iter().map(|row| row[12].is_some()).collect();
    let arrow_schema::DataType::Struct(fields) = arrow.field(TYPES.len() - 1).data_type() else {
        panic!("the last column is a struct");
    };
    let inner = vec![column(TYPES.len() - 1)];
    columns.push(Arc::new(StructArray::new(fields.clone(), inner, Some(nulls))));
    RecordBatch::try_new(Arc::new(arrow), columns).unwrap()
}

/// The value of a column in a row; a field of a NULL struct is NULL.
fn value<'a>(row: &'a Row, path: &[String]) -> Option<&'a Scalar> {
    let name = path.last().unwrap();
    let at = TYPES.iter().position(|(known, _)| known == name).unwrap();
    if path.len() > 1 && row[12].is_none() {
        return None;
    }
    row[at].as_ref()
}

/// Spark's order of two values of one type.
fn order(left: &Scalar, right: &Scalar) -> Ordering {
    let number = |value: &Scalar| match value {
        Scalar::Float(value) => Some(f64::from(*value)),
        Scalar::Double(value) => Some(*value),
        _ => None,
    };
    if let (Some(a), Some(b)) = (number(left), number(right)) {
        return match (a.is_nan(), b.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => a.partial_cmp(&b).unwrap(),
        };
    }
    match (left, right) {
        (Scalar::Boolean(a), Scalar::Boolean(b)) => a.cmp(b),
        (Scalar::String(a), Scalar::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Scalar::Binary(a), Scalar::Binary(b)) => a.cmp(b),
        (Scalar::Decimal { unscaled: a, .. }, Scalar::Decimal { unscaled: b, .. }) => a.cmp(b),
        (Scalar::Date(a), Scalar::Date(b)) => a.cmp(b),
        (Scalar::Timestamp(a), Scalar::Timestamp(b)) | (Scalar::TimestampNtz(a), Scalar::TimestampNtz(b)) => {
            a.cmp(b)
        }
        (a, b) => integers::integer(a).unwrap().cmp(&integers::integer(b).unwrap()),
    }
}

fn holds(op: Comparison, left: &Scalar, right: &Scalar) -> bool {
    let order = order(left, right);
    match op {
        Comparison::Equal | Comparison::NullSafeEqual => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// Recursive implementation of `_` and `%`.
fn like(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['%', rest @ ..], _) => {
            like(rest, text)
                || text
                    .split_first()
                    .is_some_and(|(_, behind)| like(pattern, behind))
        }
        (['\\', wanted, rest @ ..], [first, behind @ ..]) => wanted == first && like(rest, behind),
        (['_', rest @ ..], [_, behind @ ..]) => like(rest, behind),
        ([wanted, rest @ ..], [first, behind @ ..]) => wanted == first && like(rest, behind),
        _ => false,
    }
}

fn of_text(row: &Row, path: &[String], test: impl Fn(&str) -> bool) -> Option<bool> {
    match value(row, path)? {
        Scalar::String(text) => Some(test(text)),
        other => panic!("{other:?} is not text"),
    }
}

/// The result for a row.
fn slow(predicate: &BoundPredicate, row: &Row) -> Option<bool> {
    match predicate {
        BoundPredicate::Constant(value) => *value,
        BoundPredicate::Column(path) => match value(row, path)? {
            Scalar::Boolean(value) => Some(*value),
            other => panic!("{other:?} is not a condition"),
        },
        BoundPredicate::Compare {
            op,
            left,
            right,
            common,
        } => {
            let side = |operand: &Operand| match operand {
                Operand::Column(path) => value(row, path).map(|value| cast::cast(value, *common).unwrap()),
                Operand::Scalar(value) => Some(value.clone()),
            };
            match (op, side(left), side(right)) {
                (_, Some(left), Some(right)) => Some(holds(*op, &left, &right)),
                (Comparison::NullSafeEqual, left, right) => Some(left.is_none() && right.is_none()),
                _ => None,
            }
        }
        BoundPredicate::In {
            path,
            values,
            has_null,
        } => {
            let own = value(row, path)?;
            let found = values.values().iter().any(|value| order(own, value).is_eq());
            if found {
                Some(true)
            } else {
                (!has_null).then_some(false)
            }
        }
        BoundPredicate::IsNull(path) => Some(value(row, path).is_none()),
        BoundPredicate::IsNan(path) => Some(match value(row, path) {
            Some(Scalar::Float(value)) => value.is_nan(),
            Some(Scalar::Double(value)) => value.is_nan(),
            _ => false,
        }),
        BoundPredicate::StartsWith(path, part) => of_text(row, path, |text| text.starts_with(part.as_str())),
        BoundPredicate::EndsWith(path, part) => of_text(row, path, |text| text.ends_with(part.as_str())),
        BoundPredicate::Contains(path, part) => of_text(row, path, |text| text.contains(part.as_str())),
        BoundPredicate::Like(path, pattern) => {
            let pattern: Vec<char> = pattern.text().chars().collect();
            of_text(row, path, |text| {
                like(&pattern, &text.chars().collect::<Vec<_>>())
            })
        }
        BoundPredicate::Computed(computed) => panic!("{computed} is computed"),
        BoundPredicate::Is(inner, truth) => Some(slow(inner, row) == *truth),
        BoundPredicate::And(parts) => {
            let answers: Vec<_> = parts.iter().map(|part| slow(part, row)).collect();
            if answers.contains(&Some(false)) {
                Some(false)
            } else if answers.contains(&None) {
                None
            } else {
                Some(true)
            }
        }
        BoundPredicate::Or(parts) => {
            let answers: Vec<_> = parts.iter().map(|part| slow(part, row)).collect();
            if answers.contains(&Some(true)) {
                Some(true)
            } else if answers.contains(&None) {
                None
            } else {
                Some(false)
            }
        }
        BoundPredicate::Not(inner) => slow(inner, row).map(|answer| !answer),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_row_has_the_answer_of_the_slow_reference(rows in rows(), predicate in predicates()) {
        let expected: Vec<_> = rows.iter().map(|row| slow(&predicate, row)).collect();
        let found: Vec<_> = evaluate(&predicate, &batch(&rows)).unwrap().iter().collect();
        prop_assert_eq!(found, expected, "{}", predicate);
    }

    /// NaN does not equal itself, so the displayed text is compared.
    #[test]
    fn a_bound_predicate_is_read_back_from_its_text(predicate in predicates()) {
        let text = predicate.to_string();
        let parsed = parse_predicate(&text).unwrap();
        let again = parsed.bind(&schema()).unwrap();
        prop_assert_eq!(format!("{again:?}"), format!("{predicate:?}"), "{}", text);
        prop_assert_eq!(parse_predicate(&parsed.to_string()).unwrap(), parsed);
    }

    /// Converting a value to the type of the column returns the same results as casting the rows.
    #[test]
    fn a_value_that_is_fitted_retains_its_answers(
        (at, op, literal) in (0..12usize, 0..12usize, comparisons()).prop_flat_map(|(at, of, op)| {
            (Just(at), Just(op), values(TYPES[of].1))
        }),
        rows in rows(),
    ) {
        let column = TYPES[at].1;
        let texts = [column, literal.data_type()].contains(&PrimitiveType::String);
        let Some(common) = coercion::wider(column, literal.data_type()).filter(|_| !texts) else {
            return Ok(());
        };
        let Ok(value) = cast::cast(&literal, common) else {
            return Ok(());
        };
        let Some(fit) = literal_position::fit(&value, column) else {
            return Ok(());
        };
        let fitted = literal_position::compare(op, path(at), column, fit);
        for row in &rows {
            let own = value_in(row, at, common);
            let expected = match (own, op) {
                (Some(Ok(own)), _) => Some(holds(op, &own, &value)),
                (Some(Err(())), _) => continue,
                (None, Comparison::NullSafeEqual) => Some(false),
                (None, _) => None,
            };
            prop_assert_eq!(slow(&fitted, row), expected, "{} for {:?}", fitted, row);
        }
    }
}

/// The value of a row in the type of a comparison, if that type can represent it.
fn value_in(row: &Row, at: usize, common: PrimitiveType) -> Option<Result<Scalar, ()>> {
    value(row, &path(at)).map(|own| cast::cast(own, common).map_err(|_| ()))
}
