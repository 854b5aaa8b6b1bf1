//! The columns of data files, converted to those of the table.

pub(crate) mod conform;
pub(crate) mod decimals;
pub(crate) mod file_columns;
pub(crate) mod find;
pub(crate) mod leaves;
pub(crate) mod padded;
pub(crate) mod string_form;
pub(crate) mod unfit;
pub(crate) mod variant;
pub(crate) mod widen;
