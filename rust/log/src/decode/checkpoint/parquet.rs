//! Parquet of actions, one a row: classic checkpoints, parts, top levels and sidecars.
//!
//! Protocol: *Checkpoint Schema*.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, MapArray, RecordBatch, StructArray, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::filter::filter;
use deltaic_protocol::actions::columns::{Statistics, add_schema, remove_schema};
use deltaic_protocol::{Error, ErrorKind, Result};
use futures::{FutureExt, TryStreamExt};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::{ParquetRecordBatchStreamBuilder, ProjectionMask};
use serde::de::DeserializeOwned;

use crate::decode::Actions;
use crate::parquet_file::ParquetFile;

/// Rows a batch: large, since a log is read from end to end.
const BATCH_ROWS: usize = 65_536;

pub(super) fn damaged(error: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::CorruptLog,
        format!("the checkpoint cannot be read: {error}"),
    )
}

/// Reads a file of actions, of the file actions only the columns that replay needs.
pub(super) async fn read_file(
    reader: ParquetFile,
    statistics: Statistics,
    actions: &mut Actions,
) -> Result<()> {
    // The Parquet reader can panic on bytes that were made for it; here that is damage like any other.
    let read = AssertUnwindSafe(read_rows(reader, statistics, actions)).catch_unwind();
    read.await
        .unwrap_or_else(|_| Err(damaged("its bytes make no sense")))
}

async fn read_rows(reader: ParquetFile, statistics: Statistics, actions: &mut Actions) -> Result<()> {
    // The schema comes from Parquet alone, so that every writer's file has the same Arrow types.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchStreamBuilder::new_with_options(reader, options)
        .await
        .map_err(damaged)?;
    let mut wanted = vec![
        "protocol",
        "metaData",
        "txn",
        "domainMetadata",
        "sidecar",
        "checkpointMetadata",
        "add.path",
        "add.size",
        "add.modificationTime",
        "add.partitionValues",
        "add.deletionVector",
        "remove.path",
        "remove.deletionTimestamp",
        "remove.size",
        "remove.partitionValues",
        "remove.deletionVector",
    ];
    if statistics == Statistics::Text {
        wanted.push("add.stats");
    }
    let mask = ProjectionMask::columns(builder.parquet_schema(), wanted);
    let mut stream = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(damaged)?;
    while let Some(batch) = stream.try_next().await.map_err(damaged)? {
        take_batch(&batch, statistics, actions)?;
    }
    Ok(())
}

fn take_batch(batch: &RecordBatch, statistics: Statistics, actions: &mut Actions) -> Result<()> {
    if let Some(adds) = rows_of(batch, "add")? {
        actions.adds.push(file_actions(&adds, &add_schema(statistics))?);
    }
    if let Some(removes) = rows_of(batch, "remove")? {
        actions.removes.push(file_actions(&removes, &remove_schema())?);
    }
    let twice = |what: &str| Err(damaged(format!("it holds two {what} actions")));
    for protocol in values_of(batch, "protocol")? {
        if actions.protocol.replace(protocol).is_some() {
            return twice("protocol");
        }
    }
    for metadata in values_of(batch, "metaData")? {
        if actions.metadata.replace(metadata).is_some() {
            return twice("metaData");
        }
    }
    for metadata in values_of(batch, "checkpointMetadata")? {
        if actions.checkpoint_metadata.replace(metadata).is_some() {
            return twice("checkpointMetadata");
        }
    }
    actions.sidecars.extend(values_of(batch, "sidecar")?);
    actions.txns.extend(values_of(batch, "txn")?);
    actions.domains.extend(values_of(batch, "domainMetadata")?);
    Ok(())
}

/// The rows that hold an action, as a struct without nulls; none where there are no such rows.
fn rows_of(batch: &RecordBatch, action: &str) -> Result<Option<StructArray>> {
    let Some(column) = batch.column_by_name(action) else {
        return Ok(None);
    };
    let rows = column
        .as_struct_opt()
        .ok_or_else(|| damaged(format!("{action} is not a struct")))?;
    match rows.nulls() {
        None => Ok((!rows.is_empty()).then(|| rows.clone())),
        Some(nulls) if nulls.null_count() == rows.len() => Ok(None),
        Some(nulls) => {
            let present = arrow_array::BooleanArray::new(nulls.inner().clone(), None);
            let kept = filter(rows, &present).map_err(damaged)?;
            Ok(Some(kept.as_struct().clone()))
        }
    }
}

