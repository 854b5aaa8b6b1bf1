//! From SQL text, in Spark's spelling, to a [`Predicate`].

use sqlparser::ast::{
    BinaryOperator, DataType as SqlType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, TimezoneInfo, UnaryOperator, Value, ValueWithSpan,
};
use sqlparser::dialect::DatabricksDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer, Word};

use super::{Comparison, Literal, Predicate, Term};
use crate::schema::{ColumnName, PrimitiveType};
use crate::{Error, ErrorKind, Result};

/// How deeply a predicate may nest.
const DEPTH: usize = 120;

/// How many operators a predicate may have, and how many ANDs and ORs.
const OPERATORS: usize = 5_000;

/// Reads a predicate. What is not SQL is `InvalidPredicate`; SQL that is not implemented is
/// `UnsupportedExpression`. Both name the place.
///
/// ```
/// use deltaic_protocol::expr::parse_predicate;
/// parse_predicate("day >= DATE '2026-11-01' AND (region = 'EU' OR amount > 9.5)")?;
/// assert!(parse_predicate("day >").is_err());
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn parse_predicate(text: &str) -> Result<Predicate> {
    let invalid = |why: String| {
        let why = why.strip_prefix("sql parser error: ").unwrap_or(&why);
        Error::new(
            ErrorKind::InvalidPredicate,
            format!("the predicate cannot be read: {why}"),
        )
        .with("predicate", shortened(text))
        .hint("write it as in Spark SQL, for example: day >= DATE '2026-11-01' AND `my column` = 'x'")
    };
    let dialect = DatabricksDialect {};
    let tokens = Tokenizer::new(&dialect, text)
        .tokenize_with_location()
        .map_err(|error| invalid(error.to_string()))?;
    if too_many_operators(&tokens) {
        return Err(invalid(format!("it has more than {OPERATORS} operators"))
            .hint("write many values as column IN (…), which may be as long as you like"));
    }
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(DEPTH)
        .with_tokens_with_locations(spell_out_number_types(tokens));
    let expr = parser.parse_expr().map_err(|error| invalid(error.to_string()))?;
    let rest = parser.peek_token();
    if rest.token != Token::EOF {
        return Err(invalid(format!(
            "{:?} at column {} is not expected",
            rest.token.to_string(),
            rest.span.start.column
        )));
    }
    predicate(&expr)
}

/// The parser nests a chain of operators as deep as it is long, so its length is bounded before it is parsed.
fn too_many_operators(tokens: &[TokenWithSpan]) -> bool {
    let (mut words, mut signs) = (0, 0);
    for token in tokens {
        match &token.token {
            Token::Word(word) if matches!(word.keyword, Keyword::AND | Keyword::OR) => words += 1,
            // What stands in a list: values, their signs, commas and parentheses.
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::Comma
            | Token::LParen
            | Token::RParen
            | Token::Period
            | Token::Minus
            | Token::Whitespace(_) => {}
            _ => signs += 1,
        }
    }
    let visible: Vec<&Token> = tokens
        .iter()
        .map(|token| &token.token)
        .filter(|token| !matches!(token, Token::Whitespace(_)))
        .collect();
    let minuses = visible.windows(2).filter(|pair| {
        let follows_value = matches!(pair[0], Token::Word(_) | Token::Number(..) | Token::RParen);
        follows_value && *pair[1] == Token::Minus
    });
    words > OPERATORS || signs + minuses.count() > OPERATORS
}

/// As much of a text as an error has room for.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((cut, _)) => format!("{} …", text.get(..cut).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Spark writes the type of a number behind it (`1.5D`, `9.5BD`, `7L`, `3S`, `3Y`, `1.5F`). The tokenizer takes such
/// a number for a word, or for a number and a word behind it: it becomes a cast, which the SQL parser knows.
fn spell_out_number_types(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut spelled = Vec::with_capacity(tokens.len());
    for token in tokens {
        let word = match &token.token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.clone()),
            _ => None,
        };
        let before: Option<String> = match spelled.last() {
            Some(TokenWithSpan {
                token: Token::Number(digits, false),
                span,
            }) if span.end == token.span.start => Some(digits.clone()),
            _ => None,
        };
        let joined = word.map(|word| before.clone().unwrap_or_default() + &word);
        match joined.as_deref().and_then(typed_number) {
            None => spelled.push(token),
            Some((digits, type_name, keyword)) => {
                if before.is_some() {
                    spelled.pop();
                }
                let word = |value: &str, keyword| {
                    Token::Word(Word {
                        value: value.to_owned(),
                        quote_style: None,
                        keyword,
                    })
                };
                let parts = [
                    word("CAST", Keyword::CAST),
                    Token::LParen,
                    Token::Number(digits.to_owned(), false),
                    word("AS", Keyword::AS),
                    word(type_name, keyword),
                    Token::RParen,
                ];
                spelled.extend(parts.into_iter().map(|part| TokenWithSpan {
                    token: part,
                    span: token.span,
                }));
            }
        }
    }
    spelled
}

