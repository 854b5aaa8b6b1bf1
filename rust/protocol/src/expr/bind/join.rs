//! Binds the condition of a join, and conditions and values over its two sides.

use super::binder::Binder;
use super::computed::value_of;
use super::sides::{Side, Sides};
use crate::expr::span::SourceText;
use crate::expr::syntax::{Expr, ExprKind};
use crate::expr::{BoundPredicate, BoundValue, Comparison, Predicate, ValueExpr};
use crate::{Error, Result};

/// A condition on two rows, divided into what joins them and the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinCondition {
    /// The equalities between a value of the target and a value of the source, in the order of the text.
    pub keys: Vec<JoinKey>,
    /// The other conditions; `None` if there are none.
    pub rest: Option<BoundPredicate>,
    /// Those of them that concern only the target; `None` if there are none.
    pub of_target: Option<BoundPredicate>,
}

/// Two values that must be equal. They have one type.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinKey {
    /// The value of the target.
    pub target: BoundValue,
    /// The value of the source.
    pub source: BoundValue,
    /// Whether NULL is equal to NULL (`<=>`); otherwise it equals nothing.
    pub null_safe: bool,
}

impl Sides {
    /// Binds a condition to both sides.
    ///
    /// # Errors
    ///
    /// As [`Predicate::bind`]; `InvalidPredicate` for a column that both sides have.
    pub fn condition(&self, predicate: &Predicate) -> Result<BoundPredicate> {
        let timed = predicate.timed(|name| self.has(name))?;
        self.binder(&timed.text).condition(&timed.root)
    }

    /// Binds a value to both sides.
    ///
    /// # Errors
    ///
    /// As [`ValueExpr::bind`]; `InvalidPredicate` for a column that both sides have.
    pub fn value(&self, value: &ValueExpr) -> Result<BoundValue> {
        let timed = value.0.timed(|name| self.has(name))?;
        value_of(&timed, &self.binder(&timed.text))
    }

    /// Divides the condition of a join.
    ///
    /// # Errors
    ///
    /// Those of [`Sides::condition`].
    ///
    /// ```
    /// use deltaic_protocol::expr::{Sides, parse_predicate};
    /// use deltaic_protocol::schema::StructType;
    /// let table = StructType::from_json(r#"{"type":"struct","fields":[
    ///     {"name":"id","type":"long","nullable":true,"metadata":{}}]}"#)?;
    /// let sides = Sides::try_new(("t", &table), ("s", &table))?;
    /// let on = sides.join(&parse_predicate("t.id = s.id AND t.id > 3")?)?;
    /// assert_eq!((on.keys.len(), on.of_target.is_some()), (1, true));
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn join(&self, on: &Predicate) -> Result<JoinCondition> {
        self.condition(on)?;
        let on = on.timed(|name| self.has(name))?;
        let (mut keys, mut rest, mut of_target) = (Vec::new(), Vec::new(), Vec::new());
        for part in conjuncts(&on.root) {
            if let Some(key) = self.key(&on.text, part)? {
                keys.push(key);
                continue;
            }
            let bound = self.binder(&on.text).condition(part)?;
            if self.side_of(part) == Some(Side::Target) {
                of_target.push(bound.clone());
            }
            rest.push(bound);
        }
        Ok(JoinCondition {
            keys,
            rest: BoundPredicate::all_of(rest),
            of_target: BoundPredicate::all_of(of_target),
        })
    }

    /// The two values of an equality, if each is of one side.
    fn key(&self, text: &SourceText, part: &Expr) -> Result<Option<JoinKey>> {
        let ExprKind::Compare(op @ (Comparison::Equal | Comparison::NullSafeEqual), left, right) = &part.kind
        else {
            return Ok(None);
        };
        let (target, source) = match (self.side_of(left), self.side_of(right)) {
            (Some(Side::Target), Some(Side::Source)) => (left, right),
            (Some(Side::Source), Some(Side::Target)) => (right, left),
            _ => return Ok(None),
        };
        let binder = self.binder(text);
        let sides = vec![binder.part(target)?, binder.part(source)?];
        let (sides, _) = binder.alike(part.at, sides)?;
        let mut sides = sides.into_iter().map(|computed| BoundValue {
            text: text.clone(),
            computed,
        });
        let (Some(target), Some(source)) = (sides.next(), sides.next()) else {
            return Err(Error::internal("an equality has two sides"));
        };
        Ok(Some(JoinKey {
            target,
            source,
            null_safe: *op == Comparison::NullSafeEqual,
        }))
    }

