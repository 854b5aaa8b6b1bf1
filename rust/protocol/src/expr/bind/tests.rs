//! Binding predicates to a schema, and the position of errors.

use serde_json::json;

use crate::error::ContextValue;
use crate::expr::parse_predicate;
use crate::schema::{DataType, PrimitiveType, StructField, StructType};
use crate::{ErrorKind, Result};

fn schema() -> StructType {
    let field = |name: &str, kind: PrimitiveType| StructField::new(name, kind.into(), true);
    let mut collated = field("collated", PrimitiveType::String);
    collated
        .metadata
        .insert("__COLLATIONS".to_owned(), json!({"collated": "spark.UTF8_LCASE"}));
    let mut plain = field("plain", PrimitiveType::String);
    plain
        .metadata
        .insert("__COLLATIONS".to_owned(), json!({"plain": "spark.UTF8_BINARY"}));
    let inner = DataType::Struct(StructType {
        fields: vec![field("n", PrimitiveType::Integer), collated.clone()],
    });
    let money = PrimitiveType::Decimal {
        precision: 5,
        scale: 2,
    };
    StructType {
        fields: vec![
            field("tiny", PrimitiveType::Byte),
            field("id", PrimitiveType::Long),
            field("float", PrimitiveType::Float),
            field("money", money),
            field("text", PrimitiveType::String),
            field("day", PrimitiveType::Date),
            field("at", PrimitiveType::Timestamp),
            field("flag", PrimitiveType::Boolean),
            field("v", PrimitiveType::Variant),
            field("nothing", PrimitiveType::Void),
            collated,
            plain,
            StructField::new("nest", inner, true),
        ],
    }
}

fn bound(text: &str) -> Result<String> {
    Ok(parse_predicate(text)?.bind(&schema())?.to_string())
}

#[test]
fn literals_take_the_columns_type() -> Result<()> {
    for (text, expected) in [
        ("tiny > 5", "tiny > 5"),
        ("5 < TINY", "tiny > 5"),
        ("tiny < 1000", "(NOT tiny IS NULL OR NULL)"),
        ("tiny = 1000", "(tiny IS NULL AND NULL)"),
        ("tiny <=> 1000", "FALSE"),
        ("tiny >= 4.5", "tiny > 4"),
        ("tiny = '5'", "tiny = 5"),
        ("id = 1e3", "id = 1000.0D"),
        ("money = 1.5", "money = 1.50BD"),
        ("money < 1.505", "money <= 1.50BD"),
        ("money = '1.5'", "money = 1.5D"),
        ("float = 0.5", "float = 0.5F"),
        ("float = 0.1", "(float IS NULL AND NULL)"),
        ("day = '2026-1-5'", "day = DATE '2026-01-05'"),
        ("day > TIMESTAMP '2026-01-05 12:00:00'", "day > DATE '2026-01-05'"),
        ("at = DATE '2026-01-05'", "at = TIMESTAMP '2026-01-05T00:00:00Z'"),
        (
            "day = DATE '2026-01-31' + INTERVAL 1 MONTH",
            "day = DATE '2026-02-28'",
        ),
        ("flag = TRUE", "flag"),
        ("flag <> TRUE", "NOT flag"),
        ("flag <=> FALSE", "(flag) IS FALSE"),
        ("flag IS UNKNOWN", "flag IS NULL"),
        ("nothing = nothing", "NULL"),
        ("nothing <=> nothing", "TRUE"),
        ("nothing = 5", "nothing = 5"),
        ("1 = 1 AND flag", "(TRUE AND flag)"),
        ("tiny = NULL", "NULL"),
        ("tiny <=> NULL", "tiny IS NULL"),
        ("tiny IN (5)", "tiny = 5"),
        ("tiny IN (3, 1, 1000, 3)", "tiny IN (1, 3)"),
        ("tiny IN (3, NULL)", "tiny IN (3, NULL)"),
        ("id IN (1, 2D)", "(id = 1.0D OR id = 2.0D)"),
        ("tiny BETWEEN 1 AND 2", "(tiny >= 1 AND tiny <= 2)"),
        ("text LIKE 'a%'", "startswith(text, 'a')"),
        ("text LIKE '%a'", "endswith(text, 'a')"),
        ("text LIKE '%a%'", "contains(text, 'a')"),
        ("text LIKE 'a'", "text = 'a'"),
        ("text LIKE 'a!%_' ESCAPE '!'", r"text LIKE 'a\\%_'"),
        ("nest['N'] IS NULL", "nest.n IS NULL"),
        ("plain = 'a'", "plain = 'a'"),
        ("nest.collated IS NULL", "nest.collated IS NULL"),
        ("CAST(tiny AS TINYINT) = 1", "tiny = 1"),
        ("TRY_CAST('x' AS INT) IS NULL", "TRUE"),
        ("money < 950 / 1000BD", "money < 0.95BD"),
        ("upper('a') = text", "text = 'A'"),
        ("IF(1 = 1, 1, 1 / 0) = tiny", "tiny = 1"),
        ("tiny + 1 > 2", "((tiny + 1) > 2)"),
        (
            "CAST(tiny AS STRING) LIKE 'a%'",
            "(CAST(tiny AS STRING) LIKE 'a%' ESCAPE '\\\\')",
        ),
        ("startswith(tiny, '1')", "startswith(tiny, '1')"),
        ("flag AND (id > 1) = flag", "(flag AND ((id > 1) = flag))"),
        ("tiny IN (1, id)", "(tiny IN (1, id))"),
        ("coalesce(flag, TRUE)", "coalesce(flag, TRUE)"),
    ] {
        assert_eq!(bound(text)?, expected, "{text}");
        assert_eq!(bound(expected)?, expected, "{text}");
    }
    Ok(())
}