fn typed_number(word: &str) -> Option<(&str, &'static str, Keyword)> {
    let suffixes = [
        ("BD", "DECIMAL", Keyword::DECIMAL),
        ("D", "DOUBLE", Keyword::DOUBLE),
        ("F", "FLOAT", Keyword::FLOAT),
        ("L", "BIGINT", Keyword::BIGINT),
        ("S", "SMALLINT", Keyword::SMALLINT),
        ("Y", "TINYINT", Keyword::TINYINT),
    ];
    let upper = word.to_ascii_uppercase();
    let (suffix, type_name, keyword) = suffixes
        .into_iter()
        .find(|(suffix, ..)| upper.ends_with(suffix))?;
    let digits = word.get(..word.len() - suffix.len())?;
    let is_number =
        digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && digits.parse::<f64>().is_ok();
    is_number.then_some((digits, type_name, keyword))
}

fn unsupported(expr: &Expr) -> Error {
    let text = shortened(&expr.to_string());
    Error::new(
        ErrorKind::UnsupportedExpression,
        format!("the expression {text} is not implemented in predicates"),
    )
    .with("expression", text)
    .hint("compare columns with literals: = <> < <= > >= <=>, IN, BETWEEN, IS NULL, startswith, AND, OR, NOT")
}

fn predicate(expr: &Expr) -> Result<Predicate> {
    Ok(match expr {
        Expr::Nested(inner) => predicate(inner)?,
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::And => Predicate::And(chain(expr, &BinaryOperator::And)?),
            BinaryOperator::Or => Predicate::Or(chain(expr, &BinaryOperator::Or)?),
            _ => Predicate::Compare(
                comparison(op).ok_or_else(|| unsupported(expr))?,
                term(left)?,
                term(right)?,
            ),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Not | UnaryOperator::BangNot,
            expr,
        } => Predicate::Not(Box::new(predicate(expr)?)),
        Expr::IsNull(inner) => Predicate::IsNull(term(inner)?),
        Expr::IsNotNull(inner) => Predicate::Not(Box::new(Predicate::IsNull(term(inner)?))),
        Expr::InList { expr, list, negated } => {
            let list = list
                .iter()
                .map(|item| match term(item)? {
                    Term::Literal(literal) => Ok(literal),
                    Term::Column(_) => Err(unsupported(item)),
                })
                .collect::<Result<_>>()?;
            negate(*negated, Predicate::In(term(expr)?, list))
        }
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let inner = term(expr)?;
            let above = Predicate::Compare(Comparison::GreaterOrEqual, inner.clone(), term(low)?);
            let below = Predicate::Compare(Comparison::LessOrEqual, inner, term(high)?);
            negate(*negated, Predicate::And(vec![above, below]))
        }
        Expr::Function(function) => starts_with(function)?.ok_or_else(|| unsupported(expr))?,
        other => Predicate::Term(term(other)?),
    })
}

/// The links of a chain of ANDs or ORs, left to right. The parser nests such a chain as deep as it is long, so it is
/// walked and not descended.
fn chain(expr: &Expr, word: &BinaryOperator) -> Result<Vec<Predicate>> {
    let mut links = Vec::new();
    let mut rest = expr;
    while let Expr::BinaryOp { left, op, right } = rest
        && op == word
    {
        links.push(right.as_ref());
        rest = left;
    }
    links.push(rest);
    links.into_iter().rev().map(predicate).collect()
}

fn negate(negated: bool, predicate: Predicate) -> Predicate {
    if negated {
        Predicate::Not(Box::new(predicate))
    } else {
        predicate
    }
}

fn comparison(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        BinaryOperator::Spaceship => Comparison::NullSafeEqual,
        _ => return None,
    })
}

fn starts_with(function: &Function) -> Result<Option<Predicate>> {
    let name = function.name.to_string().to_ascii_lowercase();
    if name != "startswith" && name != "starts_with" {
        return Ok(None);
    }
    let FunctionArguments::List(arguments) = &function.args else {
        return Ok(None);
    };
    let [
        FunctionArg::Unnamed(FunctionArgExpr::Expr(column)),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(prefix)),
    ] = arguments.args.as_slice()
    else {
        return Ok(None);
    };
    match term(prefix)? {
        Term::Literal(Literal::String(prefix)) => Ok(Some(Predicate::StartsWith(term(column)?, prefix))),
        _ => Ok(None),
    }
}

