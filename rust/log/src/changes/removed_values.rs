//! The partition values of files that went, of which writers keep as many as they like.

use std::collections::HashMap;
use std::sync::Arc;

use deltaic_protocol::actions::LogicalFileKey;
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::partition::values_of_row;
use deltaic_protocol::{Result, Version};

use super::commit::Removed;
use super::{ChangedFile, TableForm};
use crate::location::TableLocation;
use crate::snapshot::{Files, LoadOptions, Snapshot};

/// The files that went with their partition values: where a writer kept none, or left out those that are NULL, they are
/// those of the version before.
pub(super) async fn with_values(
    location: &Arc<TableLocation>,
    version: Version,
    form: &TableForm,
    removes: Vec<Removed>,
    options: LoadOptions,
) -> Result<Vec<ChangedFile>> {
    let schema = form.metadata.schema()?;
    let mode = ColumnMappingMode::of(&form.protocol, &form.metadata)?;
    let columns = form.metadata.partition_columns.iter();
    let names: Vec<&str> = columns
        .map(|name| {
            schema
                .field(name)
                .map_or(name.as_str(), |field| name_in_log(field, mode))
        })
        .collect();
    let lacks = |file: &ChangedFile| {
        names
            .iter()
            .any(|name| !file.partition_values.contains_key(*name))
    };
    if !removes.iter().any(|removed| lacks(&removed.file)) {
        return Ok(removes.into_iter().map(|removed| removed.file).collect());
    }
    let before = Version::try_new(version.as_i64().saturating_sub(1))?;
    let files = match Snapshot::load(Arc::clone(location), Some(before), options).await {
        Ok(snapshot) => snapshot.files(None).await?.0,
        // What is NULL may be left out, so that a file whose other values are there is whole.
        Err(_) if removes.iter().all(|removed| removed.has_values) => Files::default(),
        Err(error) => return Err(error),
    };
    let mut known: HashMap<LogicalFileKey<'_>, (usize, usize)> = HashMap::new();
    for (index, batch) in files.batches.iter().enumerate() {
        for row in 0..batch.len() {
            known.insert(
                LogicalFileKey::new(batch.adds.path.value(row), None),
                (index, row),
            );
        }
    }
    let filled = removes.into_iter().map(|removed| {
        let mut file = removed.file;
        if !lacks(&file) {
            return file;
        }
        let place = known.get(&LogicalFileKey::new(&file.path, None)).copied();
        if let Some((index, row)) = place
            && let Some(batch) = files.batches.get(index)
        {
            file.partition_values = values_of_row(&batch.adds.partition_values, row);
        } else if removed.has_values {
            for name in &names {
                file.partition_values.entry((*name).to_owned()).or_default();
            }
        }
        file
    });
    Ok(filled.collect())
}
