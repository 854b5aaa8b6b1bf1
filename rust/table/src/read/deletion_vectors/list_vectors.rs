//! Lists the deletion vectors of a snapshot, as the positions of the deleted rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeListArray, RecordBatch, StringArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use deltaic_log::Snapshot;
use deltaic_protocol::deletion_vector::Bitmap;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::read_vectors::{VectorOf, read_vectors};

/// The approximate number of positions per batch.
const POSITIONS: u64 = 4 << 20;
/// The maximum bytes of vectors, and the maximum number of vectors, that are read at once.
const BYTES_TOGETHER: i64 = 64 << 20;
const VECTORS_TOGETHER: usize = 100_000;

/// Returns one row for each live file with a deletion vector: `path` (as in the log), `cardinality` (the number of
/// deleted rows), `rows` (their positions in the file, ascending). Must be called inside a runtime.
///
/// # Errors
///
/// Those of [`read_vectors`], with the `version`.
pub async fn list_vectors(snapshot: &Snapshot) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let located = |error: Error| error.with("version", snapshot.version());
    let (files, _) = snapshot.files(None).await?;
    let mut wanted: Vec<VectorOf> = Vec::new();
    for files in &files.batches {
        for row in 0..files.len() {
            if let Some(descriptor) = files.adds.descriptor(row) {
                let path = files.adds.path.value(row).to_owned();
                wanted.push(VectorOf { path, descriptor });
            }
        }
    }
    // Sorted by vector file, so that each is read once.
    wanted.sort_by(|left, right| left.descriptor.key().cmp(&right.descriptor.key()));
    let schema = schema();
    let mut batches = Vec::new();
    let mut wanted = wanted.into_iter().peekable();
    while wanted.peek().is_some() {
        let mut bytes = 0i64;
        let mut together = Vec::new();
        while let Some(next) = wanted.next_if(|next| {
            bytes = bytes.saturating_add(i64::from(next.descriptor.size_in_bytes));
            together.is_empty() || (bytes <= BYTES_TOGETHER && together.len() < VECTORS_TOGETHER)
        }) {
            together.push(next);
        }
        let paths: Vec<String> = together.iter().map(|vector| vector.path.clone()).collect();
        let bitmaps = read_vectors(snapshot.location(), together)
            .await
            .map_err(located)?;
        let mut rows: Vec<(String, Arc<Bitmap>)> = Vec::new();
        let mut positions = 0u64;
        for (path, bitmap) in paths.into_iter().zip(bitmaps) {
            positions = positions.saturating_add(bitmap.len());
            rows.push((path, bitmap));
            if positions >= POSITIONS {
                batches.push(batch(&schema, &std::mem::take(&mut rows))?);
                positions = 0;
            }
        }
        if !rows.is_empty() {
            batches.push(batch(&schema, &rows)?);
        }
    }
    Ok((schema, batches))
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("path", DataType::Utf8, false),
        Field::new("cardinality", DataType::Int64, false),
        Field::new("rows", DataType::LargeList(element()), false),
    ]))
}

fn element() -> FieldRef {
    Arc::new(Field::new("element", DataType::Int64, false))
}

fn batch(schema: &SchemaRef, rows: &[(String, Arc<Bitmap>)]) -> Result<RecordBatch> {
    let too_many = |_| {
        Error::new(
            ErrorKind::CorruptData,
            "a deletion vector contains a position beyond 63 bits",
        )
    };
    let lengths = rows
        .iter()
        .map(|(_, bitmap)| usize::try_from(bitmap.len()).unwrap_or(usize::MAX));
    let mut positions = Vec::with_capacity(lengths.clone().fold(0, usize::saturating_add));
    for (_, bitmap) in rows {
        for position in bitmap.iter() {
            positions.push(i64::try_from(position).map_err(too_many)?);
        }
    }
    let cardinality = rows
        .iter()
        .map(|(_, bitmap)| i64::try_from(bitmap.len()).unwrap_or(i64::MAX));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(rows.iter().map(|(path, _)| path))),
        Arc::new(Int64Array::from_iter_values(cardinality)),
        Arc::new(
            LargeListArray::try_new(
                element(),
                OffsetBuffer::from_lengths(lengths),
                Arc::new(Int64Array::from(positions)),
                None,
            )
            .map_err(failed)?,
        ),
    ];
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(failed)
}

fn failed(error: ArrowError) -> Error {
    Error::new(
        ErrorKind::CorruptData,
        format!("deletion vectors cannot be put into columns: {error}"),
    )
}
