//! Converts computed values to the types that an expression needs, as Spark does without being asked.

use super::binder::Binder;
use crate::Result;
use crate::expr::bound::{Computed, Node};
use crate::expr::cast::coercion::wider;
use crate::expr::literal::integers::is_numeric;
use crate::expr::span::Span;
use crate::schema::{DataType, PrimitiveType};

impl Binder<'_> {
    /// Converts a computed part to the type that a function needs, as Spark does without being asked.
    pub(super) fn implicit(&self, part: Computed, to: PrimitiveType) -> Result<Computed> {
        use PrimitiveType::{Date, Timestamp, TimestampNtz, Variant, Void};
        let is_time = |data_type| matches!(data_type, Date | Timestamp | TimestampNtz);
        let at = part.at;
        let is_converted = match part.data_type.as_primitive() {
            Some(from) if from == to => return Ok(part),
            None | Some(Variant) => false,
            Some(Void | PrimitiveType::String) => true,
            Some(_) if to == PrimitiveType::String => true,
            Some(from) => (is_numeric(from) && is_numeric(to)) || (is_time(from) && is_time(to)),
        };
        if !is_converted {
            let message = format!("a value of the type {to} is expected, not {}", part.data_type);
            return self.invalid(at, message);
        }
        self.as_type(part, to)
    }

    /// Casts a computed part to the common type of several.
    pub(super) fn as_type(&self, part: Computed, to: PrimitiveType) -> Result<Computed> {
        if part.data_type == DataType::Primitive(to) {
            return Ok(part);
        }
        let at = part.at;
        let cast = self.folded(Computed {
            at,
            data_type: DataType::Primitive(to),
            node: Node::Cast {
                inner: Box::new(part),
                or_null: false,
            },
        })?;
        self.typed(at, cast)
    }

    /// Converts parts to their common type.
    pub(super) fn alike(&self, at: Span, parts: Vec<Computed>) -> Result<(Vec<Computed>, DataType)> {
        let mut common = DataType::Primitive(PrimitiveType::Void);
        for part in &parts {
            common = match (common, &part.data_type) {
                (DataType::Primitive(PrimitiveType::Void), other) => other.clone(),
                (known, DataType::Primitive(PrimitiveType::Void)) => known,
                (known, other) if known == *other => known,
                (DataType::Primitive(a), DataType::Primitive(b)) => match wider(a, *b) {
                    Some(common) => DataType::Primitive(common),
                    None => return self.apart(at, a, *b),
                },
                (known, other) => {
                    let message = format!("the types {known} and {other} have no common type");
                    return self.invalid(at, message);
                }
            };
        }
        let convert = |part: Computed| match &common {
            DataType::Primitive(to) => self.as_type(part, *to),
            _ if part.data_type == common => Ok(part),
            _ => Ok(Computed {
                data_type: common.clone(),
                node: Node::Null,
                ..part
            }),
        };
        let parts = parts.into_iter().map(convert).collect::<Result<Vec<_>>>()?;
        Ok((parts, common))
    }
}
