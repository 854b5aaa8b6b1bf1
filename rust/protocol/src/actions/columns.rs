//! Typed views of Arrow batches of file actions.
//!
//! Columns are looked up by name once per batch; the loops index typed arrays.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, Int64Array, MapArray, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};

use super::LogicalFileKey;
use crate::deletion_vector::Descriptor;
use crate::{Error, ErrorKind, Result};

/// The Arrow type of `partitionValues`.
#[must_use]
pub fn partition_values_type() -> DataType {
    let entries = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Utf8, true),
    ]);
    DataType::Map(
        Arc::new(Field::new("entries", DataType::Struct(entries), false)),
        false,
    )
}

/// The fields of a deletion vector descriptor.
#[must_use]
pub fn deletion_vector_fields() -> Fields {
    Fields::from(vec![
        Field::new("storage_type", DataType::Utf8, false),
        Field::new("path_or_inline_dv", DataType::Utf8, false),
        Field::new("offset", DataType::Int32, true),
        Field::new("size_in_bytes", DataType::Int32, false),
        Field::new("cardinality", DataType::Int64, false),
    ])
}

/// The row tracking columns, which a batch of adds contains only if any of its files has values for them.
pub const ROW_COLUMNS: [&str; 2] = ["base_row_id", "default_row_commit_version"];

/// The schema of a batch of adds, with row tracking columns.
#[must_use]
pub fn add_schema_with_rows() -> SchemaRef {
    let mut fields: Vec<_> = add_schema().fields().iter().cloned().collect();
    let of_rows = ROW_COLUMNS.map(|name| Arc::new(Field::new(name, DataType::Int64, true)));
    fields.extend(of_rows);
    Arc::new(Schema::new(fields))
}

/// The schema of a batch of adds.
#[must_use]
pub fn add_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("path", DataType::Utf8, false),
        Field::new("size", DataType::Int64, false),
        Field::new("modification_time", DataType::Int64, false),
        Field::new("partition_values", partition_values_type(), false),
        Field::new(
            "deletion_vector",
            DataType::Struct(deletion_vector_fields()),
            true,
        ),
    ]))
}

/// The schema of a batch of removes.
#[must_use]
pub fn remove_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("path", DataType::Utf8, false),
        Field::new("deletion_timestamp", DataType::Int64, true),
        Field::new("size", DataType::Int64, true),
        Field::new("partition_values", partition_values_type(), true),
        Field::new(
            "deletion_vector",
            DataType::Struct(deletion_vector_fields()),
            true,
        ),
    ]))
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array> {
    batch
        .column_by_name(name)
        .map(AsRef::as_ref)
        .ok_or_else(|| wrong_type(name))
}

fn wrong_type(name: &str) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        "a column of the log is missing or of another type",
    )
    .with("field", name)
}

/// The columns of the logical file key, for adds and removes.
#[derive(Clone, Debug)]
pub struct KeyColumns {
    path: StringArray,
    deletion_vector: Option<DeletionVectorColumns>,
}

impl KeyColumns {
    /// The key columns of a batch of adds or removes.
    pub fn of(batch: &RecordBatch) -> Result<Self> {
        let path = column(batch, "path")?
            .as_string_opt::<i32>()
            .ok_or_else(|| wrong_type("path"))?
            .clone();
        let vectors = column(batch, "deletion_vector")?
            .as_struct_opt()
            .ok_or_else(|| wrong_type("deletion_vector"))?;
        let deletion_vector = if vectors.null_count() == vectors.len() {
            None
        } else {
            Some(DeletionVectorColumns::of(vectors)?)
        };
        Ok(Self {
            path,
            deletion_vector,
        })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// The path of a row as spelled in the log.
    #[must_use]
    pub fn path(&self, row: usize) -> &str {
        self.path.value(row)
    }

    /// Whether any row has a deletion vector.
    #[must_use]
    pub fn any_vector(&self) -> bool {
        self.deletion_vector.is_some()
    }

    /// Whether two rows have the same path; deletion vectors are ignored.
    #[must_use]
    pub fn is_same_path(&self, row: usize, other: &Self, other_row: usize) -> bool {
        self.key(row).path() == other.key(other_row).path()
    }

    /// Whether a row has a deletion vector.
    #[must_use]
    pub fn has_vector(&self, row: usize) -> bool {
        let columns = self.deletion_vector.as_ref();
        columns.is_some_and(|columns| columns.id(row).is_some())
    }

    /// A hash of the key of a row: equal keys have equal hashes under one seed. Without a deletion
    /// vector, it is the hash of the path.
    #[must_use]
    pub fn hash(&self, row: usize, seed: &impl BuildHasher) -> u64 {
        if self.has_vector(row) {
            seed.hash_one(self.key(row))
        } else {
            self.path_hash(row, seed)
        }
    }

    /// A hash of the path of a row; its deletion vector is ignored.
    #[must_use]
    pub fn path_hash(&self, row: usize, seed: &impl BuildHasher) -> u64 {
        seed.hash_one(self.key(row).path())
    }

    /// The key of a row.
    #[must_use]
    pub fn key(&self, row: usize) -> LogicalFileKey<'_> {
        LogicalFileKey::new(
            self.path.value(row),
            self.deletion_vector.as_ref().and_then(|columns| columns.id(row)),
        )
    }
}

