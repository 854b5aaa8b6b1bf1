//! What a write does to each batch, computed once from the table's configuration.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use deltaic_log::transaction::EmptyPartitionText;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::expr::Predicate;
use deltaic_protocol::features::{ensure_appendable, supports_for_writers};
use deltaic_protocol::file_columns::{shreds_variants, statistics_columns};
use deltaic_protocol::iceberg_compat::ensure_kept;
use deltaic_protocol::properties::{DataFileSettings, IndexedColumns, data_file_settings};
use deltaic_protocol::schema::StructType;
use deltaic_protocol::{Result, TableConfiguration};

use super::conform::{Defaults, Incoming, Missing};
use super::constrain::conditions::Conditions;
use super::constrain::declared_length::DeclaredLengths;
use super::constrain::empty_text::EmptyText;
use super::encode::file_columns::{columns_in_files, positions_in_files};
use super::encode::file_schema::file_schema;
use super::encode::shredding::Shredding;
use super::encode::statistics::FileStatistics;
use super::file_contents::FileContents;
use super::generate::identity::{self, IdentityColumns};
use super::generate::{self, GeneratedColumns};
use super::partition::{PartitionKey, Splitter};
use super::pieces::pieces;
use super::sizes::PIECE_BYTES;
use super::storable::{ensure_storable, ensure_variants_are_listed, without_void};

/// The default target size of data files, if the table has no property for it.
const TARGET_BYTES: u64 = 128 << 20;

/// The length of random folder names of files with mapped columns, as in delta-spark.
const RANDOM_PREFIX: usize = 2;

/// The steps from the rows of a stream to the contents of data files. It is independent of the log: the configuration
/// may be one that is not committed yet.
pub(crate) struct WritePlan {
    incoming: Incoming,
    lengths: DeclaredLengths,
    empty_text: EmptyText,
    /// For new rows, which get the text that the table stores.
    new_rows: Option<EmptyPartitionText>,
    /// The identity columns before any row is written.
    pub(super) identities: IdentityColumns,
    generated: GeneratedColumns,
    conditions: Conditions,
    splitter: Splitter,
    /// The columns that have statistics.
    data_schema: StructType,
    indexed: IndexedColumns,
    mode: ColumnMappingMode,
    /// The columns of the files, under their names there.
    pub(super) file_schema: SchemaRef,
    /// Whether variants are shredded.
    shreds: bool,
    pub(super) contents: FileContents,
    pub(super) form: DataFileSettings,
}

impl WritePlan {
    /// Verifies that a table with this configuration can be written and that data of the schema match it.
    ///
    /// # Errors
    ///
    /// `UnsupportedFeature`, `SchemaMismatch`, `UnsupportedExpression`, `CorruptLog`.
    pub(crate) fn try_new(
        table: &TableConfiguration,
        incoming: &Schema,
        contents: FileContents,
    ) -> Result<Self> {
        ensure_appendable(table)?;
        ensure_kept(table)?;
        let columns = table.schema()?;
        let partition_columns = &table.metadata().partition_columns;
        ensure_storable(&columns, partition_columns)?;
        ensure_variants_are_listed(&columns, table.protocol())?;
        let mut data_schema = without_void(&columns, partition_columns);
        data_schema
            .fields
            .retain(|field| contents.has_statistics() && !partition_columns.contains(&field.name));
        let all = Arc::new(contents.with_own_columns(&columns));
        let schema = without_void(&all, partition_columns);
        let defaults = match supports_for_writers(table.protocol(), "allowColumnDefaults") {
            true => Defaults::Applied,
            false => Defaults::Ignored,
        };
        let mode = table.column_mapping()?;
        let positions = positions_in_files(table, &schema)?;
        let in_files = columns_in_files(table, &contents, &schema, &positions)?;
        let mut form = data_file_settings(table.metadata())?;
        if mode.is_mapped() {
            // Folders do not show the names of columns, which may change.
            form.random_prefix = form.random_prefix.or(Some(RANDOM_PREFIX));
        }
        let missing = Missing {
            defaults,
            generated: match contents.are_evaluated_here() {
                true => generate::names(table, &columns)?,
                false => BTreeSet::new(),
            },
        };
        let incoming = Incoming::with_missing(incoming, &all, partition_columns, &missing)?;
        Ok(Self {
            identities: match contents.get_identities() {
                true => IdentityColumns::try_new(&schema, |name| incoming.has(name))?,
                false => IdentityColumns::default(),
            },
            generated: GeneratedColumns::try_new(&schema, &missing.generated, |name| incoming.has(name))?,
            incoming,
            lengths: DeclaredLengths::of(&schema),
            empty_text: EmptyText::of(&schema, partition_columns),
            new_rows: contents.have_given_text().then(EmptyPartitionText::default),
            conditions: match contents {
                FileContents::Rows | FileContents::UpdatedRows(_) => Conditions::of_table(table, &schema)?,
                // The other engine does not know the values that are generated here.
                FileContents::EvaluatedRows => {
                    Conditions::of_selected(table, &schema, |text| identity::is_named(text, &schema))?
                }
                FileContents::CopiedRows(_) | FileContents::Changes => Conditions::default(),
            },
            splitter: Splitter::try_new(&schema, partition_columns, positions, mode)?,
            file_schema: file_schema(&in_files, mode)?,
            indexed: statistics_columns(table)?,
            shreds: shreds_variants(table)?,
            mode,
            contents,
            data_schema,
            form,
        })
    }

