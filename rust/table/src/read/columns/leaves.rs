//! Finds the Parquet leaf columns of requested columns: of structs, only the requested fields.

use arrow_schema::{DataType as ArrowType, Fields};
use deltaic_protocol::Result;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::schema::{DataType, StructField, StructType};

use super::find::find;

/// The location of a requested column in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFile {
    /// Its index among the file's root columns; `None` if the file is older than the column.
    pub(crate) root: Option<usize>,
    /// The indexes of its leaves among all leaves of the file.
    pub(crate) leaves: Vec<usize>,
}

/// Finds a column of the table in a file.
pub(crate) fn in_file(file: &Fields, wanted: &StructField, mode: ColumnMappingMode) -> Result<InFile> {
    let Some(root) = find(file, wanted, mode)? else {
        return Ok(InFile::default());
    };
    let mut leaves = Vec::new();
    if let Some(field) = file.get(root) {
        collect(
            field.data_type(),
            leaves_before(file, root),
            &wanted.data_type,
            mode,
            &mut leaves,
        )?;
    }
    Ok(InFile {
        root: Some(root),
        leaves,
    })
}

fn collect(
    file: &ArrowType,
    first: usize,
    wanted: &DataType,
    mode: ColumnMappingMode,
    found: &mut Vec<usize>,
) -> Result<()> {
    let (ArrowType::Struct(below), DataType::Struct(fields)) = (file, wanted) else {
        found.extend(first..first + leaf_count(file));
        return Ok(());
    };
    let before = found.len();
    for field in &fields.fields {
        if let Some(index) = find(below, field, mode)?
            && let Some(inner) = below.get(index)
        {
            let start = first + leaves_before(below, index);
            collect(inner.data_type(), start, &field.data_type, mode, found)?;
        }
    }
    // At least one leaf is needed to know which structs are NULL.
    if found.len() == before && leaf_count(file) > 0 {
        found.push(first);
    }
    Ok(())
}

/// Returns the leaves of a root column.
pub(crate) fn of_root(file: &Fields, root: usize) -> std::ops::Range<usize> {
    let first = leaves_before(file, root);
    let count = file.get(root).map_or(0, |field| leaf_count(field.data_type()));
    first..first + count
}

fn leaves_before(fields: &Fields, index: usize) -> usize {
    let before = fields.iter().take(index);
    before.map(|field| leaf_count(field.data_type())).sum()
}

/// Returns the number of Parquet leaf columns of a type.
fn leaf_count(data_type: &ArrowType) -> usize {
    match data_type {
        ArrowType::Struct(fields) => fields.iter().map(|field| leaf_count(field.data_type())).sum(),
        ArrowType::List(below)
        | ArrowType::LargeList(below)
        | ArrowType::FixedSizeList(below, _)
        | ArrowType::Map(below, _) => leaf_count(below.data_type()),
        _ => 1,
    }
}

/// Returns the table's columns on these paths, with structs reduced to the fields on the paths.
pub(crate) fn on_paths(schema: &StructType, paths: &[Vec<String>]) -> Vec<StructField> {
    let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
    below(schema, &paths)
}

fn below(schema: &StructType, paths: &[&[String]]) -> Vec<StructField> {
    let mut found = Vec::new();
    for field in &schema.fields {
        let here: Vec<&[String]> = paths
            .iter()
            .filter_map(|path| path.split_first())
            .filter(|(name, _)| **name == field.name)
            .map(|(_, rest)| rest)
            .collect();
        if here.is_empty() {
            continue;
        }
        let mut field = field.clone();
        if let DataType::Struct(fields) = &field.data_type
            && here.iter().all(|rest| !rest.is_empty())
        {
            let fields = below(fields, &here);
            field.data_type = DataType::Struct(StructType { fields });
        }
        found.push(field);
    }
    found
}
