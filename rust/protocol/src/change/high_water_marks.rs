//! The last values of identity columns, which are recorded in the schema.
//!
//! Protocol: *Identity Columns*.

use serde_json::Value;

use crate::{Result, TableConfiguration};

/// Returns the configuration of a table with other high-water marks of identity columns.
///
/// # Errors
///
/// `UnsupportedFeature` if the schema contains a spelling of a type that would be lost.
///
/// ```
/// use deltaic_protocol::TableConfiguration;
/// use deltaic_protocol::actions::{Metadata, Protocol};
/// use deltaic_protocol::change::with_high_water_marks;
/// let protocol: Protocol = serde_json::from_str(r#"{"minReaderVersion":1,"minWriterVersion":6}"#)?;
/// let metadata: Metadata = serde_json::from_str(
///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],"configuration":{},
///         "schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"delta.identity.start\":1,\"delta.identity.step\":1,\"delta.identity.allowExplicitInsert\":false}}]}"}"#,
/// )?;
/// let table = TableConfiguration::new(protocol, metadata);
/// let after = with_high_water_marks(&table, &[("id".to_owned(), 7)])?;
/// assert_eq!(after.schema()?.fields[0].identity()?.and_then(|identity| identity.high_water_mark), Some(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn with_high_water_marks(
    table: &TableConfiguration,
    marks: &[(String, i64)],
) -> Result<TableConfiguration> {
    let mut schema = table.schema_copy()?;
    for (name, mark) in marks {
        if let Some(field) = schema.fields.iter_mut().find(|field| field.name == *name) {
            let key = "delta.identity.highWaterMark".to_owned();
            field.metadata.insert(key, Value::from(*mark));
        }
    }
    let mut after = table.clone();
    after.set_schema(&schema)?;
    Ok(after)
}