fn term(expr: &Expr) -> Result<Term> {
    Ok(match expr {
        Expr::Nested(inner) => term(inner)?,
        Expr::Identifier(name) => Term::Column(column(std::slice::from_ref(name))),
        Expr::CompoundIdentifier(names) => Term::Column(column(names)),
        Expr::Value(value) => Term::Literal(literal(value).ok_or_else(|| unsupported(expr))?),
        Expr::UnaryOp {
            op: op @ (UnaryOperator::Minus | UnaryOperator::Plus),
            expr: inner,
        } => match (op, term(inner)?) {
            (UnaryOperator::Plus, Term::Literal(Literal::Number(digits))) => {
                Term::Literal(Literal::Number(digits))
            }
            (_, Term::Literal(Literal::Number(digits))) => Term::Literal(Literal::Number(negative(&digits))),
            (UnaryOperator::Minus, Term::Literal(Literal::Typed(digits, data_type))) => {
                Term::Literal(Literal::Typed(negative(&digits), data_type))
            }
            _ => return Err(unsupported(expr)),
        },
        Expr::TypedString(typed) => {
            let data_type = sql_type(&typed.data_type).ok_or_else(|| unsupported(expr))?;
            match literal(&typed.value) {
                Some(Literal::String(text)) => Term::Literal(Literal::Typed(text, data_type)),
                _ => return Err(unsupported(expr)),
            }
        }
        Expr::Cast {
            expr: inner,
            data_type,
            ..
        } => {
            let data_type = sql_type(data_type).ok_or_else(|| unsupported(expr))?;
            match term(inner)? {
                Term::Literal(Literal::Number(text) | Literal::String(text)) => {
                    Term::Literal(Literal::Typed(text, data_type))
                }
                Term::Literal(Literal::Null) => Term::Literal(Literal::Null),
                _ => return Err(unsupported(expr)),
            }
        }
        _ => return Err(unsupported(expr)),
    })
}

fn negative(digits: &str) -> String {
    match digits.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None => format!("-{digits}"),
    }
}

fn column(names: &[Ident]) -> ColumnName {
    ColumnName::from_parts(names.iter().map(|name| name.value.clone()).collect())
}

fn literal(value: &ValueWithSpan) -> Option<Literal> {
    Some(match &value.value {
        Value::Null => Literal::Null,
        Value::Boolean(value) => Literal::Boolean(*value),
        Value::Number(digits, false) => Literal::Number(digits.clone()),
        Value::Number(digits, true) => Literal::Typed(digits.clone(), PrimitiveType::Long),
        Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Literal::String(text.clone()),
        Value::HexStringLiteral(digits) => Literal::Binary(unhex(digits)?),
        _ => return None,
    })
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits = if digits.len() % 2 == 1 {
        format!("0{digits}")
    } else {
        digits.to_owned()
    };
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect()
}

