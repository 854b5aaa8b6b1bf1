//! The partition values that the names of folders contain: `day=2026-11-01/city=Oslo`.
//!
//! Protocol: *Data Files*, *Partition Value Serialization*.

use std::collections::BTreeMap;

use deltaic_protocol::partition::{HIVE_NULL, parse_value};
use deltaic_protocol::path_encoding::decode_path;
use deltaic_protocol::schema::{DataType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// The partition columns of a folder.
pub(super) struct PartitionFolders {
    columns: Vec<StructField>,
}

impl PartitionFolders {
    /// # Errors
    ///
    /// `InvalidArgument` for a column whose type is not primitive, or that is named twice.
    pub(super) fn try_new(schema: &StructType) -> Result<Self> {
        for (at, field) in schema.fields.iter().enumerate() {
            let before = schema.fields.iter().take(at);
            if !matches!(field.data_type, DataType::Primitive(_))
                || before
                    .into_iter()
                    .any(|other| other.name.to_lowercase() == field.name.to_lowercase())
            {
                let what = format!(
                    "{} cannot be a partition column of type {}",
                    field.name, field.data_type
                );
                return Err(Error::new(ErrorKind::InvalidArgument, what).with("field", field.name.as_str()));
            }
        }
        let columns = schema.fields.iter().map(|field| StructField {
            nullable: true,
            ..field.clone()
        });
        Ok(Self {
            columns: columns.collect(),
        })
    }

    /// Whether a column is a partition column.
    pub(super) fn has(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.columns
            .iter()
            .any(|column| column.name.to_lowercase() == name)
    }

    /// Appends the partition columns to a schema, and returns their names.
    pub(super) fn add_columns(&self, schema: &mut StructType) -> Vec<String> {
        let names = self.columns.iter().map(|column| column.name.clone()).collect();
        schema.fields.extend(self.columns.iter().cloned());
        names
    }

    /// The partition values of a file, by its path relative to the root.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if its folders are not those of the partition columns, in their order; `SchemaMismatch` with the
    /// `field` if a value is not one of the column's type.
    pub(super) fn values_of(&self, relative: &str) -> Result<BTreeMap<String, Option<String>>> {
        let folders = relative.rsplit_once('/').map_or("", |(folders, _)| folders);
        let found: Vec<(String, &str)> = folders
            .split('/')
            .filter_map(|folder| folder.split_once('='))
            .map(|(name, value)| Ok((decode_path(name)?, value)))
            .collect::<Result<_>>()?;
        let is_named = |(column, (name, _)): (&StructField, &(String, &str))| {
            column.name.to_lowercase() == name.to_lowercase()
        };
        if found.len() != self.columns.len() || !self.columns.iter().zip(&found).all(is_named) {
            return Err(self.other_folders(&found));
        }
        let values = self.columns.iter().zip(&found);
        values
            .map(|(column, (_, text))| Ok((column.name.clone(), value_of(column, text)?)))
            .collect()
    }

    fn other_folders(&self, found: &[(String, &str)]) -> Error {
        let shown = |names: Vec<&str>| match names.is_empty() {
            true => "nothing".to_owned(),
            false => names.join(", "),
        };
        let columns = shown(self.columns.iter().map(|column| column.name.as_str()).collect());
        let folders = shown(found.iter().map(|(name, _)| name.as_str()).collect());
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the partition schema has {columns}, but the file is in folders of {folders}"),
        )
        .hint("pass the columns of the folders with their types as partition_schema, outermost first")
    }
}

/// The value of a folder, in the serialization of the log.
fn value_of(column: &StructField, text: &str) -> Result<Option<String>> {
    let decoded = decode_path(text)?;
    if decoded == HIVE_NULL {
        return Ok(None);
    }
    let located = |what: String| {
        Error::new(ErrorKind::SchemaMismatch, what)
            .with("field", column.name.as_str())
            .hint("correct the type in partition_schema; a string can have every value")
    };
    let wrong = || {
        located(format!(
            "the partition value {decoded:?} is not a {}",
            column.data_type
        ))
    };
    let value = parse_value(column, Some(&decoded)).map_err(|_| wrong())?;
    // An empty value would be NULL, which has a folder of its own.
    let value = value.ok_or_else(|| located("a partition folder has an empty value".to_owned()))?;
    value.to_partition_text().map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaic_protocol::schema::PrimitiveType;

    fn folders(columns: &[(&str, PrimitiveType)]) -> Result<PartitionFolders> {
        let fields = columns
            .iter()
            .map(|(name, of)| StructField::new(*name, (*of).into(), false));
        PartitionFolders::try_new(&StructType {
            fields: fields.collect(),
        })
    }

    #[test]
    fn values_are_decoded_and_typed() -> Result<()> {
        let two = folders(&[("N", PrimitiveType::Integer), ("_s", PrimitiveType::String)])?;
        for (path, n, s) in [
            ("n=1/_s=a%2Fb%20c/x.parquet", Some("1"), Some("a/b c")),
            ("n=01/_s=%C3%BC/x.parquet", Some("1"), Some("ü")),
            ("plain/n=-7/_s=a=b/more/x=y.parquet", Some("-7"), Some("a=b")),
            (
                "n=__HIVE_DEFAULT_PARTITION__/_s=__HIVE_DEFAULT_PARTITION__/x",
                None,
                None,
            ),
        ] {
            let values = two.values_of(path)?;
            assert_eq!(values.get("N").and_then(Option::as_deref), n, "{path}");
            assert_eq!(values.get("_s").and_then(Option::as_deref), s, "{path}");
            assert_eq!(values.len(), 2);
        }
        for (path, kind) in [
            ("n=x/_s=a/x.parquet", ErrorKind::SchemaMismatch),
            ("n=1.5/_s=a/x.parquet", ErrorKind::SchemaMismatch),
            ("n=/_s=a/x.parquet", ErrorKind::SchemaMismatch),
            ("n=1/x.parquet", ErrorKind::InvalidArgument),
            ("_s=a/n=1/x.parquet", ErrorKind::InvalidArgument),
            ("n=1/_s=a/z=1/x.parquet", ErrorKind::InvalidArgument),
            ("x.parquet", ErrorKind::InvalidArgument),
        ] {
            assert_eq!(
                two.values_of(path).err().map(|error| error.kind()),
                Some(kind),
                "{path}"
            );
        }
        assert_eq!(folders(&[])?.values_of("plain/x=y.parquet")?.len(), 0);
        assert!(folders(&[])?.values_of("n=1/x.parquet").is_err());
        assert!(folders(&[("a", PrimitiveType::Date), ("A", PrimitiveType::Date)]).is_err());
        Ok(())
    }
}
