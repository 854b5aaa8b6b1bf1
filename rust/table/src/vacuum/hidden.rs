//! Which files of the table's folder do not belong to its data: the log, and what other tools keep in hidden folders.

use deltaic_log::Snapshot;
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::iceberg_compat::has_iceberg_metadata;
use deltaic_protocol::log_path::LOG_FOLDER;

/// Prefixes of folders with files of the table: change data, and the indexes of delta-spark.
const OF_TABLE: [&str; 2] = ["_change_data", "_delta_index"];
/// The folder in which clients keep Iceberg metadata of the same data files.
const ICEBERG_METADATA: &str = "metadata";

/// The rule that determines hidden files.
#[derive(Clone, Debug, Default)]
pub(super) struct Hidden {
    /// The partition columns' names with `=`: their folders are not hidden.
    partitions: Vec<String>,
    /// Whether clients write Iceberg metadata for the table, in folders of any depth.
    has_iceberg_metadata: bool,
}

impl Hidden {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mode = snapshot.column_mapping();
        let names = snapshot
            .partition_fields()
            .into_iter()
            .flat_map(|field| [field.name.as_str(), name_in_log(field, mode)].map(|name| format!("{name}=")));
        Self {
            partitions: names.collect(),
            has_iceberg_metadata: has_iceberg_metadata(snapshot.metadata()),
        }
    }

    /// Whether a file or folder, given relative to the root, is hidden or in a hidden folder.
    pub(super) fn hides(&self, relative: &str) -> bool {
        let mut parts = relative.split('/').enumerate();
        // Without the property, metadata of an earlier time may be left at the top.
        parts.any(|(depth, part)| match part {
            ICEBERG_METADATA => self.has_iceberg_metadata || depth == 0,
            _ => self.is_hidden(part),
        })
    }

    fn is_hidden(&self, part: &str) -> bool {
        part.starts_with(['.', '_'])
            && !OF_TABLE.iter().any(|prefix| part.starts_with(prefix))
            && !self
                .partitions
                .iter()
                .any(|column| part.starts_with(column.as_str()))
    }
}

/// The folder of another table inside of this one, if a path relative to the root names its log.
pub(super) fn inner_table(relative: &str) -> Option<&str> {
    let log = format!("/{LOG_FOLDER}");
    let (root, below) = relative.split_once(&log)?;
    (below.is_empty() || below.starts_with('/')).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_partitions_and_change_data_are_not_hidden() {
        let hidden = Hidden {
            partitions: vec!["_day=".to_owned()],
            has_iceberg_metadata: false,
        };
        let with_iceberg = Hidden {
            has_iceberg_metadata: true,
            ..hidden.clone()
        };
        assert!(with_iceberg.hides("x/metadata/v1.metadata.json"));
        for (path, expected) in [
            ("a.parquet", false),
            ("_day=1/a.parquet", false),
            ("_change_data/cdc.parquet", false),
            ("_day=1/_change_data/cdc.parquet", false),
            ("_delta_log/0.json", true),
            ("_delta_log", true),
            ("_hour=1/a.parquet", true),
            ("_change_data_of_others/a", false),
            ("_delta_index_1/a", false),
            ("x/_spark_metadata/0", true),
            (".a.parquet.crc", true),
            ("x/.hidden/a", true),
            ("_symlink_format_manifest/manifest", true),
            ("metadata/v1.metadata.json", true),
            ("x/metadata/a.parquet", false),
        ] {
            assert_eq!(hidden.hides(path), expected, "{path}");
        }
    }

    #[test]
    fn inner_tables_are_known_by_their_logs() {
        for (path, expected) in [
            ("x/_delta_log/0.json", Some("x")),
            ("x/y/_delta_log/0.json", Some("x/y")),
            ("_delta_log/0.json", None),
            ("x/_delta_logs/0.json", None),
            ("x/_delta_log", Some("x")),
            ("x/a.parquet", None),
        ] {
            assert_eq!(inner_table(path), expected, "{path}");
        }
    }
}