fn sql_type(sql: &SqlType) -> Option<PrimitiveType> {
    Some(match sql {
        SqlType::Boolean | SqlType::Bool => PrimitiveType::Boolean,
        SqlType::TinyInt(None) => PrimitiveType::Byte,
        SqlType::SmallInt(None) => PrimitiveType::Short,
        SqlType::Int(None) | SqlType::Integer(None) => PrimitiveType::Integer,
        SqlType::BigInt(None) => PrimitiveType::Long,
        SqlType::Float(_) | SqlType::Real => PrimitiveType::Float,
        SqlType::Double(_) | SqlType::DoublePrecision => PrimitiveType::Double,
        SqlType::String(None) => PrimitiveType::String,
        SqlType::Date => PrimitiveType::Date,
        SqlType::Timestamp(None, TimezoneInfo::None) => PrimitiveType::Timestamp,
        SqlType::TimestampNtz(None) => PrimitiveType::TimestampNtz,
        SqlType::Decimal(info) | SqlType::Numeric(info) | SqlType::Dec(info) => match info {
            // Without a precision the literal keeps its own digits: 0 says so.
            ExactNumberInfo::None => PrimitiveType::Decimal {
                precision: 0,
                scale: 0,
            },
            ExactNumberInfo::Precision(precision) => PrimitiveType::Decimal {
                precision: u8::try_from(*precision).ok()?,
                scale: 0,
            },
            ExactNumberInfo::PrecisionAndScale(precision, scale) => PrimitiveType::Decimal {
                precision: u8::try_from(*precision).ok()?,
                scale: u8::try_from(*scale).ok()?,
            },
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Term {
        Term::Literal(Literal::Number(text.to_owned()))
    }

    fn name(text: &str) -> Result<Term> {
        ColumnName::parse(text).map(Term::Column)
    }

    #[test]
    fn literals_keep_the_type_of_their_spelling() -> Result<()> {
        for (text, expected) in [
            ("-5", number("-5")),
            ("9.5", number("9.5")),
            (
                "1.5D",
                Term::Literal(Literal::Typed("1.5".to_owned(), PrimitiveType::Double)),
            ),
            (
                "-1.5D",
                Term::Literal(Literal::Typed("-1.5".to_owned(), PrimitiveType::Double)),
            ),
            (
                "9.5BD",
                Term::Literal(Literal::Typed(
                    "9.5".to_owned(),
                    PrimitiveType::Decimal {
                        precision: 0,
                        scale: 0,
                    },
                )),
            ),
            (
                "5e-324D",
                Term::Literal(Literal::Typed("5e-324".to_owned(), PrimitiveType::Double)),
            ),
            (
                "7L",
                Term::Literal(Literal::Typed("7".to_owned(), PrimitiveType::Long)),
            ),
            ("'it''s'", Term::Literal(Literal::String("it's".to_owned()))),
            (r"'a\\b\'c'", Term::Literal(Literal::String(r"a\b'c".to_owned()))),
            ("X'00ff'", Term::Literal(Literal::Binary(vec![0, 255]))),
            (
                "DATE '2026-11-01'",
                Term::Literal(Literal::Typed("2026-11-01".to_owned(), PrimitiveType::Date)),
            ),
            (
                "CAST('NaN' AS DOUBLE)",
                Term::Literal(Literal::Typed("NaN".to_owned(), PrimitiveType::Double)),
            ),
            (
                "TIMESTAMP_NTZ '2026-11-01 00:00:00'",
                Term::Literal(Literal::Typed(
                    "2026-11-01 00:00:00".to_owned(),
                    PrimitiveType::TimestampNtz,
                )),
            ),
            ("NULL", Term::Literal(Literal::Null)),
        ] {
            let parsed = parse_predicate(&format!("a = {text}"))?;
            assert_eq!(
                parsed,
                Predicate::Compare(Comparison::Equal, name("a")?, expected),
                "{text}"
            );
        }
        Ok(())
    }

    #[test]
    fn names_may_nest_and_hold_anything_in_backticks() -> Result<()> {
        for (text, expected) in [
            ("a.b > 1", "a.b"),
            ("`a.b` > 1", "`a.b`"),
            ("`ü x`.`c``d` > 1", "`ü x`.`c``d`"),
        ] {
            let parsed = parse_predicate(text)?;
            assert_eq!(
                parsed,
                Predicate::Compare(Comparison::Greater, name(expected)?, number("1")),
                "{text}"
            );
        }
        Ok(())
    }

    #[test]
    fn long_predicates_are_read_and_endless_ones_refused() -> Result<()> {
        let list = (0..20_000)
            .map(|number| (-number).to_string())
            .collect::<Vec<_>>()
            .join(", ");
        assert!(
            matches!(parse_predicate(&format!("a IN ({list})"))?, Predicate::In(_, list) if list.len() == 20_000)
        );
        let many = |count: usize, word: &str| vec!["a = 1"; count].join(word);
        assert!(
            matches!(parse_predicate(&many(4_000, " OR "))?, Predicate::Or(parts) if parts.len() == 4_000)
        );
        for text in [
            many(50_000, " AND "),
            "a + ".repeat(50_000) + "1",
            "a - ".repeat(50_000) + "1",
        ] {
            let kind = parse_predicate(&text).err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::InvalidPredicate));
        }
        Ok(())
    }

    #[test]
    fn nonsense_points_at_the_place() {
        for text in [
            "",
            "a >",
            "a > 1 b",
            "a = 'x",
            "(a = 1",
            "a == = 1",
            "a IN ()",
            &"(".repeat(10_000),
        ] {
            let error = parse_predicate(text).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::InvalidPredicate),
                "{text}"
            );
        }
        for text in [
            "a + 1 > 2",
            "upper(a) = 'X'",
            "a LIKE '%x'",
            "a IN (SELECT 1)",
            "a IN (b)",
            "a > INTERVAL 1 DAY",
        ] {
            let error = parse_predicate(text).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::UnsupportedExpression),
                "{text}"
            );
        }
    }
}
