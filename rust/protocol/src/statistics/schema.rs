//! The requested statistics: the columns, their types, and their names in the statistics of a file.

use std::collections::HashSet;

use crate::schema::{DataType, PrimitiveType, StructField, StructType};

/// The statistics to read, their names in the log, and their types.
///
/// Partition columns have no statistics; the schema from which this is created must not contain them.
///
/// ```
/// use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
/// use deltaic_protocol::statistics::StatisticsSchema;
/// let id = StructField::new("id", PrimitiveType::Long.into(), true);
/// let schema = StructType { fields: vec![id] };
/// let wanted = StatisticsSchema::all(&schema, &|field| field.name.clone());
/// assert!(wanted.struct_leaves().contains(&vec!["minValues".to_owned(), "id".to_owned()]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct StatisticsSchema {
    pub(super) fields: Vec<Wanted>,
    leaves: usize,
    repeated_keys: bool,
}

/// A requested field of one level.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The logical name.
    pub(super) name: String,
    /// The physical name, which the log uses.
    pub(super) key: String,
    pub(super) part: Part,
}

/// A struct or a leaf.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// A struct: its requested fields.
    Fields(Vec<Wanted>),
    /// A column with a NULL count and optional bounds.
    Leaf(Leaf),
}

/// A column with statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// Its index among the leaves.
    pub(super) index: usize,
    /// The type of its bounds; `None` for a column without bounds.
    pub(super) bounds: Option<PrimitiveType>,
    /// Whether a double was widened from a float: old bounds are the shortest spelling of a float.
    pub(super) was_float: bool,
    /// A string column with a collation, whose order is not that of its bytes.
    pub(crate) collated: bool,
    /// How its NULL count is interpreted.
    pub(crate) nulls: Nulls,
}

/// How the NULL count of a column is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// Zero means that no row is NULL; the number of rows means that all are.
    Counted,
    /// Zero means that no row is NULL. Some writers count the elements of arrays and maps, so other
    /// counts are ignored.
    NoneTells,
    /// Ignored: it may be the count of another column.
    Unsure,
}

impl StatisticsSchema {
    /// All columns of `schema` that can have statistics.
    ///
    /// `name_of` returns the name of a field in the log: the physical name if columns are mapped.
    #[must_use]
    pub fn all(schema: &StructType, name_of: &dyn Fn(&StructField) -> String) -> Self {
        Self::of(schema, name_of, None)
    }

    /// Selects the columns at these paths of logical names, outermost first. A path to a struct or to a
    /// column that does not exist selects nothing. The number of rows and the tightness of bounds are
    /// always read.
    #[must_use]
    pub fn of_columns(
        schema: &StructType,
        name_of: &dyn Fn(&StructField) -> String,
        paths: &[Vec<String>],
    ) -> Self {
        let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
        Self::of(schema, name_of, Some(&paths))
    }

    /// No columns: only the number of rows and the tightness of bounds.
    #[must_use]
    pub fn num_records_only() -> Self {
        Self::default()
    }

    /// Paths of the leaves to read from struct statistics, in physical names below `stats_parsed`.
    #[must_use]
    pub fn struct_leaves(&self) -> Vec<Vec<String>> {
        let mut leaves = vec![vec!["numRecords".to_owned()], vec!["tightBounds".to_owned()]];
        for (kind, bounds_only) in [("minValues", true), ("maxValues", true), ("nullCount", false)] {
            collect_leaves(&self.fields, &[kind.to_owned()], bounds_only, &mut leaves);
        }
        leaves
    }

    /// The column at a path of logical names; `None` if its statistics are not requested.
    pub(crate) fn leaf(&self, path: &[String]) -> Option<Leaf> {
        let mut fields = &self.fields;
        let (last, parents) = path.split_last()?;
        for name in parents {
            fields = match &find(fields, name)?.part {
                Part::Fields(below) => below,
                Part::Leaf(_) => return None,
            };
        }
        match &find(fields, last)?.part {
            Part::Leaf(leaf) => Some(*leaf),
            Part::Fields(_) => None,
        }
    }

    /// The number of requested columns.
    pub(super) fn leaf_count(&self) -> usize {
        self.leaves
    }

    /// Whether the keys of each level are unique.
    pub(super) fn has_unique_keys(&self) -> bool {
        !self.repeated_keys
    }

    /// Calls `visit` with each requested column, in index order.
    pub(super) fn for_each_leaf(&self, visit: &mut dyn FnMut(Leaf)) {
        fn walk(fields: &[Wanted], visit: &mut dyn FnMut(Leaf)) {
            for field in fields {
                match &field.part {
                    Part::Fields(below) => walk(below, visit),
                    Part::Leaf(leaf) => visit(*leaf),
                }
            }
        }
        walk(&self.fields, visit);
    }

