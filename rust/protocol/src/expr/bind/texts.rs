//! Binds tests of strings, and IS NAN.

use super::binder::{Binder, Value};
use crate::expr::bound::{Computed, Node};
use crate::expr::cast::known::Known;
use crate::expr::literal::like::Simple;
use crate::expr::operators::TextTest;
use crate::expr::span::Span;
use crate::expr::syntax::Expr;
use crate::expr::{BoundPredicate, Comparison, LikePattern, Operand, Scalar};
use crate::schema::{DataType, PrimitiveType};
use crate::{Error, Result};

/// A string operand: a column or a constant.
enum Text {
    Column(Vec<String>),
    Known(Option<String>),
}

/// A test of a string by another one.
enum Test {
    Of(TextTest),
    /// LIKE with an escape.
    Like(char),
}

/// Whether values of a type are converted to strings without being asked.
fn is_converted(data_type: &DataType) -> bool {
    data_type
        .as_primitive()
        .is_some_and(|from| !matches!(from, PrimitiveType::String | PrimitiveType::Variant))
}

impl Binder<'_> {
    /// Binds a string column or constant.
    fn text(&self, expr: &Expr) -> Result<Text> {
        let value = match self.read(expr)? {
            Value::Column(column) if is_converted(&column.data_type) => {
                let typed = self.typed(expr.at, Value::Column(column))?;
                Value::Column(self.lifted(self.implicit(typed, PrimitiveType::String)?))
            }
            value => value,
        };
        match value {
            Value::Known(known) => Ok(Text::Known(self.known_text(expr.at, &known)?)),
            Value::Column(column) => match self.comparable(expr.at, &column)? {
                PrimitiveType::String => Ok(Text::Column(column.path)),
                other => self
                    .source
                    .invalid(
                        expr.at,
                        format!(
                            "a string is expected, and {} is of the type {other}",
                            column.name()
                        ),
                        "",
                    )
                    .map_err(|error: Error| error.with("field", column.name())),
            },
            _ => self.only_of_columns(expr.at),
        }
    }

    fn known_text(&self, at: Span, known: &Known) -> Result<Option<String>> {
        if known.data_type == PrimitiveType::Binary {
            let message = format!("{} is binary, and LIKE requires a string", self.source.text(at));
            return self.source.unsupported(at, message, "");
        }
        match known.cast(PrimitiveType::String).map_err(self.failed(at))?.value {
            Some(Scalar::String(text)) => Ok(Some(text)),
            _ => Ok(None),
        }
    }

    /// A test of a string by one that is not constant.
    fn computed(&self, text: &Expr, part: Value, part_at: Span, test: Test) -> Result<BoundPredicate> {
        let text = self.part(text)?;
        let at = text.at;
        if let Value::Column(column) = &part {
            self.comparable(part_at, column)?;
        }
        let part = self.typed(part_at, part)?;
        let is_binary = |part: &Computed| part.data_type == PrimitiveType::Binary.into();
        let sides = match test {
            Test::Of(_) if is_binary(&text) && is_binary(&part) => [text, part],
            _ => [
                self.implicit(text, PrimitiveType::String)?,
                self.implicit(part, PrimitiveType::String)?,
            ],
        };
        let sides = Box::new(sides);
        let column = self.lifted(Computed {
            at,
            data_type: PrimitiveType::Boolean.into(),
            node: match test {
                Test::Of(test) => Node::TextTest(test, sides),
                Test::Like(escape) => Node::Like(sides, escape),
            },
        });
        Ok(BoundPredicate::Column(column.path))
    }

    pub(super) fn text_test(&self, test: TextTest, text: &Expr, part: &Expr) -> Result<BoundPredicate> {
        let part = match self.value(part)? {
            Value::Known(known) => self.known_text(part.at, &known)?,
            value => return self.computed(text, value, part.at, Test::Of(test)),
        };
        let text = self.text(text)?;
        Ok(match (text, part) {
            (_, None) | (Text::Known(None), _) => BoundPredicate::Constant(None),
            (Text::Known(Some(text)), Some(part)) => BoundPredicate::Constant(Some(match test {
                TextTest::StartsWith => text.starts_with(&part),
                TextTest::EndsWith => text.ends_with(&part),
                TextTest::Contains => text.contains(&part),
            })),
            (Text::Column(path), Some(part)) => match test {
                TextTest::StartsWith => BoundPredicate::StartsWith(path, part),
                TextTest::EndsWith => BoundPredicate::EndsWith(path, part),
                TextTest::Contains => BoundPredicate::Contains(path, part),
            },
        })
    }

    pub(super) fn like(&self, inner: &Expr, pattern: &Expr, escape: char) -> Result<BoundPredicate> {
        let written = match self.value(pattern)? {
            Value::Known(known) => self.known_text(pattern.at, &known)?,
            value => return self.computed(inner, value, pattern.at, Test::Like(escape)),
        };
        let text = self.text(inner)?;
        let Some(written) = written else {
            return Ok(BoundPredicate::Constant(None));
        };
        let parsed = match LikePattern::parse(&written, escape) {
            Ok(parsed) => parsed,
            Err(why) => {
                let hint = "write a backslash in a string literal twice: LIKE '10\\\\%'";
                return self.source.invalid(pattern.at, why, hint);
            }
        };
        Ok(match text {
            Text::Known(text) => BoundPredicate::Constant(text.map(|text| parsed.matches(&text))),
            Text::Column(path) => match parsed.simple() {
                Some(Simple::Equal(text)) => BoundPredicate::Compare {
                    op: Comparison::Equal,
                    left: Operand::Column(path),
                    right: Operand::Scalar(Scalar::String(text)),
                    common: PrimitiveType::String,
                },
                Some(Simple::StartsWith(text)) => BoundPredicate::StartsWith(path, text),
                Some(Simple::EndsWith(text)) => BoundPredicate::EndsWith(path, text),
                Some(Simple::Contains(text)) => BoundPredicate::Contains(path, text),
                None => BoundPredicate::Like(path, parsed),
            },
        })
    }

    pub(super) fn is_nan(&self, inner: &Expr) -> Result<BoundPredicate> {
        match self.tested(inner)? {
            Value::Known(known) => {
                let known = match known.data_type {
                    PrimitiveType::Float => known,
                    _ => known.cast(PrimitiveType::Double).map_err(self.failed(inner.at))?,
                };
                Ok(BoundPredicate::Constant(Some(match known.value {
                    Some(Scalar::Float(value)) => value.is_nan(),
                    Some(Scalar::Double(value)) => value.is_nan(),
                    _ => false,
                })))
            }
            Value::Column(column) => match self.comparable(inner.at, &column)? {
                PrimitiveType::Float | PrimitiveType::Double => Ok(BoundPredicate::IsNan(column.path)),
                other => {
                    let message = format!(
                        "isnan needs a float or a double, and {} has the type {other}",
                        column.name()
                    );
                    self.source
                        .invalid(inner.at, message, "")
                        .map_err(|error: Error| error.with("field", column.name()))
                }
            },
            _ => self.only_of_columns(inner.at),
        }
    }
}
