//! Chooses the typed columns of a variant from the first rows of a file: fields that most objects have, with one type.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{Array, StructArray};
use arrow_schema::DataType as ArrowType;
use deltaic_protocol::Result;
use parquet_variant::Variant;

use super::shape::{Shape, leaf_type};
use super::shred::variants;

/// The number of rows that are examined.
const EXAMINED: usize = 4096;

/// The maximum number of typed fields of an object: each adds two columns to the file.
const MOST_FIELDS: usize = 64;

/// The maximum depth of typed objects.
const MOST_LEVELS: usize = 4;

/// Returns the typed columns for the variants of a column; `None` if most of them have no common type.
pub(super) fn infer(group: &StructArray) -> Result<Option<Shape>> {
    let sample = group.slice(0, group.len().min(EXAMINED));
    let mut seen = Seen::default();
    for row in variants(&sample)?.into_iter().flatten() {
        seen.add(&row.value, 0);
    }
    Ok(seen.shape(seen.values))
}

/// What the values of a variant, or of one of its fields, are.
#[derive(Debug, Default)]
struct Seen {
    values: usize,
    leaves: Vec<(ArrowType, usize)>,
    objects: usize,
    fields: BTreeMap<String, Self>,
}

impl Seen {
    fn add(&mut self, value: &Variant<'_, '_>, level: usize) {
        self.values += 1;
        if let Variant::Object(object) = value {
            self.objects += 1;
            if level < MOST_LEVELS {
                for (name, field) in object.iter() {
                    self.fields
                        .entry(name.to_owned())
                        .or_default()
                        .add(&field, level + 1);
                }
            }
        } else if let Some(data_type) = leaf_type(value) {
            match self.leaves.iter_mut().find(|(known, _)| *known == data_type) {
                Some((_, count)) => *count += 1,
                None => self.leaves.push((data_type, 1)),
            }
        }
    }

    /// The shape that more than half of this many values have.
    fn shape(&self, of: usize) -> Option<Shape> {
        let are_most = |count: usize| count > of / 2;
        if !are_most(self.objects) {
            let (data_type, count) = self.leaves.iter().max_by_key(|(_, count)| *count)?;
            return are_most(*count).then(|| Shape::Leaf(data_type.clone()));
        }
        // Some readers ignore the case of names.
        let mut names = BTreeSet::new();
        let fields = self.fields.iter().filter_map(|(name, seen)| {
            let shape = seen.shape(self.objects)?;
            let is_new = !name.is_empty() && names.insert(name.to_lowercase());
            is_new.then(|| (name.clone(), shape))
        });
        let fields: Vec<(String, Shape)> = fields.take(MOST_FIELDS).collect();
        (!fields.is_empty()).then_some(Shape::Object(fields))
    }
}
