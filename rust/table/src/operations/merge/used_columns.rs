//! The columns of one side that expressions use: others are not copied.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use deltaic_protocol::Result;
use deltaic_protocol::expr::{BoundPredicate, BoundValue};

use super::sides::failed;

/// The columns of one side of a merge that expressions use.
#[derive(Debug)]
pub(super) struct UsedColumns {
    side: &'static str,
    names: BTreeSet<String>,
    /// Whether an expression uses the side as a struct.
    uses_all: bool,
}

impl UsedColumns {
    /// No columns.
    pub(super) fn of(side: &'static str) -> Self {
        Self {
            side,
            names: BTreeSet::new(),
            uses_all: false,
        }
    }

    /// Adds those of a condition.
    pub(super) fn with_condition(mut self, condition: &BoundPredicate) -> Self {
        condition.for_each_path(&mut |path| self.add(path));
        self
    }

    /// Adds those of values.
    pub(super) fn with_values<'a>(mut self, values: impl IntoIterator<Item = &'a BoundValue>) -> Self {
        for value in values {
            value.for_each_path(&mut |path| self.add(path));
        }
        self
    }

    fn add(&mut self, path: &[String]) {
        match path {
            [side, column, ..] if side == self.side => {
                self.names.insert(column.clone());
            }
            [side] if side == self.side => self.uses_all = true,
            _ => {}
        }
    }

    pub(super) fn into_names(self) -> BTreeSet<String> {
        self.names
    }

    /// Whether an expression uses a column.
    pub(super) fn includes(&self, column: &str) -> bool {
        self.uses_all || self.names.contains(column)
    }

    /// A column of structs without other fields.
    pub(super) fn fields_of(&self, rows: &ArrayRef) -> Result<ArrayRef> {
        let structs = rows.as_struct();
        let fields = structs.fields().iter().zip(structs.columns());
        let used = fields.filter(|(field, _)| self.includes(field.name()));
        let (fields, columns): (Vec<_>, Vec<_>) = used
            .map(|(field, column)| (Arc::clone(field), Arc::clone(column)))
            .unzip();
        let nulls = structs.nulls().cloned();
        let structs = StructArray::try_new_with_length(fields.into(), columns, nulls, structs.len());
        Ok(Arc::new(structs.map_err(|error| failed(&error))?))
    }
}
