//! A file that is written again with new values of some columns: the chunks of the others are copied as they are encoded.

use arrow_array::RecordBatch;
use deltaic_protocol::actions::Add;
use deltaic_protocol::{Error, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::parquet_writer::EncodedChunk;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::file::metadata::ParquetMetaData;
use parquet::schema::types::SchemaDescriptor;

use crate::read::{Footer, damaged, with_page_index};
use crate::write::encode::variant_annotation::parquet_schema;
use crate::write::plan::WritePlan;
use crate::write::sizes::weight;

/// A file that is being written again. The rows of the new file have the places of those in this one.
pub(in crate::write) struct CopySource {
    footer: Footer,
    shown: String,
    /// For each column of the new file, whether its chunks are copied.
    pub(in crate::write) is_copied: Vec<bool>,
    /// The leaves of the source whose chunks are copied, in the order of the new file.
    leaves: Vec<usize>,
    /// The row group in progress, and the number of its rows that were written.
    group: usize,
    rows: usize,
}

impl CopySource {
    /// Opens a file whose rows keep the values of some columns of the new file. Returns `None` if no chunk can be copied
    /// within this memory.
    ///
    /// # Errors
    ///
    /// `StorageError`, `CorruptData`.
    pub(in crate::write) async fn open(
        location: &TableLocation,
        plan: &WritePlan,
        add: &Add,
        is_kept: &[bool],
        memory: usize,
    ) -> Result<Option<Self>> {
        let (store, path) = (location.store().clone(), location.resolve(&add.path)?);
        let shown = add.path.clone();
        let mut footer = Footer::fetch(store, path, add.size, &shown).await?;
        let about = footer.metadata.file_metadata();
        let target = parquet_schema(&plan.file_schema);
        let Ok(target) = target.as_ref() else {
            return Ok(None);
        };
        if !is_trusted(about.created_by().unwrap_or_default()) {
            return Ok(None);
        }
        let (is_copied, leaves) = copied(target, about.schema_descr(), is_kept);
        let is_whole = is_copied.iter().all(|is_copied| *is_copied);
        if leaves.is_empty() || is_whole || largest(&footer.metadata, &leaves) > memory {
            return Ok(None);
        }
        let groups: Vec<usize> = (0..footer.metadata.num_row_groups()).collect();
        footer.metadata = with_page_index(
            &mut footer.file,
            &footer.metadata,
            &groups,
            &leaves,
            &leaves,
            &shown,
        )
        .await?;
        let mut copy = Self {
            footer,
            shown,
            is_copied,
            leaves,
            group: 0,
            rows: 0,
        };
        copy.skip_empty_groups();
        Ok(Some(copy))
    }

    /// The number of rows until the row group in progress ends.
    pub(in crate::write) fn left(&self) -> usize {
        self.rows_of_group().saturating_sub(self.rows)
    }

    /// What the columns that are encoded take in the largest row group, if their other values are like those of some rows.
    pub(in crate::write) fn encoded_bytes(&self, rows: &RecordBatch) -> usize {
        let columns = rows.columns().iter().zip(&self.is_copied);
        let encoded = columns.filter(|(_, is_copied)| !**is_copied);
        let bytes: usize = encoded.map(|(column, _)| weight(column)).sum();
        let groups = self.footer.metadata.row_groups().iter();
        let most = groups.map(|group| group.num_rows()).max().unwrap_or(0);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        (bytes / rows.num_rows().max(1)).saturating_mul(most)
    }

    fn rows_of_group(&self) -> usize {
        let group = self.footer.metadata.row_groups().get(self.group);
        group.map_or(0, |group| usize::try_from(group.num_rows()).unwrap_or(0))
    }

    /// Counts rows that were written. Returns the chunks of the row group if that ends.
    ///
    /// # Errors
    ///
    /// `StorageError`, `CorruptData`.
    pub(in crate::write) async fn advance(&mut self, rows: usize) -> Result<Option<Vec<EncodedChunk>>> {
        self.rows += rows;
        if self.left() > 0 {
            return Ok(None);
        }
        let (group, file) = (self.group, &self.footer.metadata);
        let missing = || Error::internal("a row group lacks a column").with("path", self.shown.as_str());
        let ranges = self
            .leaves
            .iter()
            .map(|leaf| EncodedChunk::range(file, group, *leaf));
        let ranges: Option<Vec<_>> = ranges.collect();
        let bytes = self
            .footer
            .file
            .get_byte_ranges(ranges.ok_or_else(missing)?)
            .await;
        let bytes = bytes.map_err(|error| damaged(&error, &self.shown))?;
        let chunks = self.leaves.iter().zip(bytes);
        let chunks = chunks.map(|(leaf, bytes)| EncodedChunk::of(file, group, *leaf, bytes));
        let chunks: Option<Vec<EncodedChunk>> = chunks.collect();
        let chunks = chunks.ok_or_else(missing)?;
        self.group += 1;
        self.rows = 0;
        self.skip_empty_groups();
        Ok(Some(chunks))
    }

    fn skip_empty_groups(&mut self) {
        while self.group < self.footer.metadata.num_row_groups() && self.rows_of_group() == 0 {
            self.group += 1;
        }
    }

    /// Verifies that all rows of the source were written.
    ///
    /// # Errors
    ///
    /// `Internal` otherwise.
    pub(in crate::write) fn ensure_whole(&self) -> Result<()> {
        match self.group == self.footer.metadata.num_row_groups() && self.rows == 0 {
            true => Ok(()),
            false => {
                Err(Error::internal("a file was not copied to its end").with("path", self.shown.as_str()))
            }
        }
    }
}

/// Whether the statistics that a writer records of chunks are correct for every type: readers trust those of deltaic, and
/// ignore some of older writers.
fn is_trusted(writer: &str) -> bool {
    let parquet_mr = writer.strip_prefix("parquet-mr version 1.1");
    let is_new = parquet_mr.is_some_and(|minor| minor.starts_with(|digit: char| digit.is_ascii_digit()));
    is_new || writer.starts_with("deltaic ")
}

/// For each column of the new file, whether its chunks are copied: if rows keep their values, and the source has the
/// column with the same type; and the leaves of the source that are copied.
fn copied(target: &SchemaDescriptor, source: &SchemaDescriptor, is_kept: &[bool]) -> (Vec<bool>, Vec<usize>) {
    let (new, old) = (
        target.root_schema().get_fields(),
        source.root_schema().get_fields(),
    );
    let same = |index: usize| old.iter().position(|field| Some(field) == new.get(index));
    let kept = |index: usize| is_kept.get(index) == Some(&true);
    let roots: Vec<Option<usize>> = (0..new.len())
        .map(|index| same(index).filter(|_| kept(index)))
        .collect();
    let leaves = roots.iter().flatten().flat_map(|root| {
        let leaves = 0..source.num_columns();
        leaves.filter(|leaf| source.get_column_root_idx(*leaf) == *root)
    });
    (roots.iter().map(Option::is_some).collect(), leaves.collect())
}

/// The most bytes of copied chunks in a row group.
fn largest(file: &ParquetMetaData, leaves: &[usize]) -> usize {
    let of_group = (0..file.num_row_groups()).map(|group| {
        let ranges = leaves
            .iter()
            .filter_map(|leaf| EncodedChunk::range(file, group, *leaf));
        ranges.map(|range| range.end - range.start).sum::<u64>()
    });
    usize::try_from(of_group.max().unwrap_or(0)).unwrap_or(usize::MAX)
}