    /// The side that all columns of an expression are of; `None` for both or neither.
    fn side_of(&self, expr: &Expr) -> Option<Side> {
        let sides = expr
            .columns()
            .into_iter()
            .map(|names| Some(self.find(names).ok()?.0));
        let sides: Vec<Option<Side>> = sides.collect();
        match sides.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => *first,
            _ => None,
        }
    }

    fn binder<'a>(&'a self, text: &'a SourceText) -> Binder<'a> {
        Binder::of_sides(self, text.source())
    }
}

/// The conditions that an expression joins by AND.
fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![expr],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::parse_predicate;
    use crate::schema::StructType;

    fn sides() -> Result<Sides> {
        let of = |fields: &[(&str, &str)]| {
            let fields = fields.iter().map(|(name, data_type)| {
                format!(r#"{{"name":"{name}","type":"{data_type}","nullable":true,"metadata":{{}}}}"#)
            });
            let fields = fields.collect::<Vec<_>>().join(",");
            StructType::from_json(&format!(r#"{{"type":"struct","fields":[{fields}]}}"#))
        };
        let target = of(&[
            ("id", "long"),
            ("day", "date"),
            ("s", "string"),
            ("only", "integer"),
        ])?;
        let source = of(&[
            ("id", "integer"),
            ("day", "date"),
            ("s", "string"),
            ("new", "double"),
        ])?;
        Sides::try_new(("t", &target), ("Src", &source))
    }

    fn joined(on: &str) -> Result<JoinCondition> {
        sides()?.join(&parse_predicate(on)?)
    }

    #[test]
    fn equalities_of_both_sides_are_keys() -> Result<()> {
        for (on, keys, rest, of_target) in [
            ("t.id = src.id", 1, None, None),
            ("SRC.id <=> T.ID", 1, None, None),
            (
                "t.id = src.id AND (t.day = src.day AND t.s = src.s)",
                3,
                None,
                None,
            ),
            (
                "t.id + 1 = src.id * 2 AND only > new",
                1,
                Some("target.only > source.new"),
                None,
            ),
            (
                "t.id = src.id AND only = 3",
                1,
                Some("target.only = 3"),
                Some("target.only = 3"),
            ),
            (
                "t.id = t.only",
                0,
                Some("target.id = target.only"),
                Some("target.id = target.only"),
            ),
            (
                "t.id = src.id OR only = new",
                0,
                Some("(target.id = source.id OR target.only = source.new)"),
                None,
            ),
            ("src.id = 3 AND TRUE", 0, Some("(source.id = 3 AND TRUE)"), None),
            ("t.id > src.id", 0, Some("target.id > source.id"), None),
        ] {
            let found = joined(on)?;
            let text = |part: &Option<BoundPredicate>| part.as_ref().map(ToString::to_string);
            assert_eq!(found.keys.len(), keys, "{on}");
            assert_eq!(text(&found.rest).as_deref(), rest, "{on}");
            assert_eq!(text(&found.of_target).as_deref(), of_target, "{on}");
        }
        Ok(())
    }

    #[test]
    fn both_values_of_a_key_have_one_type() -> Result<()> {
        let found = joined("t.id = src.id")?;
        let types = found
            .keys
            .iter()
            .map(|key| (key.target.data_type(), key.source.data_type()));
        for (target, source) in types {
            assert_eq!((target.to_string().as_str(), source), ("bigint", target));
        }
        Ok(())
    }

    #[test]
    fn a_row_without_a_match_has_the_columns_of_its_side() -> Result<()> {
        let source = sides()?.only(Side::Source);
        let found = source.condition(&parse_predicate("id = 1 AND src.day IS NULL")?)?;
        assert_eq!(found.to_string(), "(source.id = 1 AND source.day IS NULL)");
        for on in ["t.id = 1", "only = 1"] {
            assert!(source.condition(&parse_predicate(on)?).is_err(), "{on}");
        }
        Ok(())
    }

    #[test]
    fn wrong_names_are_told_with_what_to_write() {
        for (on, what, hint) in [
            (
                "id = 3",
                "the column id is in both t and Src",
                "write t.id or Src.id",
            ),
            ("t.id = src.nwe", "there is no column", "did you mean new?"),
            ("t.id = nwe", "there is no column nwe", "did you mean new?"),
            (
                "t.s = text",
                "there is no column text",
                "text needs quotes: 'text'",
            ),
        ] {
            let error = joined(on).expect_err(on);
            assert!(error.to_string().contains(what), "{on}: {error}");
            assert!(
                error.hint_text().is_some_and(|text| text.contains(hint)),
                "{on}: {error}"
            );
        }
        let alike = Sides::try_new(
            ("a", &StructType { fields: vec![] }),
            ("A", &StructType { fields: vec![] }),
        );
        assert!(alike.is_err());
    }
}
