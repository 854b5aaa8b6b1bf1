//! The `cdc` action: a change data file. Protocol: *Add CDC File*.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::json::describe;
use crate::Result;

/// A file that contains the rows that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cdc {
    /// Path of the file, URI-encoded.
    pub path: String,
    /// Partition values; `None` is NULL.
    pub partition_values: BTreeMap<String, Option<String>>,
    /// Size in bytes.
    pub size: i64,
    /// Always false: a change data file does not change the rows of the table.
    pub data_change: bool,
    /// Tags of the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
}

impl Cdc {
    /// Parses the `cdc` action of a commit line; returns `None` if the line contains another action.
    /// Snapshots ignore change data files, so [`parse_line`](super::parse_line) only reports that there
    /// is one.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the `field` if the action violates its schema.
    ///
    /// ```
    /// use deltaic_protocol::actions::Cdc;
    /// let line = r#"{"cdc":{"path":"_change_data/a.parquet","partitionValues":{},"size":9,"dataChange":false}}"#;
    /// assert_eq!(Cdc::parse_line(line)?.map(|cdc| cdc.size), Some(9));
    /// assert_eq!(Cdc::parse_line(r#"{"commitInfo":{}}"#)?, None);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn parse_line(line: &str) -> Result<Option<Self>> {
        #[derive(Deserialize)]
        struct Named<'a> {
            #[serde(borrow)]
            cdc: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Line {
            cdc: Cdc,
        }
        let named: Named<'_> =
            serde_json::from_str(line).map_err(|error| describe::<Named<'_>>(line, &error))?;
        if named.cdc.is_none() {
            return Ok(None);
        }
        serde_json::from_str(line)
            .map(|line: Line| Some(line.cdc))
            .map_err(|error| describe::<Line>(line, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    const LINE: &str = r#"{"cdc":{"path":"Qn/a%20b","partitionValues":{"p":null},"size":1213,"dataChange":false,"tags":{"k":"v"},"new":1}}"#;

    #[test]
    fn a_change_data_file_is_read_in_full() -> Result<()> {
        let cdc = Cdc::parse_line(LINE)?;
        assert_eq!(
            cdc,
            Some(Cdc {
                path: "Qn/a%20b".to_owned(),
                partition_values: BTreeMap::from([("p".to_owned(), None)]),
                size: 1213,
                data_change: false,
                tags: Some(BTreeMap::from([("k".to_owned(), Some("v".to_owned()))])),
            })
        );
        Ok(())
    }

    #[test]
    fn a_schema_violation_names_the_field() {
        for (from, to, field) in [
            ("\"size\":1213", "\"size\":\"1213\"", "cdc.size"),
            ("\"size\":1213,", "", "cdc"),
            ("{\"p\":null}", "{\"p\":3}", "cdc.partitionValues.p"),
        ] {
            let error = Cdc::parse_line(&LINE.replacen(from, to, 1)).err();
            assert!(
                error.as_ref().is_some_and(|error| {
                    error.kind() == ErrorKind::CorruptLog
                        && error.context().contains(&("field", field.into()))
                }),
                "{error:?}"
            );
        }
        assert!(Cdc::parse_line("").is_err());
    }
}
