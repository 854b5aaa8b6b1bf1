//! Binds calls of functions: converts their arguments to the types of the signature.

use super::binder::{Binder, Value};
use crate::Result;
use crate::expr::Scalar;
use crate::expr::bound::{Computed, Node};
use crate::expr::functions::{Argument, Arguments, Form, Function, Meaning, Signature, Types};
use crate::expr::span::Span;
use crate::expr::syntax::Expr;
use crate::schema::{DataType, PrimitiveType, StructField, StructType};

impl Binder<'_> {
    pub(super) fn call(&self, at: Span, function: &'static Function, arguments: &[Expr]) -> Result<Value> {
        let signature = match function.meaning {
            Meaning::Form(form) => return self.form(at, form, arguments),
            Meaning::Values { signature, .. } => signature,
        };
        let parts = arguments
            .iter()
            .map(|argument| self.part(argument))
            .collect::<Result<Vec<_>>>()?;
        let (parts, data_type) = match signature {
            Signature::Fixed(wanted, result) => (self.converted(parts, &Types::new(wanted, result))?, result),
            Signature::Of(types_of) => {
                let types = types_of(&Arguments {
                    name: function.name(),
                    at,
                    source: self.source,
                    parts: parts.iter().map(argument).collect(),
                })?;
                (self.converted(parts, &types)?, types.result)
            }
            Signature::Common => self.of_common_type(at, function.name(), parts)?,
        };
        self.folded(Computed {
            at,
            data_type: DataType::Primitive(data_type),
            node: Node::Call(function, parts),
        })
    }

    fn form(&self, at: Span, form: Form, arguments: &[Expr]) -> Result<Value> {
        match (form, arguments) {
            (Form::If, [condition, yes, no]) => self.case(at, None, &[(condition, yes)], Some(no)),
            (Form::Coalesce, _) => self.coalesce(at, arguments),
            (Form::NullIf, [value, other]) => self.null_if(at, value, other),
            (Form::ElementAt, [of, key]) => self.element(at, of, key, 1),
            (Form::NamedStruct, _) => self.named_struct(at, arguments),
            (Form::CurrentDate | Form::CurrentTimestamp, _) => {
                let message = format!(
                    "{} depends on the time and is not implemented here",
                    self.source.text(at)
                );
                self.source.unsupported(at, message, "")
            }
            (Form::If | Form::NullIf | Form::ElementAt, _) => {
                self.invalid(at, "a function has another number of arguments")
            }
        }
    }

    /// Converts arguments to the types of a signature.
    fn converted(&self, parts: Vec<Computed>, types: &Types) -> Result<Vec<Computed>> {
        let wanted = parts.into_iter().zip(&types.arguments);
        let converted = wanted.map(|(part, to)| match types.through {
            Some(through) => self.implicit(self.implicit(part, through)?, *to),
            None => self.implicit(part, *to),
        });
        converted.collect()
    }

    /// Converts arguments to their common type, which is primitive; strings are not converted to other types.
    fn of_common_type(
        &self,
        at: Span,
        name: &str,
        parts: Vec<Computed>,
    ) -> Result<(Vec<Computed>, PrimitiveType)> {
        let is_of = |part: &Computed, wanted| part.data_type == DataType::Primitive(wanted);
        let is_text = |part: &&Computed| is_of(part, PrimitiveType::String);
        let is_other = |part: &&Computed| !is_text(part) && !is_of(part, PrimitiveType::Void);
        if let (Some(text), Some(other)) = (parts.iter().find(is_text), parts.iter().find(is_other)) {
            let message = format!(
                "{name} compares values of one type, not {} and {}",
                text.data_type, other.data_type
            );
            return self.invalid(at, message);
        }
        let (parts, common) = self.alike(at, parts)?;
        match common.as_primitive() {
            Some(common) => Ok((parts, common)),
            None => {
                let message = format!("{name} of the type {common} is not implemented");
                self.source.unsupported(at, message, "")
            }
        }
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
            node: Node::Struct(parts),
        }))
    }
}

/// A bound argument, from which a signature is determined.
fn argument(part: &Computed) -> Argument<'_> {
    Argument {
        at: part.at,
        data_type: &part.data_type,
        constant: match &part.node {
            Node::Known(known) => Some(known),
            _ => None,
        },
    }
}
