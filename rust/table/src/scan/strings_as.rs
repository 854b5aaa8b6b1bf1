//! The output form of strings and binary values in a scan.

use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// The output form of columns of strings and binary values. Those in structs, lists and maps are not views.
///
/// ```
/// use deltaic_table::scan::StringsAs;
///
/// assert_eq!(StringsAs::parse("view")?, StringsAs::View);
/// assert!(StringsAs::parse("views").is_err());
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StringsAs {
    /// Arrow's types `utf8` and `binary`: values one after another.
    #[default]
    Utf8,
    /// Arrow's types `utf8_view` and `binary_view`: references to decoded pages of the file.
    View,
}

impl StringsAs {
    /// Parses the name of a form, `utf8` or `view`.
    ///
    /// # Errors
    ///
    /// `ValueError` for another name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "utf8" => Ok(Self::Utf8),
            "view" => Ok(Self::View),
            other => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("strings come as \"utf8\" or as \"view\", not as {other:?}"),
            )),
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the schema of the output.
    pub(crate) fn of_schema(self, schema: Schema) -> Schema {
        if self == Self::Utf8 {
            return schema;
        }
        let fields = schema.fields().iter();
        let fields = fields.map(|field| match self.of_type(field.data_type()) {
            Some(view) => Arc::new(field.as_ref().clone().with_data_type(view)),
            None => Arc::clone(field),
        });
        Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
    }

    /// Returns the type of the output, if it is another one.
    pub(crate) fn of_type(self, data_type: &DataType) -> Option<DataType> {
        match (self, data_type) {
            (Self::View, DataType::Utf8) => Some(DataType::Utf8View),
            (Self::View, DataType::Binary) => Some(DataType::BinaryView),
            _ => None,
        }
    }
}
