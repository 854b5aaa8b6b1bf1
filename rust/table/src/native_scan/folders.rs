//! Checks whether files are in Hive-style partition folders: then Spark can derive the values itself, and prune files
//! by its own filters.
//!
//! Spark decodes and casts folder names, not always as the protocol does. So only values are accepted whose text is not
//! affected by either.

use std::collections::BTreeMap;

use deltaic_log::Snapshot;
use deltaic_protocol::column_mapping::name_in_log;
use deltaic_protocol::schema::{DataType, PrimitiveType};

/// The partition folders of a table's files, outermost first.
pub(super) struct Folders {
    /// Names of partition columns in the log, and the kind of their values.
    columns: Vec<(String, Spelling)>,
}

#[derive(Clone, Copy)]
enum Spelling {
    Text,
    WholeNumber,
    Date,
}

impl Folders {
    /// `None` if the table is not partitioned, or by columns that Spark could read as another value.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        if !is_table_without_meaning(snapshot.location().uri()) {
            return None;
        }
        let names = &snapshot.metadata().partition_columns;
        let columns = names.iter().map(|name| {
            let field = snapshot.schema().field(name)?;
            let in_log = name_in_log(field, snapshot.column_mapping());
            let DataType::Primitive(data_type) = &field.data_type else {
                return None;
            };
            let spelling = match data_type {
                PrimitiveType::String => Spelling::Text,
                PrimitiveType::Byte | PrimitiveType::Short | PrimitiveType::Integer | PrimitiveType::Long => {
                    Spelling::WholeNumber
                }
                PrimitiveType::Date => Spelling::Date,
                _ => return None,
            };
            is_plain(in_log).then(|| (in_log.to_owned(), spelling))
        });
        let columns = columns.collect::<Option<Vec<_>>>()?;
        (!columns.is_empty()).then_some(Self { columns })
    }

    /// Whether the folders of a file, as in the log, spell exactly its partition values.
    pub(super) fn spell(&self, log_path: &str, values: &BTreeMap<String, Option<String>>) -> bool {
        let Some((folders, _)) = log_path.rsplit_once('/') else {
            return false;
        };
        let mut folders = folders.split('/');
        let spelled = self.columns.iter().all(|(name, spelling)| {
            let Some(Some(value)) = values.get(name) else {
                return false;
            };
            let folder = folders.next().and_then(|folder| folder.split_once('='));
            spelling.is_of(value) && folder == Some((name.as_str(), value.as_str()))
        });
        spelled && folders.next().is_none()
    }
}

impl Spelling {
    fn is_of(self, value: &str) -> bool {
        match self {
            Self::Text => is_plain(value) && value != "__HIVE_DEFAULT_PARTITION__",
            Self::WholeNumber => {
                let digits = value.strip_prefix('-').unwrap_or(value);
                let is_canonical = digits == "0" && value == digits || !digits.starts_with('0');
                !digits.is_empty() && is_canonical && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Self::Date => {
                let bytes = value.as_bytes();
                let is_digit_or_dash = bytes.iter().enumerate().all(|(place, byte)| match place {
                    4 | 7 => *byte == b'-',
                    _ => byte.is_ascii_digit(),
                });
                bytes.len() == 10 && is_digit_or_dash
            }
        }
    }
}

/// Whether the path of the table does not affect Spark: it also looks for partition values in the folders above the
/// table, and skips files in one named `_temporary`.
fn is_table_without_meaning(uri: &str) -> bool {
    let mut folders = uri.split('/');
    !uri.contains(['=', '%']) && !folders.any(|folder| folder.eq_ignore_ascii_case("_temporary"))
}

/// Whether a text has no character that any writer encodes, and is not a relative path.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !text.is_empty() && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spells(log_path: &str, values: &[(&str, Option<&str>)]) -> bool {
        let folders = Folders {
            columns: vec![
                ("p".to_owned(), Spelling::Text),
                ("n".to_owned(), Spelling::WholeNumber),
            ],
        };
        let values = values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
        folders.spell(log_path, &values.collect())
    }

    #[test]
    fn folders_are_the_values_or_they_are_not_believed() {
        let values = [("p", Some("a-1.b_C")), ("n", Some("7"))];
        assert!(spells("p=a-1.b_C/n=7/x.parquet", &values));
        for path in [
            "x.parquet",
            "p=a-1.b_C/x.parquet",
            "n=7/p=a-1.b_C/x.parquet",
            "p=a-1.b_C/n=8/x.parquet",
            "P=a-1.b_C/n=7/x.parquet",
            "p=a-1.b_C/n=7/q=1/x.parquet",
            "p=a-1.b_C/n=7/./x.parquet",
            "./p=a-1.b_C/n=7/x.parquet",
            "/t/p=a-1.b_C/n=7/x.parquet",
            "p%3Da-1.b_C/n=7/x.parquet",
        ] {
            assert!(!spells(path, &values), "{path}");
        }
    }

    #[test]
    fn table_paths_with_a_special_meaning_for_spark() {
        for uri in ["file:///data/t/", "s3://bucket/temporary/_t/"] {
            assert!(is_table_without_meaning(uri), "{uri}");
        }
        for uri in [
            "file:///p=1/t/",
            "file:///a%20b/",
            "file:///data/_temporary/",
            "file:///_Temporary/t/",
        ] {
            assert!(!is_table_without_meaning(uri), "{uri}");
        }
    }

    #[test]
    fn a_value_that_another_client_could_read_otherwise_is_not_taken_from_a_folder() {
        for text in ["ü", "a b", "a%20b", "a:b", "", "__HIVE_DEFAULT_PARTITION__"] {
            let values = [("p", Some(text)), ("n", Some("7"))];
            assert!(!spells(&format!("p={text}/n=7/x"), &values), "{text}");
        }
        for text in ["07", "+7", "-0", "7.0", "", "-", "1e3", " 7"] {
            let values = [("p", Some("a")), ("n", Some(text))];
            assert!(!spells(&format!("p=a/n={text}/x"), &values), "{text}");
        }
        assert!(!spells(
            "p=a/n=__HIVE_DEFAULT_PARTITION__/x",
            &[("p", Some("a")), ("n", None)]
        ));
        for text in ["0", "-7", "120"] {
            let values = [("p", Some("a")), ("n", Some(text))];
            assert!(spells(&format!("p=a/n={text}/x"), &values), "{text}");
        }
    }
}
