//! Accepted and rejected text, and the position of errors.

use super::*;
use crate::ErrorKind;
use crate::error::ContextValue;

fn printed(text: &str) -> Result<String> {
    let predicate = parse_predicate(text)?;
    let shown = predicate.to_string();
    assert_eq!(parse_predicate(&shown)?, predicate, "{text} printed as {shown}");
    Ok(shown)
}

#[test]
fn operators_bind_as_in_spark() -> Result<()> {
    for (text, expected) in [
        ("NOT a = 1 AND b", "((NOT (a = 1)) AND b)"),
        ("a OR b AND c", "(a OR (b AND c))"),
        ("!a OR NOT NOT b", "((NOT a) OR (NOT (NOT b)))"),
        ("a = 1 IS NULL", "((a = 1) IS NULL)"),
        ("a = 1 = b", "((a = 1) = b)"),
        ("a BETWEEN 1 AND 2 AND b", "((a BETWEEN 1 AND 2) AND b)"),
        ("a not between 1 + 1 and 2", "(NOT (a BETWEEN (1 + 1) AND 2))"),
        ("1 + 2 * 3 - 4 < a", "(((1 + (2 * 3)) - 4) < a)"),
        ("- -5 < -a", "(-(-5) < -(a))"),
        ("a -1 > 7 DIV -2 % 3", "((a - 1) > ((7 DIV -2) % 3))"),
        ("a == 1 AND b != 2", "((a = 1) AND (b <> 2))"),
        ("a IS NOT DISTINCT FROM 1 + 1", "(a <=> (1 + 1))"),
        ("a IS DISTINCT FROM b", "(NOT (a <=> b))"),
        ("(a > 1) IS NOT TRUE", "(NOT ((a > 1) IS TRUE))"),
        ("a IS UNKNOWN", "(a IS UNKNOWN)"),
        ("a LIKE 'x%'", r"(a LIKE 'x%' ESCAPE '\\')"),
        ("extract(secs from a)", "EXTRACT(SECOND FROM a)"),
        ("a NOT LIKE 'x/%' ESCAPE '/'", "(NOT (a LIKE 'x/%' ESCAPE '/'))"),
        ("a in (1, NULL, 'x')", "(a IN (1, NULL, 'x'))"),
        ("'5'::INT + 1 > a", "((CAST('5' AS INTEGER) + 1) > a)"),
        ("-5::STRING = a", "(CAST(-5 AS STRING) = a)"),
        (
            "try_cast(a AS decimal(5,2)) = 1",
            "(TRY_CAST(a AS DECIMAL(5,2)) = 1)",
        ),
        (
            "startswith(a, 'x') or isnotnull(b)",
            "(startswith(a, 'x') OR (NOT (b IS NULL)))",
        ),
        ("a -- the end\n /* and */ > 1", "(a > 1)"),
        ("date > 1 AND x = r", "((date > 1) AND (`x` = `r`))"),
        ("a || 'x' || b = c", "(concat(concat(a, 'x'), b) = c)"),
        ("UCASE(a) = 'X'", "(upper(a) = 'X')"),
        ("mod(a, 2) = 1", "((a % 2) = 1)"),
        ("trim(LEADING 'x' FROM a)", "ltrim('x', a)"),
        ("trim('x' FROM a) = trim(BOTH FROM b)", "(trim('x', a) = trim(b))"),
        ("substring(a FROM 1 FOR 2) = 'x'", "(substring(a, 1, 2) = 'x')"),
        ("extract(YEAR FROM a) = 1", "(year(a) = 1)"),
        (
            "struct(a, 1 AS b, 2).b",
            "(named_struct('a', a, 'b', 1, 'col3', 2)).b",
        ),
        ("a[0] = b[c]['d'].e", "((a)[0] = (((b)[c])['d']).e)"),
        (
            "case when a then 'x' else b end = 'y'",
            "(CASE WHEN a THEN 'x' ELSE b END = 'y')",
        ),
        (
            "CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END",
            "CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END",
        ),
    ] {
        assert_eq!(printed(text)?, expected, "{text}");
    }
    Ok(())
}

