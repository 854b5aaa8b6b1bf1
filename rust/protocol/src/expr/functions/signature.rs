//! The types of the arguments and the results of functions.

use crate::Result;
use crate::expr::cast::known::Known;
use crate::expr::span::{Source, Span};
use crate::schema::{DataType, PrimitiveType};

/// How the types of a function are determined.
#[derive(Clone, Copy)]
pub(in crate::expr) enum Signature {
    /// Arguments of these types, of which the last ones may be absent, and the type of the results.
    Fixed(&'static [PrimitiveType], PrimitiveType),
    /// Types that depend on the arguments.
    Of(fn(&Arguments<'_>) -> Result<Types>),
    /// All arguments, and the results, have the common type of the arguments. Strings are not converted to other types.
    Common,
}

/// The types of a call.
pub(in crate::expr) struct Types {
    pub(in crate::expr) arguments: Vec<PrimitiveType>,
    /// A type to which the arguments are converted before.
    pub(in crate::expr) through: Option<PrimitiveType>,
    pub(in crate::expr) result: PrimitiveType,
}

impl Types {
    pub(in crate::expr) fn new(arguments: impl Into<Vec<PrimitiveType>>, result: PrimitiveType) -> Self {
        Self {
            arguments: arguments.into(),
            through: None,
            result,
        }
    }
}

/// A bound argument, before it is converted.
pub(in crate::expr) struct Argument<'a> {
    pub(in crate::expr) at: Span,
    pub(in crate::expr) data_type: &'a DataType,
    pub(in crate::expr) constant: Option<&'a Known>,
}

impl Argument<'_> {
    pub(super) fn is(&self, data_type: PrimitiveType) -> bool {
        *self.data_type == DataType::Primitive(data_type)
    }
}

/// The bound arguments of a call.
pub(in crate::expr) struct Arguments<'a> {
    /// The name of the function.
    pub(in crate::expr) name: &'static str,
    /// The position of the call, and the text to which errors point.
    pub(in crate::expr) at: Span,
    pub(in crate::expr) source: Source<'a>,
    pub(in crate::expr) parts: Vec<Argument<'a>>,
}

impl Arguments<'_> {
    pub(super) fn get(&self, index: usize) -> Option<&Argument<'_>> {
        self.parts.get(index)
    }

    /// The type of the first argument, if it is primitive.
    pub(super) fn first(&self) -> Option<PrimitiveType> {
        self.get(0)?.data_type.as_primitive()
    }

    /// The type of the first argument as a number; strings are numbers too.
    pub(super) fn number(&self) -> PrimitiveType {
        match self.first() {
            Some(PrimitiveType::String | PrimitiveType::Void) => PrimitiveType::Double,
            Some(other) => other,
            // No value is converted to it.
            None => PrimitiveType::Variant,
        }
    }

    pub(super) fn invalid<T>(&self, at: Span, message: impl AsRef<str>) -> Result<T> {
        self.source.invalid(at, message, "")
    }

    pub(super) fn unsupported<T>(&self, at: Span, message: impl AsRef<str>, hint: &str) -> Result<T> {
        self.source.unsupported(at, message, hint)
    }
}