/// File actions under the log's own names and types, as commits give them.
fn file_actions(rows: &StructArray, schema: &Arc<Schema>) -> Result<RecordBatch> {
    let columns = schema
        .fields()
        .iter()
        .map(|field| {
            let column = rows.column_by_name(&camel_case(field.name()));
            let column = match column {
                Some(column) => conform(column, field)?,
                None => new_null_array(field.data_type(), rows.len()),
            };
            if !field.is_nullable() && column.null_count() > 0 {
                return Err(damaged(format!(
                    "{} is absent in an action",
                    camel_case(field.name())
                )));
            }
            Ok(column)
        })
        .collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(damaged)
}

fn camel_case(name: &str) -> String {
    // `path_or_inline_dv` is spelled `pathOrInlineDv` in the log, and so are all others.
    let mut upper = false;
    let mut spelled = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                spelled.push(c.to_ascii_uppercase());
                upper = false;
            }
            c => spelled.push(c),
        }
    }
    spelled
}

fn conform(column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    let wrong = || {
        damaged(format!(
            "{} has the type {}",
            camel_case(field.name()),
            column.data_type()
        ))
    };
    match field.data_type() {
        DataType::Map(entries, sorted) => {
            let map = column.as_map_opt().ok_or_else(wrong)?;
            let DataType::Struct(names) = entries.data_type() else {
                return Err(wrong());
            };
            let parts = map.entries().columns().iter().zip(names);
            let parts = parts
                .map(|(part, field)| conform(part, field))
                .collect::<Result<Vec<_>>>()?;
            let pairs = StructArray::try_new(names.clone(), parts, None).map_err(damaged)?;
            let rebuilt = MapArray::try_new(
                Arc::clone(entries),
                map.offsets().clone(),
                pairs,
                map.nulls().cloned(),
                *sorted,
            );
            Ok(Arc::new(rebuilt.map_err(damaged)?))
        }
        DataType::Struct(names) => {
            let rows = column.as_struct_opt().ok_or_else(wrong)?;
            let parts = names
                .iter()
                .map(|name| match rows.column_by_name(&camel_case(name.name())) {
                    Some(part) => {
                        let part = conform(part, name)?;
                        // A child under an absent struct may be null; its field says it never is where it counts.
                        fill_below_null(part, rows)
                    }
                    None if name.is_nullable() => Ok(new_null_array(name.data_type(), rows.len())),
                    None => Err(damaged(format!("{} is not there", camel_case(name.name())))),
                });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let rebuilt =
                StructArray::try_new(names.clone(), parts, rows.nulls().cloned()).map_err(damaged)?;
            Ok(Arc::new(rebuilt))
        }
        wanted if column.data_type() == wanted => Ok(Arc::clone(column)),
        wanted => {
            let options = arrow_cast::CastOptions {
                safe: false,
                ..Default::default()
            };
            arrow_cast::cast_with_options(column, wanted, &options).map_err(|_| wrong())
        }
    }
}

fn fill_below_null(part: ArrayRef, parent: &StructArray) -> Result<ArrayRef> {
    let lost = part.nulls().is_some_and(|nulls| {
        nulls
            .iter()
            .enumerate()
            .any(|(row, valid)| !valid && parent.is_valid(row))
    });
    if lost {
        // Only `offset` may be absent in a present descriptor; try_new judges the others.
        return Ok(part);
    }
    if part.null_count() == 0 {
        return Ok(part);
    }
    let data = part
        .to_data()
        .into_builder()
        .nulls(None)
        .build()
        .map_err(damaged)?;
    Ok(arrow_array::make_array(data))
}

/// Rare actions, by way of JSON: the same structs read them as in a commit.
fn values_of<T: DeserializeOwned>(batch: &RecordBatch, action: &str) -> Result<Vec<T>> {
    let Some(rows) = rows_of(batch, action)? else {
        return Ok(Vec::new());
    };
    let batch = RecordBatch::from(&rows);
    let mut json = Vec::new();
    let mut writer = arrow_json::LineDelimitedWriter::new(&mut json);
    writer
        .write(&batch)
        .and_then(|()| writer.finish())
        .map_err(damaged)?;
    json.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).map_err(|error| damaged(format!("{action}: {error}"))))
        .collect()
}
