//! The changes of the schema of a table for the columns of a source that a merge assigns.
//!
//! As in Spark, these are the columns and fields that clauses name, and all of them if a clause sets all columns.

use deltaic_protocol::change::TableChange;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Result, TableConfiguration};

use super::clauses::{ClauseKind, Merge, MergeAction};
use crate::rows::assigned_fields::path_in;
use crate::rows::assignments::Assignment;
use crate::transaction::{Widens, merged_schema};

/// New columns and fields, and wider types if the table allows them.
///
/// # Errors
///
/// `CorruptLog` if the schema or the properties of the table are invalid.
pub(super) fn schema_changes(
    merge: &Merge,
    table: &TableConfiguration,
    source: &StructType,
) -> Result<Vec<TableChange>> {
    let known = table.schema()?;
    merged_schema(
        table,
        &Assigned::of(merge, &known, source).columns(source, &[]),
        Widens::All,
    )
}

/// What the clauses assign.
struct Assigned {
    /// Whether a clause assigns all columns.
    all: bool,
    /// Columns and fields of structs, in lower case.
    paths: Vec<Vec<String>>,
}

impl Assigned {
    fn of(merge: &Merge, table: &StructType, source: &StructType) -> Self {
        let mut assigned = Self {
            all: false,
            paths: Vec::new(),
        };
        for clause in &merge.clauses {
            match &clause.action {
                MergeAction::UpdateAll | MergeAction::InsertAll => assigned.all = true,
                MergeAction::Update(values) | MergeAction::Insert(values)
                    if clause.kind != ClauseKind::NotMatchedBySource =>
                {
                    let paths = values.iter().filter_map(|Assignment { column, .. }| {
                        let known = path_in(table, column, Some(&merge.target_alias));
                        known.or_else(|| path_in(source, column, None))
                    });
                    let lower = paths.map(|path| path.iter().map(|name| name.to_lowercase()).collect());
                    assigned.paths.extend(lower);
                }
                MergeAction::Update(_) | MergeAction::Insert(_) | MergeAction::Delete => {}
            }
        }
        assigned
    }

    /// The columns of the source that are assigned, and of structs the fields.
    fn columns(&self, source: &StructType, above: &[String]) -> StructType {
        let fields = source.fields.iter().filter_map(|field| {
            let path = [above, &[field.name.to_lowercase()]].concat();
            if self.paths.contains(&path) {
                return Some(field.clone());
            }
            match &field.data_type {
                DataType::Struct(inner)
                    if self.all || self.paths.iter().any(|set| set.starts_with(&path)) =>
                {
                    Some(StructField {
                        data_type: DataType::Struct(self.columns(inner, &path)),
                        ..field.clone()
                    })
                }
                _ => self.all.then(|| field.clone()),
            }
        });
        StructType {
            fields: fields.collect(),
        }
    }
}