/// The columns of deletion vector descriptors.
#[derive(Clone, Debug)]
pub struct DeletionVectorColumns {
    present: StructArray,
    storage_type: StringArray,
    path_or_inline_dv: StringArray,
    offset: Int32Array,
}

impl DeletionVectorColumns {
    fn of(vectors: &StructArray) -> Result<Self> {
        let child = |name: &str| vectors.column_by_name(name).ok_or_else(|| wrong_type(name));
        let text = |name: &str| -> Result<StringArray> {
            Ok(child(name)?
                .as_string_opt::<i32>()
                .ok_or_else(|| wrong_type(name))?
                .clone())
        };
        Ok(Self {
            present: vectors.clone(),
            storage_type: text("storage_type")?,
            path_or_inline_dv: text("path_or_inline_dv")?,
            offset: child("offset")?
                .as_primitive_opt::<Int32Type>()
                .ok_or_else(|| wrong_type("offset"))?
                .clone(),
        })
    }

    fn id(&self, row: usize) -> Option<(&str, &str, Option<i32>)> {
        self.present.is_valid(row).then(|| {
            (
                self.storage_type.value(row),
                self.path_or_inline_dv.value(row),
                self.offset.is_valid(row).then(|| self.offset.value(row)),
            )
        })
    }
}

/// The columns of a batch of adds.
#[derive(Clone, Debug)]
pub struct AddColumns {
    /// Paths of the data files, URI-encoded.
    pub path: StringArray,
    /// Sizes in bytes.
    pub size: Int64Array,
    /// Modification times in milliseconds since the epoch.
    pub modification_time: Int64Array,
    /// Partition values as strings.
    pub partition_values: MapArray,
    /// Deletion vector descriptors.
    pub deletion_vector: StructArray,
    /// Row ids of the first rows and the versions that added the files, if any file has them.
    row_columns: [Option<Int64Array>; 2],
}

impl AddColumns {
    /// The cardinality of the deletion vector of a file; `None` without a deletion vector.
    #[must_use]
    pub fn cardinality(&self, row: usize) -> Option<i64> {
        let counts = self.deletion_vector.column_by_name("cardinality")?;
        let counts = counts.as_primitive_opt::<Int64Type>()?;
        self.deletion_vector.is_valid(row).then(|| counts.value(row))
    }

    /// The row id of the first row of a file; `None` if the file has none.
    #[must_use]
    pub fn base_row_id(&self, row: usize) -> Option<i64> {
        let [ids, _] = &self.row_columns;
        ids.as_ref()
            .filter(|ids| ids.is_valid(row))
            .map(|ids| ids.value(row))
    }

    /// The row tracking version that added a file; `None` if the file has none.
    #[must_use]
    pub fn default_row_commit_version(&self, row: usize) -> Option<i64> {
        let [_, versions] = &self.row_columns;
        let versions = versions.as_ref().filter(|versions| versions.is_valid(row));
        versions.map(|versions| versions.value(row))
    }

    /// The deletion vector descriptor of a file, not validated.
    #[must_use]
    pub fn descriptor(&self, row: usize) -> Option<Descriptor> {
        if !self.deletion_vector.is_valid(row) {
            return None;
        }
        let column = |name: &str| self.deletion_vector.column_by_name(name);
        let text = |name: &str| Some(column(name)?.as_string_opt::<i32>()?.value(row).to_owned());
        let number = |name: &str| {
            let numbers = column(name)?.as_primitive_opt::<Int32Type>()?;
            numbers.is_valid(row).then(|| numbers.value(row))
        };
        Some(Descriptor {
            storage_type: text("storage_type")?,
            path_or_inline_dv: text("path_or_inline_dv")?,
            offset: number("offset"),
            size_in_bytes: number("size_in_bytes")?,
            cardinality: self.cardinality(row)?,
        })
    }

    /// The columns of a batch of [`add_schema`].
    pub fn of(batch: &RecordBatch) -> Result<Self> {
        let number = |name: &str| -> Result<Int64Array> {
            Ok(column(batch, name)?
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(|| wrong_type(name))?
                .clone())
        };
        Ok(Self {
            path: column(batch, "path")?
                .as_string_opt::<i32>()
                .ok_or_else(|| wrong_type("path"))?
                .clone(),
            size: number("size")?,
            modification_time: number("modification_time")?,
            partition_values: column(batch, "partition_values")?
                .as_map_opt()
                .ok_or_else(|| wrong_type("partition_values"))?
                .clone(),
            deletion_vector: column(batch, "deletion_vector")?
                .as_struct_opt()
                .ok_or_else(|| wrong_type("deletion_vector"))?
                .clone(),
            row_columns: ROW_COLUMNS.map(|name| number(name).ok()),
        })
    }
}
