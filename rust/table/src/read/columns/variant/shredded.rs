//! Reconstructs variants whose values are in typed columns.
//!
//! Parquet: *Variant Shredding*.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, ListArray, StructArray};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::DataType as ArrowType;
use parquet_variant::{
    BuilderSpecificState, ListBuilder, ObjectBuilder, ParentState, ReadOnlyMetadataBuilder, ValueBuilder,
    Variant, VariantMetadata, VariantObject,
};

use super::damaged::{NO_METADATA, binary, reported};
use super::leaf::{is_leaf, leaf};

/// A variant, or a part of one, as stored in a file.
pub(super) struct Shredded<'a> {
    group: &'a StructArray,
    /// The values that are not in a typed column.
    value: Option<BinaryArray>,
    typed: Option<Typed<'a>>,
}

enum Typed<'a> {
    Leaf(&'a ArrayRef),
    List(&'a ListArray, Box<Shredded<'a>>),
    Object(&'a StructArray, Vec<(&'a str, Shredded<'a>)>),
}

/// The value of a part in a row.
enum Piece<'p, 'm> {
    Missing,
    Whole(Variant<'m, 'p>),
    List(Range<usize>, &'p Shredded<'p>),
    Object(&'p [(&'p str, Shredded<'p>)], Option<VariantObject<'m, 'p>>),
}

impl<'a> Shredded<'a> {
    /// Verifies that a group has the structure of a shredded variant.
    pub(super) fn of(group: &'a StructArray) -> Result<Self, String> {
        let typed = match group.column_by_name("typed_value") {
            None => None,
            Some(column) => Some(match column.data_type() {
                ArrowType::Struct(_) => {
                    let object = column.as_struct();
                    let parts = object.fields().iter().zip(object.columns());
                    let parts =
                        parts.map(|(field, part)| Ok((field.name().as_str(), Self::of(as_group(part)?)?)));
                    Typed::Object(object, parts.collect::<Result<_, String>>()?)
                }
                ArrowType::List(_) => {
                    let list = column.as_list::<i32>();
                    Typed::List(list, Box::new(Self::of(as_group(list.values())?)?))
                }
                leaf if is_leaf(leaf) => Typed::Leaf(column),
                other => return Err(format!("a variant is not shredded into {other}")),
            }),
        };
        let value = binary(group, "value")?;
        if value.is_none() && typed.is_none() {
            return Err("the file has no value of it".to_owned());
        }
        Ok(Self { group, value, typed })
    }

    /// Returns the bytes unchanged, if they contain the complete variants.
    pub(super) fn unshredded(&self) -> Option<&BinaryArray> {
        let value = self.value.as_ref().filter(|_| self.typed.is_none())?;
        let is_there = |row: usize| value.is_valid(row) || self.group.is_null(row);
        (value.null_count() == 0 || (0..value.len()).all(is_there)).then_some(value)
    }

    /// Returns the reconstructed values; NULL where the group is NULL.
    pub(super) fn join(&self, metadata: &BinaryArray) -> Result<BinaryArray, String> {
        let mut values = ValueBuilder::new();
        let mut offsets = Vec::with_capacity(self.group.len().saturating_add(1));
        offsets.push(0i32);
        for row in 0..self.group.len() {
            if self.group.is_valid(row) {
                if metadata.is_null(row) {
                    return Err(NO_METADATA.to_owned());
                }
                let names =
                    VariantMetadata::try_new(metadata.value(row)).map_err(|error| reported(&error))?;
                self.join_row(row, &names, &mut values)?;
            }
            let end = i32::try_from(values.offset());
            offsets.push(end.map_err(|_| "a batch of it has more than 2 GiB: use a smaller batch_size")?);
        }
        let bytes = Buffer::from_vec(values.into_inner());
        let nulls = self.group.nulls().cloned();
        BinaryArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls)
            .map_err(|error| reported(&error))
    }

    fn join_row(
        &self,
        row: usize,
        names: &VariantMetadata<'_>,
        values: &mut ValueBuilder,
    ) -> Result<(), String> {
        let mut dictionary = ReadOnlyMetadataBuilder::new(names);
        let place = ParentState::variant(values, &mut dictionary);
        match self.piece(row, names)? {
            // A missing required value is a variant null.
            Piece::Missing => ValueBuilder::append_variant_bytes(place, Variant::Null),
            Piece::Whole(variant) => ValueBuilder::append_variant_bytes(place, variant),
            Piece::List(rows, element) => fill_list(ListBuilder::new(place, true), rows, element, names)?,
            Piece::Object(parts, rest) => {
                fill_object(ObjectBuilder::new(place, true), row, parts, rest, names)?;
            }
        }
        Ok(())
    }

    fn piece<'p, 'm>(&'p self, row: usize, names: &VariantMetadata<'m>) -> Result<Piece<'p, 'm>, String> {
        if self.group.is_null(row) {
            return Ok(Piece::Missing);
        }
        let value = match self.value.as_ref().filter(|value| value.is_valid(row)) {
            None => None,
            Some(value) => {
                let variant = Variant::try_new_with_metadata(names.clone(), value.value(row));
                Some(variant.map_err(|error| reported(&error))?)
            }
        };
        let typed = self.typed.as_ref().filter(|typed| typed.is_there(row));
        Ok(match (typed, value) {
            (None, None) => Piece::Missing,
            (None, Some(value)) => Piece::Whole(value),
            (Some(Typed::Leaf(column)), None) => Piece::Whole(leaf(column, row)?),
            (Some(Typed::List(list, element)), None) => Piece::List(elements(list, row), element),
            (Some(Typed::Object(_, parts)), None) => Piece::Object(parts, None),
            (Some(Typed::Object(_, parts)), Some(Variant::Object(rest))) => Piece::Object(parts, Some(rest)),
            (Some(_), Some(_)) => return Err("a row has two values, one typed and one not".to_owned()),
        })
    }
}

impl Typed<'_> {
    fn is_there(&self, row: usize) -> bool {
        match self {
            Self::Leaf(column) => column.is_valid(row),
            Self::List(list, _) => list.is_valid(row),
            Self::Object(object, _) => object.is_valid(row),
        }
    }
}

