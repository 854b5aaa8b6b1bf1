//! Changes the schema of a table as the rows to write require: in the commit of the rows.
//!
//! Protocol: *Change Metadata*, *Column Mapping*, *Type Widening*, *Identity Columns*.

use arrow_schema::{DataType, Field, Schema};
use deltaic_log::transaction::{Staging, stage_changes};
use deltaic_protocol::change::{ChangeContext, TableChange, with_high_water_marks, with_schema};
use deltaic_protocol::schema::{StructType, schema_from_arrow};
use deltaic_protocol::{Error, ErrorKind, Result, TableConfiguration};
use deltaic_storage::clock::{new_id, now_ms};

use super::TableTransaction;
use super::merged_schema::{Widens, merged_schema};
use crate::write::is_index_without_name;

/// What happens to the schema of the table if the rows to write have other columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SchemaMode {
    /// It remains: other columns are an error.
    #[default]
    Keep,
    /// New columns and fields are added, and types are widened if the table allows it.
    Merge,
    /// It is replaced by that of the rows, if they replace all rows; with other partition columns if given.
    Replace(Option<Vec<String>>),
}

impl SchemaMode {
    /// The name of the mode, as [`SchemaMode::parse`] takes it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Merge => "merge",
            Self::Replace(_) => "replace",
        }
    }

    /// Parses the `schema_mode` option, with the partition columns for `replace`.
    ///
    /// # Errors
    ///
    /// `ValueError` for another name, or for partition columns with another mode.
    pub fn parse(name: &str, partition_by: Option<Vec<String>>) -> Result<Self> {
        let invalid = |what: String, hint: &str| Err(Error::new(ErrorKind::InvalidArgument, what).hint(hint));
        match (name, partition_by) {
            ("replace", partition_by) => Ok(Self::Replace(partition_by)),
            ("keep" | "merge", Some(_)) => invalid(
                "partition_by changes the table: it requires schema_mode=\"replace\"".to_owned(),
                "the new rows are written to the partitions that the table has",
            ),
            ("keep", None) => Ok(Self::Keep),
            ("merge", None) => Ok(Self::Merge),
            (other, _) => invalid(
                format!("schema_mode may not be {other:?}"),
                "it is \"keep\", \"merge\" or, for an overwrite, \"replace\"",
            ),
        }
    }
}

impl TableTransaction {
    /// The configuration with all staged changes, which new files are written for.
    pub(crate) fn configuration(&self) -> TableConfiguration {
        self.staged.proposal.applied_to(self.snapshot.configuration())
    }

    /// Stages the change of the schema that rows require.
    ///
    /// # Errors
    ///
    /// `SchemaMismatch` with the `field` if the schema cannot change so; those of
    /// [`deltaic_log::transaction::alter`], except those of the commit.
    pub(crate) fn evolve(&mut self, incoming: &Schema, mode: &SchemaMode) -> Result<()> {
        match mode {
            SchemaMode::Keep => Ok(()),
            SchemaMode::Merge => self.merge_schema(incoming),
            SchemaMode::Replace(partition_by) => self.replace_schema(incoming, partition_by.as_deref()),
        }
        .map_err(|error| self.located(error))
    }

    /// The same for the columns of rows that are not Arrow data here.
    pub(crate) fn evolve_to(&mut self, columns: &StructType, mode: &SchemaMode) -> Result<()> {
        match mode {
            SchemaMode::Keep => Ok(()),
            SchemaMode::Merge => self.merge_columns(columns),
            SchemaMode::Replace(partition_by) => {
                self.replace_columns(columns.clone(), partition_by.as_deref())
            }
        }
        .map_err(|error| self.located(error))
    }

    fn merge_schema(&mut self, incoming: &Schema) -> Result<()> {
        let known = self.configuration().schema()?;
        ensure_named(incoming, &known)?;
        // Data without a type does not specify the type of a column.
        let has_no_type =
            |field: &Field| known.field_ignoring_case(field.name()).is_some() && has_null(field.data_type());
        let typed = incoming.fields().iter().filter(|field| !has_no_type(field));
        let typed = Schema::new(typed.cloned().collect::<Vec<_>>());
        self.merge_columns(&schema_from_arrow(&typed)?)
    }

    fn merge_columns(&mut self, columns: &StructType) -> Result<()> {
        let changes = merged_schema(&self.configuration(), columns, Widens::NoIntegerToFraction)?;
        self.stage_schema(&changes)
    }

    /// Stages changes of the schema that written rows require.
    pub(crate) fn stage_schema(&mut self, changes: &[TableChange]) -> Result<()> {
        let (mut read, mut proposal) = (self.staged.read.clone(), self.staged.proposal.clone());
        let mut staging = Staging {
            snapshot: &self.snapshot,
            read: &mut read,
            proposal: &mut proposal,
        };
        stage_changes(&mut staging, changes)?;
        let after = proposal.applied_to(self.snapshot.configuration());
        if after != self.configuration() {
            (self.staged.read, self.staged.proposal) = (read, proposal);
            self.staged.evolved = Some(after);
        }
        Ok(())
    }

    fn replace_schema(&mut self, incoming: &Schema, partition_by: Option<&[String]>) -> Result<()> {
        ensure_named(incoming, &StructType::default())?;
        self.replace_columns(schema_from_arrow(incoming)?, partition_by)
    }

    fn replace_columns(&mut self, columns: StructType, partition_by: Option<&[String]>) -> Result<()> {
        let mut context = ChangeContext {
            version: self.snapshot.version().next()?,
            timestamp_ms: now_ms(),
            new_id: &mut new_id,
        };
        let after = with_schema(&self.configuration(), columns, partition_by, &mut context)?;
        self.stage_configuration(after);
        Ok(())
    }

    /// Stages the last values of identity columns.
    pub(crate) fn stage_high_water_marks(&mut self, marks: &[(String, i64)]) -> Result<()> {
        if !marks.is_empty() {
            let after = with_high_water_marks(&self.configuration(), marks)?;
            self.stage_configuration(after);
        }
        Ok(())
    }

    pub(crate) fn stage_configuration(&mut self, after: TableConfiguration) {
        let actions = after.actions_since(self.snapshot.configuration());
        self.staged.proposal.protocol = actions.protocol;
        self.staged.proposal.metadata = actions.metadata;
        self.staged.proposal.domains = actions.domains;
        self.staged.evolved = Some(after);
    }
}

/// Whether a type or a part of it has only the value NULL.
fn has_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            has_null(item.data_type())
        }
        DataType::Struct(fields) => fields.iter().any(|field| has_null(field.data_type())),
        _ => false,
    }
}

/// Verifies that no new column is the index of a pandas frame without a name.
fn ensure_named(incoming: &Schema, table: &StructType) -> Result<()> {
    let is_new = |name: &str| table.field_ignoring_case(name).is_none();
    let mut names = incoming.fields().iter().map(|field| field.name());
    match names.find(|name| is_index_without_name(name) && is_new(name)) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::SchemaMismatch,
            format!("{name} is the index of a pandas frame, which has no name"),
        )
        .with("field", name.as_str())
        .hint("call df.reset_index(drop=True) first, or name the index")),
    }
}
