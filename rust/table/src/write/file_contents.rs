//! What the rows of a written file are, and the columns and folder that follow from it.

use deltaic_protocol::row_tracking::MaterializedColumns;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};

use crate::changes::CHANGE_TYPE;

/// The folder of change data files.
const CHANGE_DATA: &str = "_change_data";

/// What the rows of a written file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileContents {
    /// New rows of the table.
    Rows,
    /// New rows of the table from another engine, which has evaluated the expressions of the table: the rows satisfy its
    /// conditions, and have the values of its defaults and generated columns.
    EvaluatedRows,
    /// Rows that are copied from other files; if rows have ids, with their row ids and row commit versions in these
    /// columns.
    CopiedRows(Option<MaterializedColumns>),
    /// New versions of rows, with the same columns.
    UpdatedRows(Option<MaterializedColumns>),
    /// Rows that a commit changed, with the type of the change.
    ///
    /// Protocol: *Add CDC File*.
    Changes,
}

impl FileContents {
    /// The table's schema with the columns that only these files have.
    pub(super) fn with_own_columns(&self, schema: &StructType) -> StructType {
        let mut schema = schema.clone();
        schema.fields.extend(self.own_columns());
        schema
    }

    /// The columns that only these files have.
    pub(crate) fn own_columns(&self) -> Vec<StructField> {
        let field = |name: &str, data_type| StructField::new(name, DataType::Primitive(data_type), true);
        match self {
            Self::Rows | Self::EvaluatedRows | Self::CopiedRows(None) | Self::UpdatedRows(None) => Vec::new(),
            Self::CopiedRows(Some(columns)) | Self::UpdatedRows(Some(columns)) => {
                [&columns.row_id, &columns.row_commit_version]
                    .map(|name| field(name, PrimitiveType::Long))
                    .into()
            }
            Self::Changes => vec![field(CHANGE_TYPE, PrimitiveType::String)],
        }
    }

    /// The names of the columns with the row ids and the row commit versions.
    pub(super) fn row_tracking_columns(&self) -> Vec<&str> {
        match self {
            Self::CopiedRows(Some(columns)) | Self::UpdatedRows(Some(columns)) => {
                vec![&columns.row_id, &columns.row_commit_version]
            }
            Self::Rows
            | Self::EvaluatedRows
            | Self::CopiedRows(None)
            | Self::UpdatedRows(None)
            | Self::Changes => Vec::new(),
        }
    }

    /// Whether the expressions of the table are evaluated for the rows: its conditions and generated columns. Copied rows
    /// are in the table already.
    pub(super) fn are_evaluated_here(&self) -> bool {
        matches!(self, Self::Rows | Self::UpdatedRows(_))
    }

    /// Whether text in the rows gets the form that the table stores.
    pub(super) fn have_given_text(&self) -> bool {
        self.are_evaluated_here() || *self == Self::EvaluatedRows
    }

    /// Whether identity columns of the rows get their values.
    pub(super) fn get_identities(&self) -> bool {
        matches!(self, Self::Rows | Self::EvaluatedRows)
    }

    /// Whether the log has statistics of the files.
    pub(super) fn has_statistics(&self) -> bool {
        *self != Self::Changes
    }

    /// Returns the folder of a file, given the folder of its partition.
    pub(super) fn folder(&self, partition: &str) -> String {
        match self {
            Self::Rows | Self::EvaluatedRows | Self::CopiedRows(_) | Self::UpdatedRows(_) => {
                partition.to_owned()
            }
            Self::Changes if partition.is_empty() => CHANGE_DATA.to_owned(),
            Self::Changes => format!("{CHANGE_DATA}/{partition}"),
        }
    }

    /// The start of a file's name.
    pub(super) fn file_kind(&self) -> &'static str {
        match self {
            Self::Rows | Self::EvaluatedRows | Self::CopiedRows(_) | Self::UpdatedRows(_) => "part",
            Self::Changes => "cdc",
        }
    }
}
