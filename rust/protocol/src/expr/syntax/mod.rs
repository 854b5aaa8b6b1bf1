//! Predicates and expressions for values as the user wrote them, before they are bound to a schema.

mod columns;
mod display;
mod expr;
mod predicate;
mod value_expr;

pub(in crate::expr) use expr::{Expr, ExprKind};
pub use predicate::Predicate;
pub use value_expr::ValueExpr;
