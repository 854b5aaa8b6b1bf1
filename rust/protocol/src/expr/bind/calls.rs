//! Binds calls of functions: converts their arguments and determines the types of their results.

use super::{Binder, Value};
use crate::Result;
use crate::expr::Scalar;
use crate::expr::compute::{Computed, Node, SECONDS, is_exact};
use crate::expr::function::Function;
use crate::expr::literal::integers::{is_integral, is_numeric};
use crate::expr::span::Span;
use crate::expr::syntax::Expr;
use crate::schema::{DataType, PrimitiveType, StructField, StructType};

use PrimitiveType::{Binary, Date, Decimal, Double, Integer, Long, String as Text, Timestamp, TimestampNtz};

impl Binder<'_> {
    pub(super) fn call(&self, at: Span, function: Function, arguments: &[Expr]) -> Result<Value> {
        use Function as F;
        match (function, arguments) {
            (F::If, [condition, yes, no]) => {
                return self.case(at, None, &[(condition, yes)], Some(no));
            }
            (F::Coalesce, _) => return self.coalesce(at, arguments),
            (F::NullIf, [value, other]) => return self.null_if(at, value, other),
            (F::ElementAt, [of, key]) => return self.element(at, of, key, 1),
            (F::NamedStruct, _) => return self.named_struct(at, arguments),
            (F::CurrentDate | F::CurrentTimestamp, _) => {
                let message = format!(
                    "{} depends on the time and is not implemented here",
                    self.source.text(at)
                );
                return self.source.unsupported(at, message, "");
            }
            _ => {}
        }
        let parts = arguments
            .iter()
            .map(|argument| self.part(argument))
            .collect::<Result<Vec<_>>>()?;
        let (parts, data_type) = match function {
            F::Greatest | F::Least => {
                let of_type = |part: &Computed, wanted| part.data_type == DataType::Primitive(wanted);
                let is_text = |part: &&Computed| of_type(part, Text);
                let is_other = |part: &&Computed| !of_type(part, Text) && !of_type(part, PrimitiveType::Void);
                if let (Some(text), Some(other)) = (parts.iter().find(is_text), parts.iter().find(is_other)) {
                    let message = format!(
                        "{} compares values of one type, not {} and {}",
                        function.name(),
                        text.data_type,
                        other.data_type
                    );
                    return self.invalid(at, message);
                }
                let (parts, common) = self.alike(at, parts)?;
                let Some(common) = common.as_primitive() else {
                    let message = format!("{} of the type {common} is not implemented", function.name());
                    return self.source.unsupported(at, message, "");
                };
                (parts, common)
            }
            F::Concat => {
                let is_binary = |part: &Computed| part.data_type == DataType::Primitive(Binary);
                let to = match !parts.is_empty() && parts.iter().all(is_binary) {
                    true => Binary,
                    false => Text,
                };
                (self.all_as(parts, to)?, to)
            }
            F::Hash | F::XxHash64 => {
                let data_type = if function == F::Hash { Integer } else { Long };
                if let Some(nested) = parts.iter().find(|part| part.data_type.as_primitive().is_none()) {
                    let message = format!(
                        "{} of the type {} is not implemented",
                        function.name(),
                        nested.data_type
                    );
                    return self.source.unsupported(nested.at, message, "");
                }
                (parts, data_type)
            }
            _ => self.with_signature(at, function, parts)?,
        };
        self.folded(Computed {
            at,
            data_type: DataType::Primitive(data_type),
            node: Node::Call(function, parts),
        })
    }

    fn all_as(&self, parts: Vec<Computed>, to: PrimitiveType) -> Result<Vec<Computed>> {
        parts.into_iter().map(|part| self.implicit(part, to)).collect()
    }

    /// Converts the arguments of a function with fixed types.
    fn with_signature(
        &self,
        at: Span,
        function: Function,
        parts: Vec<Computed>,
    ) -> Result<(Vec<Computed>, PrimitiveType)> {
        use Function as F;
        let first = parts.first().and_then(|part| part.data_type.as_primitive());
        let first = first.unwrap_or(PrimitiveType::Variant);
        let bytes = if first == Binary { Binary } else { Text };
        let clock = if first == TimestampNtz {
            TimestampNtz
        } else {
            Timestamp
        };
        let number = match first {
            Text | PrimitiveType::Void => Double,
            other => other,
        };
        let (wanted, result): (&[PrimitiveType], PrimitiveType) = match function {
            F::Upper | F::Lower => (&[Text], Text),
            F::Trim | F::LeftTrim | F::RightTrim => (&[Text, Text], Text),
            F::Replace => (&[Text, Text, Text], Text),
            F::LeftPad | F::RightPad if is_binary_pad(&parts) => (&[Binary, Integer, Binary], Binary),
            F::LeftPad | F::RightPad => (&[Text, Integer, Text], Text),
            F::Substring => (&[bytes, Integer, Integer], bytes),
            F::Length => (&[bytes], Integer),
            F::Md5 => (&[Binary], Text),
            F::Sha2 => (&[Binary, Integer], Text),
            F::SquareRoot => (&[Double], Double),
            F::Power => (&[Double, Double], Double),
            F::Year | F::Quarter | F::Month | F::Day => (&[Date], Integer),
            F::Hour | F::Minute | F::Second => (&[clock], Integer),
            F::ExactSecond => (&[clock], SECONDS),
            F::DateAdd | F::DateSub => (&[Date, Integer], Date),
            F::DateDiff => (&[Date, Date], Integer),
            F::DateTrunc => (&[Text, Timestamp], Timestamp),
            F::TruncateDate => (&[Date, Text], Date),
            F::DateFormat => {
                self.ensure_exact(parts.get(1))?;
                (&[Timestamp, Text], Text)
            }
            F::ToDate => (&[Date], Date),
            F::Abs => (&[number], number),
            F::Floor | F::Ceil => match number {
                Decimal { precision, scale } => {
                    let digits = (precision - scale).saturating_add(u8::from(scale > 0)).min(38);
                    let result = Decimal {
                        precision: digits.max(1),
                        scale: 0,
                    };
                    (&[number], result)
                }
                _ if is_integral(number) => (&[Long], Long),
                _ => (&[Double], Long),
            },
            F::Round => {
                let places = self.places(at, parts.get(1))?;
                (&[number, Integer], rounded_type(number, places))
            }
            _ => return self.invalid(at, "the function has no types"),
        };
        let wanted = wanted.to_vec();
        let is_long = |part: &Computed| match part.data_type.as_primitive() {
            Some(own) => own == Long || (is_numeric(own) && !is_integral(own)),
            None => false,
        };
        if let (F::DateAdd | F::DateSub, Some(days)) = (function, parts.get(1).filter(|days| is_long(days))) {
            let message = format!("the number of days is an int, not {}", days.data_type);
            return self.invalid(days.at, message);
        }
        let is_time = |part: &Computed| match part.data_type.as_primitive() {
            Some(own) => matches!(own, Date | Timestamp | TimestampNtz),
            None => false,
        };
        let parts = parts.into_iter().zip(wanted).map(|(part, to)| match function {
            // Spark reads the text of other values.
            F::ToDate if !is_time(&part) => self.implicit(self.implicit(part, Text)?, to),
            _ => self.implicit(part, to),
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let is_number = |data_type| {
            is_integral(data_type) || matches!(data_type, Double | Decimal { .. } | PrimitiveType::Float)
        };
        if matches!(function, F::Abs | F::Round) && !is_number(number) {
            return self.invalid(at, format!("a number is expected, not {first}"));
        }
        Ok((parts, result))
    }

    /// The constant number of places of ROUND.
    fn places(&self, at: Span, part: Option<&Computed>) -> Result<i64> {
        let Some(part) = part else {
            return Ok(0);
        };
        match &part.node {
            Node::Known(known) => match known.cast(Integer).map_err(self.failed(part.at))?.value {
                Some(Scalar::Integer(places)) => Ok(i64::from(places)),
                _ => self
                    .source
                    .unsupported(at, "rounding to NULL places is not implemented", ""),
            },
            _ => self.invalid(part.at, "the places of round are a constant"),
        }
    }

    /// Dates are formatted by constant patterns that are known to have Spark's meaning.
    fn ensure_exact(&self, pattern: Option<&Computed>) -> Result<()> {
        let Some(pattern) = pattern else {
            return Ok(());
        };
        if let Node::Known(known) = &pattern.node
            && let Some(Scalar::String(text)) = &known.value
            && is_exact(text)
        {
            return Ok(());
        }
        let message = format!("the pattern {} is not implemented", self.source.text(pattern.at));
        let hint = "write it of yyyy, MM, dd, HH, mm, ss and signs between them, for example 'yyyy-MM'";
        self.source.unsupported(pattern.at, message, hint)
    }

    fn named_struct(&self, at: Span, arguments: &[Expr]) -> Result<Value> {
        let (mut fields, mut parts) = (Vec::new(), Vec::new());
        for pair in arguments.chunks(2) {
            let [name, value] = pair else {
                return self.invalid(at, "named_struct needs a value for each name");
            };
            let Value::Known(known) = self.value(name)? else {
                return self.invalid(name.at, "the name of a field is a constant");
            };
            let Some(Scalar::String(name)) = known.value else {
                return self.invalid(name.at, "the name of a field is a string");
            };
            if fields
                .iter()
                .any(|field: &StructField| field.name.eq_ignore_ascii_case(&name))
            {
                return self.invalid(at, format!("a struct has two fields {name}"));
            }
            let value = self.value(value).and_then(|bound| self.typed(value.at, bound))?;
            fields.push(StructField::new(name, value.data_type.clone(), true));
            parts.push(value);
        }
        Ok(Value::Computed(Computed {
            at,
            data_type: DataType::Struct(StructType { fields }),
            node: Node::Call(Function::NamedStruct, parts),
        }))
    }
}

/// Whether LPAD and RPAD fill bytes: their padding must be binary too.
fn is_binary_pad(parts: &[Computed]) -> bool {
    let is_binary = |part: &Computed| part.data_type == DataType::Primitive(Binary);
    parts.first().is_some_and(is_binary) && parts.get(2).is_none_or(is_binary)
}

/// The type of ROUND to so many places after the point.
fn rounded_type(number: PrimitiveType, places: i64) -> PrimitiveType {
    let Decimal { precision, scale } = number else {
        return number;
    };
    let whole = i64::from(precision) - i64::from(scale) + 1;
    let (precision, scale) = if places < 0 {
        (whole.max(places.saturating_neg().saturating_add(1)), 0)
    } else {
        let scale = places.min(i64::from(scale));
        (whole + scale, scale)
    };
    let small = |number: i64| u8::try_from(number.clamp(0, 38)).unwrap_or(38);
    Decimal {
        precision: small(precision).max(1),
        scale: small(scale),
    }
}