#[test]
fn literals_retain_the_type_of_their_spelling() -> Result<()> {
    for (text, expected) in [
        ("-5", "-5"),
        ("9.50", "9.50BD"),
        (".5", "0.5BD"),
        ("1e2", "100.0D"),
        ("1.5d", "1.5D"),
        ("5e-324D", "5e-324D"),
        ("-0.0F", "-0.0F"),
        ("7L", "7L"),
        ("-128y", "-128Y"),
        ("9223372036854775808", "9223372036854775808BD"),
        ("'it''s'", r"'it\'s'"),
        ("'it' \"'s\" \" \"\"q\"\"\"", r#"'it\'s "q"'"#),
        (r"'a\\b\n\u00e9\%'", r"'a\\b\né\\%'"),
        (r"r'a\b'", r"'a\\b'"),
        ("'\\0'", r"'\u0000'"),
        ("x'abc'", "X'0ABC'"),
        ("DATE'2026-1-5'", "DATE '2026-01-05'"),
        ("DATE '-0001-12-31'", "DATE '-0001-12-31'"),
        (
            "TIMESTAMP '2026-11-01 12:00:00+02:00'",
            "TIMESTAMP '2026-11-01T10:00:00Z'",
        ),
        (
            "TIMESTAMP_NTZ '2026-11-01 00:00:00.5'",
            "TIMESTAMP_NTZ '2026-11-01 00:00:00.5'",
        ),
        ("INTERVAL '1' DAY", "INTERVAL 1 DAY"),
        ("INTERVAL 1 WEEK -2 DAYS", "INTERVAL 5 DAY"),
        ("INTERVAL 1 DAY 1 HOUR", "INTERVAL 90000000000 MICROSECOND"),
        (
            "INTERVAL -9223372036854775808 MICROSECONDS",
            "INTERVAL -9223372036854775808 MICROSECOND",
        ),
        ("INTERVAL - '-1' MONTH", "INTERVAL 1 MONTH"),
        ("INTERVAL '1 year -2 months'", "INTERVAL 10 MONTH"),
        ("NULL", "NULL"),
    ] {
        assert_eq!(
            printed(&format!("a = {text}"))?,
            format!("(a = {expected})"),
            "{text}"
        );
    }
    Ok(())
}

#[test]
fn names_may_nest_and_hold_anything_in_backticks() -> Result<()> {
    for (text, expected) in [
        ("a.b", "a.b"),
        ("`a.b`", "`a.b`"),
        ("`ü x`.`c``d`", "`ü x`.`c``d`"),
        ("a['b'].c", "a.b.c"),
        ("1a", "`1a`"),
        ("größe", "`größe`"),
        ("`not`", "`not`"),
    ] {
        assert_eq!(printed(text)?, expected, "{text}");
    }
    Ok(())
}

#[test]
fn long_predicates_are_read_and_deep_ones_refused() -> Result<()> {
    let list = (0..20_000)
        .map(|number| (-number).to_string())
        .collect::<Vec<_>>()
        .join(", ");
    printed(&format!("a IN ({list})"))?;
    let many = |count: usize, word: &str| vec!["a = 1"; count].join(word);
    printed(&many(50_000, " OR "))?;
    printed(&many(50_000, " AND "))?;
    for text in [
        "a + ".repeat(50_000) + "1",
        "a - ".repeat(50_000) + "1",
        "(".repeat(50_000) + "a",
        "NOT ".repeat(50_000) + "a",
        "- ".repeat(50_000) + "a",
        "a".to_owned() + &"::INT".repeat(50_000),
        "isnan(".repeat(50_000) + "a",
    ] {
        let error = parse_predicate(&text).err();
        let what = error.as_ref().map(crate::Error::what).unwrap_or_default();
        assert!(what.contains("levels deep"), "{what}");
    }
    Ok(())
}

#[test]
fn the_deepest_schema_is_read_with_a_small_stack() {
    let run = || {
        for text in [
            "a + ".repeat(78) + "1",
            "NOT ".repeat(79) + "a",
            "- ".repeat(78) + "a",
            "a".to_owned() + &"::INT".repeat(78),
            "isnan(".repeat(78) + "a" + &")".repeat(78),
            "(".repeat(120) + "a" + &")".repeat(120),
            "a = (1 + (NOT (b OR ".repeat(19) + "c" + &")))".repeat(19),
        ] {
            assert!(printed(&text).is_ok(), "{text}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(3 << 19).spawn(run);
    assert!(thread.is_ok_and(|thread| thread.join().is_ok()));
}

#[test]
fn faults_are_reported_to_be_where_they_are() {
    use ErrorKind::{InvalidPredicate, UnsupportedExpression};
    for (text, kind, line, column) in [
        ("", InvalidPredicate, 1, 1),
        ("a >", InvalidPredicate, 1, 4),
        ("a > 1 b", InvalidPredicate, 1, 7),
        ("a = 'x", InvalidPredicate, 1, 5),
        ("(a = 1", InvalidPredicate, 1, 7),
        ("a == = 1", InvalidPredicate, 1, 6),
        ("a IN ()", InvalidPredicate, 1, 7),
        ("é = 1 AND\n  b IS 5", InvalidPredicate, 2, 8),
        ("a = 1.5x", InvalidPredicate, 1, 5),
        ("a = 300Y", InvalidPredicate, 1, 5),
        ("a = DATE 'soon'", InvalidPredicate, 1, 5),
        ("a = X'GG'", InvalidPredicate, 1, 5),
        ("a = '\\uD800'", InvalidPredicate, 1, 5),
        ("a = `b", InvalidPredicate, 1, 5),
        ("a LIKE 'x' ESCAPE 'ab'", InvalidPredicate, 1, 19),
        ("a = $1", InvalidPredicate, 1, 5),
        ("a /* b", InvalidPredicate, 1, 3),
        ("a = CAST(1 AS DECIMAL(39))", InvalidPredicate, 1, 15),
        ("1 = frobnicate(a)", UnsupportedExpression, 1, 5),
        ("a ILIKE '%x'", UnsupportedExpression, 1, 3),
        ("a NOT RLIKE 'x'", UnsupportedExpression, 1, 7),
        ("a IN (SELECT 1)", UnsupportedExpression, 1, 7),
        ("CASE WHEN a THEN b", InvalidPredicate, 1, 19),
        ("CASE a THEN b END", InvalidPredicate, 1, 8),
        ("to_date(a, 'yyyy')", UnsupportedExpression, 1, 1),
        ("EXTRACT(EPOCH FROM a)", UnsupportedExpression, 1, 9),
        ("a = TIMESTAMP 'now'", UnsupportedExpression, 1, 5),
        ("a & 1 = 1", UnsupportedExpression, 1, 3),
        ("a = TIME '10:00'", UnsupportedExpression, 1, 5),
        ("a > CAST(1 AS INTERVAL)", UnsupportedExpression, 1, 15),
        ("a > INTERVAL 1 MONTH 1 DAY", UnsupportedExpression, 1, 5),
        ("a[0 = 1", InvalidPredicate, 1, 8),
        ("a LIKE ANY ('x')", UnsupportedExpression, 1, 8),
    ] {
        let Some(error) = parse_predicate(text).err() else {
            panic!("{text} is read");
        };
        let place = |key| {
            error
                .context()
                .iter()
                .find(|(known, _)| *known == key)
                .map(|(_, value)| value.clone())
        };
        assert_eq!(error.kind(), kind, "{text}: {error}");
        assert_eq!(
            (place("line"), place("column")),
            (
                Some(ContextValue::Number(line)),
                Some(ContextValue::Number(column))
            ),
            "{text}: {error}"
        );
        assert!(
            error
                .to_string()
                .contains(&format!("line {line}, column {column}")),
            "{error}"
        );
    }
}
