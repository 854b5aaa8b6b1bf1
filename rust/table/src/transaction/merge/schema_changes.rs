//! The changes of the schema of a table for the columns of a source that a merge assigns.
//!
//! As in Spark, these are the columns and fields that clauses name, and all of them if a clause sets all columns.

use deltaic_protocol::change::{TableChange, may_widen};
use deltaic_protocol::schema::{ArrayType, ColumnName, DataType, MapType, StructField, StructType};
use deltaic_protocol::{Result, TableConfiguration};

use super::clauses::{ClauseKind, Merge, MergeAction};
use crate::transaction::update::{Assignment, path_in};

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
    let assigned = Assigned::of(merge, &known, source).columns(source, &[]);
    let mut changes = vec![TableChange::MergeSchema(with_types_of(&known, &assigned))];
    // The values of partition columns are texts, whose type cannot change.
    let is_wider = |field: &&StructField| !table.metadata().partition_columns.contains(&field.name);
    for field in known.fields.iter().filter(is_wider) {
        if let Some(given) = assigned.field_ignoring_case(&field.name) {
            let (types, path) = ((&field.data_type, &given.data_type), [field.name.clone()]);
            add_wider(table, types, &path, &mut changes)?;
        }
    }
    Ok(changes)
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

/// The columns of a source, with the types of the table where it has them.
fn with_types_of(table: &StructType, source: &StructType) -> StructType {
    let fields = source.fields.iter().map(|field| {
        let known = table.field_ignoring_case(&field.name);
        known.map_or_else(
            || field.clone(),
            |known| StructField {
                data_type: with_type_of(&known.data_type, &field.data_type),
                ..field.clone()
            },
        )
    });
    StructType {
        fields: fields.collect(),
    }
}

fn with_type_of(known: &DataType, given: &DataType) -> DataType {
    match (known, given) {
        (DataType::Struct(known), DataType::Struct(given)) => DataType::Struct(with_types_of(known, given)),
        (DataType::Array(known), DataType::Array(given)) => DataType::Array(Box::new(ArrayType {
            element_type: with_type_of(&known.element_type, &given.element_type),
            ..known.as_ref().clone()
        })),
        (DataType::Map(known), DataType::Map(given)) => DataType::Map(Box::new(MapType {
            key_type: with_type_of(&known.key_type, &given.key_type),
            value_type: with_type_of(&known.value_type, &given.value_type),
            ..known.as_ref().clone()
        })),
        (known, _) => known.clone(),
    }
}

/// Adds the changes to wider types of the source, if the table allows them.
fn add_wider(
    table: &TableConfiguration,
    (known, given): (&DataType, &DataType),
    above: &[String],
    changes: &mut Vec<TableChange>,
) -> Result<()> {
    let below = |name: &str| [above, &[name.to_owned()]].concat();
    match (known, given) {
        (DataType::Primitive(from), DataType::Primitive(to))
            if from != to && may_widen(table, *from, *to)? =>
        {
            let column = ColumnName::from_parts(above.to_vec());
            changes.push(TableChange::ChangeType(column, *to));
        }
        (DataType::Struct(known), DataType::Struct(given)) => {
            for field in &known.fields {
                if let Some(given) = given.field_ignoring_case(&field.name) {
                    let types = (&field.data_type, &given.data_type);
                    add_wider(table, types, &below(&field.name), changes)?;
                }
            }
        }
        (DataType::Array(known), DataType::Array(given)) => {
            let types = (&known.element_type, &given.element_type);
            add_wider(table, types, &below("element"), changes)?;
        }
        (DataType::Map(known), DataType::Map(given)) => {
            add_wider(table, (&known.key_type, &given.key_type), &below("key"), changes)?;
            add_wider(
                table,
                (&known.value_type, &given.value_type),
                &below("value"),
                changes,
            )?;
        }
        _ => {}
    }
    Ok(())
}
