//! The clustering columns of a table.
//!
//! Protocol: *Clustered Table*.

use serde::Deserialize;

use crate::actions::DomainMetadata;
use crate::column_mapping::{ColumnMappingMode, logical_path};
use crate::schema::{ColumnName, StructType};
use crate::{Error, ErrorKind, Result};

/// The domain that contains the clustering columns.
pub const DOMAIN: &str = "delta.clustering";

/// The clustering columns in the domain [`DOMAIN`]: paths of names as used in the log, outermost first.
/// Empty if the table has no clustering columns.
///
/// The protocol specifies a list of names, writers use a list of paths; both are accepted.
///
/// ```
/// use deltaic_protocol::actions::DomainMetadata;
/// use deltaic_protocol::clustering::columns_in_log;
/// let domain = DomainMetadata {
///     domain: "delta.clustering".to_owned(),
///     configuration: r#"{"clusteringColumns":[["a"],["s","x"]]}"#.to_owned(),
///     removed: false,
/// };
/// assert_eq!(columns_in_log(&domain)?, [vec!["a"], vec!["s", "x"]]);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn columns_in_log(domain: &DomainMetadata) -> Result<Vec<Vec<String>>> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Column {
        Name(String),
        Path(Vec<String>),
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Configuration {
        clustering_columns: Vec<Column>,
    }
    if domain.removed {
        return Ok(Vec::new());
    }
    let parsed: Configuration = serde_json::from_str(&domain.configuration)
        .map_err(|error| corrupt(format!("the domain {DOMAIN} cannot be read: {error}")))?;
    parsed
        .clustering_columns
        .into_iter()
        .map(|column| match column {
            Column::Name(name) => Ok(vec![name]),
            Column::Path(path) if path.is_empty() => {
                Err(corrupt("a clustering column has no name".to_owned()))
            }
            Column::Path(path) => Ok(path),
        })
        .collect()
}

/// The clustering columns under their logical names.
///
/// # Errors
///
/// Returns `CorruptLog` if the schema does not have a column.
pub fn columns(
    domain: &DomainMetadata,
    schema: &StructType,
    mode: ColumnMappingMode,
) -> Result<Vec<ColumnName>> {
    columns_in_log(domain)?
        .iter()
        .map(|path| {
            let names = logical_path(schema, path, mode).ok_or_else(|| {
                corrupt(format!(
                    "the clustering column {} is not in the schema",
                    path.join(".")
                ))
            })?;
            Ok(ColumnName::from_parts(
                names.into_iter().map(str::to_owned).collect(),
            ))
        })
        .collect()
}

fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .with("field", DOMAIN)
        .hint("the table is readable; its clustering is unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(configuration: &str) -> DomainMetadata {
        DomainMetadata {
            domain: DOMAIN.to_owned(),
            configuration: configuration.to_owned(),
            removed: false,
        }
    }

    #[test]
    fn columns_are_read_in_both_shapes() -> Result<()> {
        let text = domain(r#"{"clusteringColumns":["col-1","a.b"]}"#);
        assert_eq!(columns_in_log(&text)?, [vec!["col-1"], vec!["a.b"]]);
        let files = domain(r#"{"clusteringColumns":[["a"],["s","x"]],"domainName":"delta.clustering"}"#);
        assert_eq!(columns_in_log(&files)?, [vec!["a"], vec!["s", "x"]]);
        assert!(columns_in_log(&domain(r#"{"clusteringColumns":[]}"#))?.is_empty());
        let removed = DomainMetadata {
            removed: true,
            ..text
        };
        assert!(columns_in_log(&removed)?.is_empty());
        for configuration in [
            "",
            "{}",
            r#"{"clusteringColumns":[[]]}"#,
            r#"{"clusteringColumns":[1]}"#,
        ] {
            assert!(columns_in_log(&domain(configuration)).is_err(), "{configuration}");
        }
        Ok(())
    }

    #[test]
    fn physical_names_are_reported_as_users_know_them() -> Result<()> {
        let schema = StructType::from_json(
            r#"{"type":"struct","fields":[{"name":"s","nullable":true,"metadata":{"delta.columnMapping.physicalName":"p-s"},
                "type":{"type":"struct","fields":[{"name":"x.y","type":"long","nullable":true,"metadata":{"delta.columnMapping.physicalName":"p-x"}}]}}]}"#,
        )?;
        let mapped = domain(r#"{"clusteringColumns":[["p-s","p-x"]]}"#);
        let names: Vec<String> = columns(&mapped, &schema, ColumnMappingMode::Name)?
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(names, ["s.`x.y`"]);
        assert!(columns(&mapped, &schema, ColumnMappingMode::None).is_err());
        Ok(())
    }
}