    /// States that the rows are new, and what happens to empty text in partition columns.
    pub(crate) fn expect_new_rows(&mut self, empty_text: EmptyPartitionText) {
        self.new_rows = Some(empty_text);
    }

    /// Requires that every row matches a predicate.
    pub(super) fn require(&mut self, predicate: &Predicate, schema: &StructType) -> Result<()> {
        self.conditions.replace(predicate, schema)
    }

    /// Cuts a batch, so that each step takes bounded memory.
    pub(super) fn pieces(&self, batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> + use<> {
        pieces(batch, PIECE_BYTES, self.incoming.row_bytes())
    }

    /// The schema of completed rows.
    pub(crate) fn completed_schema(&self) -> &SchemaRef {
        self.incoming.arrow()
    }

    /// Converts rows to those that are written, with all columns of the table, generated values included,
    /// and checks them.
    pub(super) fn completed(
        &self,
        rows: &RecordBatch,
        identities: &mut IdentityColumns,
    ) -> Result<RecordBatch> {
        let mut rows = identities.apply(self.incoming.conform(rows)?)?;
        rows = self.as_stored(rows)?;
        if self.generated.are_computed() {
            let computed = self.generated.compute(&rows)?;
            rows = self.as_stored(self.incoming.with_computed(&rows, computed)?)?;
        }
        self.generated.ensure(&rows)?;
        self.conditions.ensure(&rows)?;
        Ok(rows)
    }

    /// Converts new versions of rows to those that are written, and checks them. No identity is generated.
    pub(crate) fn completed_updates(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        self.completed(rows, &mut IdentityColumns::default())
    }

    /// Converts copied rows to those that are written: the table has them already, so they are not checked.
    pub(crate) fn completed_copies(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        self.incoming.conform(rows)
    }

    /// Whether a value that the table has in a column is stored as it is: no text is padded or cut off. No partition value
    /// of the table is empty text.
    pub(crate) fn stores_as_given(&self, column: &str) -> bool {
        !self.lengths.contains(column)
    }

    /// Returns new rows with the text that the table stores: generated values are computed from that.
    fn as_stored(&self, rows: RecordBatch) -> Result<RecordBatch> {
        match self.new_rows {
            None => Ok(rows),
            Some(EmptyPartitionText::Null) => self.empty_text.apply(self.lengths.apply(rows)?),
            Some(_) => self.lengths.apply(rows),
        }
    }

    /// Divides completed rows by partition, with the columns that files have.
    pub(super) fn split(&self, rows: &RecordBatch) -> Result<Vec<(PartitionKey, RecordBatch)>> {
        self.splitter.split(rows)
    }

    /// The target size of files in bytes.
    pub(super) fn target_bytes(&self) -> u64 {
        self.form.target_bytes.unwrap_or(TARGET_BYTES)
    }

    /// Whether variants are shredded.
    pub(super) fn shreds(&self) -> bool {
        self.shreds
    }

    /// Whether rows that keep the values of these columns stay in their partition.
    pub(super) fn keeps_partition(&self, is_kept: &[bool]) -> bool {
        let mut partitions = self.splitter.partition_columns();
        partitions.all(|position| is_kept.get(position) == Some(&true))
    }

    /// Chooses from values of the columns of completed rows those of the columns that files have.
    pub(super) fn in_files(&self, of_rows: &[bool]) -> Vec<bool> {
        let positions = self.splitter.data_columns().iter();
        positions
            .map(|position| of_rows.get(*position) == Some(&true))
            .collect()
    }

    /// The columns of files that have statistics.
    pub(super) fn data_schema(&self) -> &StructType {
        &self.data_schema
    }

    /// Empty statistics of a file.
    pub(super) fn statistics(&self) -> FileStatistics {
        FileStatistics::new(
            &self.data_schema,
            &self.indexed,
            self.form.string_prefix,
            self.mode,
        )
    }

    /// How to shred the variants of a file, chosen from its first rows.
    pub(super) fn shredding(&self, first: &RecordBatch) -> Result<Option<Shredding>> {
        match self.shreds {
            true => Shredding::choose(&self.file_schema, first),
            false => Ok(None),
        }
    }
}