fn as_group(column: &ArrayRef) -> Result<&StructArray, String> {
    column.as_struct_opt().ok_or_else(|| {
        format!(
            "a part of it is shredded into {} and not a group",
            column.data_type()
        )
    })
}

fn elements(list: &ListArray, row: usize) -> Range<usize> {
    let at = |index: usize| {
        let offset = list.value_offsets().get(index).copied().unwrap_or(0);
        usize::try_from(offset).unwrap_or(0)
    };
    at(row)..at(row.saturating_add(1))
}

fn fill_list<S: BuilderSpecificState>(
    mut list: ListBuilder<'_, S>,
    rows: Range<usize>,
    element: &Shredded<'_>,
    names: &VariantMetadata<'_>,
) -> Result<(), String> {
    for row in rows {
        match element.piece(row, names)? {
            Piece::Missing => list.append_value_bytes(Variant::Null),
            Piece::Whole(variant) => list.append_value_bytes(variant),
            Piece::List(rows, element) => fill_list(list.new_list(), rows, element, names)?,
            Piece::Object(parts, rest) => fill_object(list.new_object(), row, parts, rest, names)?,
        }
    }
    list.finish();
    Ok(())
}

/// Adds the typed fields and the rest to an object. A name that is not in the metadata, or is duplicated, is an error.
fn fill_object<S: BuilderSpecificState>(
    mut object: ObjectBuilder<'_, S>,
    row: usize,
    parts: &[(&str, Shredded<'_>)],
    rest: Option<VariantObject<'_, '_>>,
    names: &VariantMetadata<'_>,
) -> Result<(), String> {
    for (name, part) in parts {
        match part.piece(row, names)? {
            Piece::Missing => {}
            Piece::Whole(variant) => object
                .try_insert_bytes(name, variant)
                .map_err(|error| reported(&error))?,
            Piece::List(rows, element) => {
                let list = object.try_new_list(name).map_err(|error| reported(&error))?;
                fill_list(list, rows, element, names)?;
            }
            Piece::Object(parts, rest) => {
                let inner = object.try_new_object(name).map_err(|error| reported(&error))?;
                fill_object(inner, row, parts, rest, names)?;
            }
        }
    }
    for field in rest.iter().flat_map(VariantObject::iter_try) {
        let (name, value) = field.map_err(|error| reported(&error))?;
        // Also if the typed column is empty in this row: the specification does not define which one is valid.
        if parts.iter().any(|(typed, _)| *typed == name) {
            return Err(format!(
                "the field {name:?} has a typed column, and also an untyped value"
            ));
        }
        object
            .try_insert_bytes(name, value)
            .map_err(|error| reported(&error))?;
    }
    object.finish();
    Ok(())
}