    fn of(
        schema: &StructType,
        name_of: &dyn Fn(&StructField) -> String,
        paths: Option<&[&[String]]>,
    ) -> Self {
        let mut leaves = 0;
        let mut fields = wanted(schema, name_of, paths, &mut leaves);
        if schema.fields.iter().any(|field| repeats(&field.data_type)) {
            distrust_names_of_elements(&mut fields);
        }
        let repeated_keys = has_repeated_keys(&fields);
        Self {
            fields,
            leaves,
            repeated_keys,
        }
    }
}

fn find<'a>(fields: &'a [Wanted], name: &str) -> Option<&'a Wanted> {
    fields.iter().find(|field| field.name == name)
}

fn has_repeated_keys(fields: &[Wanted]) -> bool {
    let mut seen = HashSet::new();
    fields.iter().any(|field| {
        !seen.insert(&field.key) || matches!(&field.part, Part::Fields(below) if has_repeated_keys(below))
    })
}

fn collect_leaves(fields: &[Wanted], above: &[String], bounds_only: bool, found: &mut Vec<Vec<String>>) {
    for field in fields {
        let path = [above, std::slice::from_ref(&field.key)].concat();
        match &field.part {
            Part::Fields(below) => collect_leaves(below, &path, bounds_only, found),
            Part::Leaf(leaf) if !bounds_only || leaf.bounds.is_some() => found.push(path),
            Part::Leaf(_) => {}
        }
    }
}

fn wanted(
    schema: &StructType,
    name_of: &dyn Fn(&StructField) -> String,
    paths: Option<&[&[String]]>,
    leaves: &mut usize,
) -> Vec<Wanted> {
    let mut found = Vec::new();
    for field in &schema.fields {
        let below: Option<Vec<&[String]>> = paths.map(|paths| {
            let starts_here = paths.iter().filter_map(|path| path.split_first());
            starts_here
                .filter_map(|(first, rest)| (*first == field.name).then_some(rest))
                .collect()
        });
        let part = match (&field.data_type, &below) {
            (DataType::Struct(inner), _) => {
                let fields = wanted(inner, name_of, below.as_deref(), leaves);
                // A struct without requested fields is omitted; an empty struct of the table is
                // included.
                if fields.is_empty() && below.is_some() {
                    continue;
                }
                Part::Fields(fields)
            }
            (_, Some(below)) if !below.iter().any(|rest| rest.is_empty()) => continue,
            (data_type, _) => {
                let index = *leaves;
                *leaves += 1;
                Part::Leaf(leaf(field, data_type, index))
            }
        };
        found.push(Wanted {
            name: field.name.clone(),
            key: name_of(field),
            part,
        });
    }
    found
}

/// The names of the parts of arrays and maps in Parquet.
const NAMES_OF_ELEMENTS: [&str; 6] = ["key", "value", "element", "item", "list", "array"];

/// Whether a value contains a variable number of others.
fn repeats(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Array(..) | DataType::Map(..))
}

/// Some writers put the counts of the parts of arrays and maps beside those of the columns, under the
/// names of the parts. The counts of a column with such a name are ambiguous.
fn distrust_names_of_elements(fields: &mut [Wanted]) {
    for field in fields {
        if let Part::Leaf(leaf) = &mut field.part
            && NAMES_OF_ELEMENTS.contains(&field.key.as_str())
        {
            leaf.nulls = Nulls::Unsure;
        }
    }
}

fn leaf(field: &StructField, data_type: &DataType, index: usize) -> Leaf {
    let bounds = data_type.as_primitive().filter(|primitive| {
        !matches!(
            primitive,
            PrimitiveType::Boolean | PrimitiveType::Binary | PrimitiveType::Void | PrimitiveType::Variant
        )
    });
    Leaf {
        index,
        bounds,
        was_float: bounds == Some(PrimitiveType::Double) && was_float(field),
        collated: field.metadata.contains_key("__COLLATIONS"),
        nulls: match data_type {
            // All its values are NULL, whatever the count.
            DataType::Primitive(PrimitiveType::Void) => Nulls::Unsure,
            DataType::Primitive(_) | DataType::Struct(_) => Nulls::Counted,
            DataType::Array(..) | DataType::Map(..) | DataType::Unknown(_) => Nulls::NoneTells,
        },
    }
}

/// Whether the column itself, not a part of it, was a float. Protocol: *Type Widening*.
fn was_float(field: &StructField) -> bool {
    let Some(changes) = field
        .metadata
        .get("delta.typeChanges")
        .and_then(|value| value.as_array())
    else {
        return false;
    };
    changes.iter().any(|change| {
        change.get("fieldPath").is_none()
            && change.get("fromType").and_then(|value| value.as_str()) == Some("float")
    })
}