/// An operand that is used twice must not be bound twice at each level.
#[test]
fn nested_ranges_are_bound_in_no_time() -> Result<()> {
    let depth = 70;
    let text = "(".repeat(depth) + "1 = 1" + &" BETWEEN FALSE AND TRUE)".repeat(depth);
    assert_eq!(bound(&text)?, "TRUE");
    assert_eq!(bound("1 BETWEEN 2 AND NULL")?, "FALSE");
    assert_eq!(bound("1 BETWEEN 1 AND NULL")?, "NULL");
    Ok(())
}

/// protocol: beyond:collations.1
#[test]
fn unanswerable_predicates_are_refused_if_they_remain() {
    use ErrorKind::{InvalidPredicate, UnsupportedExpression};
    for (text, kind, column, says) in [
        ("flag AND tinny > 1", InvalidPredicate, 10, "tinny"),
        ("nest.m > 1", InvalidPredicate, 1, "no column nest.m"),
        ("tiny.x > 1", InvalidPredicate, 1, "has no field x"),
        ("flag OR id", InvalidPredicate, 9, "not a condition"),
        (
            "flag AND 5",
            InvalidPredicate,
            10,
            "where a condition is expected",
        ),
        ("id = 'x'", InvalidPredicate, 1, "'x' is not a valid "),
        (
            "day = '2026-13-01'",
            InvalidPredicate,
            1,
            "'2026-13-01' is not a valid date",
        ),
        ("day > 5", InvalidPredicate, 1, "cannot be compared"),
        ("day = 1 / 0", InvalidPredicate, 7, "division by zero"),
        (
            "id = 2147483647 + 1",
            InvalidPredicate,
            6,
            "out of the range of the type int",
        ),
        ("id = -(-128Y)", InvalidPredicate, 6, "out of the range"),
        (
            "id = CAST('x' AS INT)",
            InvalidPredicate,
            6,
            "'x' is not a valid ",
        ),
        (
            "id IN (1, DATE '2026-01-01')",
            InvalidPredicate,
            11,
            "cannot be compared",
        ),
        ("text LIKE 'a!'  ESCAPE '!'", InvalidPredicate, 11, "escape"),
        (
            "startswith(nest, 'x')",
            UnsupportedExpression,
            12,
            "only primitive values",
        ),
        ("isnan(id)", InvalidPredicate, 7, "isnan"),
        ("id IS TRUE", InvalidPredicate, 1, "not a condition"),
        ("v > 1", InvalidPredicate, 1, "variant"),
        ("v.a IS NULL", InvalidPredicate, 1, "variant"),
        ("INTERVAL 1 DAY", InvalidPredicate, 1, "an interval"),
        ("text > 5", UnsupportedExpression, 1, "needs a cast"),
        ("text = id", UnsupportedExpression, 1, "needs a cast"),
        (
            "flag AND id + day > 2",
            InvalidPredicate,
            10,
            "cannot be combined with +",
        ),
        (
            "CAST(day AS INT) = 1",
            InvalidPredicate,
            1,
            "is not cast to the type int",
        ),
        (
            "upper(collated) = 'A'",
            UnsupportedExpression,
            7,
            "spark.UTF8_LCASE",
        ),
        ("upper(v) = 'A'", InvalidPredicate, 7, "variant"),
        (
            "flag AND upper(flag, 1)",
            UnsupportedExpression,
            10,
            "2 arguments",
        ),
        (
            "id = current_timestamp()",
            UnsupportedExpression,
            6,
            "depends on the time",
        ),
        ("upper(text)", InvalidPredicate, 1, "a condition is expected"),
        ("upper(text) = 5", UnsupportedExpression, 1, "needs a cast"),
        ("id + 1 / 0 = 2", InvalidPredicate, 6, "division by zero"),
        ("nest = 1", UnsupportedExpression, 1, "only primitive values"),
        ("collated = 'a'", UnsupportedExpression, 1, "spark.UTF8_LCASE"),
        (
            "text = nest.collated",
            UnsupportedExpression,
            1,
            "spark.UTF8_LCASE",
        ),
        ("collated LIKE 'a%'", UnsupportedExpression, 1, "spark.UTF8_LCASE"),
        ("collated IN ('a')", UnsupportedExpression, 1, "spark.UTF8_LCASE"),
        ("id IN (1, day)", InvalidPredicate, 1, "cannot be compared"),
        (
            "at > TIMESTAMP '2026-01-01 00:00:00 Mars/Base'",
            UnsupportedExpression,
            6,
            "zone",
        ),
    ] {
        let Some(error) = bound(text).err() else {
            panic!("{text} is bound");
        };
        let place = error.context().iter().find(|(key, _)| *key == "column");
        assert_eq!(error.kind(), kind, "{text}: {error}");
        assert_eq!(
            place.map(|(_, value)| value),
            Some(&ContextValue::Number(column)),
            "{text}: {error}"
        );
        assert!(error.what().contains(says), "{text}: {error}");
    }
}
