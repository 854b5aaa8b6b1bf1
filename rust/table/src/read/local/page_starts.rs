//! Finds the pages of a large row group without a page index, so that several threads can read it.

use std::sync::Arc;

use parquet::column::page::PageReader;
use parquet::errors::Result;
use parquet::file::serialized_reader::SerializedPageReader;

use super::pages::{FilePages, Source};
use crate::read::parquet::footer::Footer;
use crate::read::pruning::selection::largest;

/// Returns the row at which each page of the largest of these columns starts. Only headers are read. Empty if the file
/// is not local, if a column is repeated, or if the headers cannot be read: the reader of the rows then reports that.
pub(crate) async fn page_starts(footer: &Footer, group: usize, leaves: &[usize]) -> Vec<u64> {
    let source = match footer.file.held() {
        Some(bytes) => Some(Source::Held(bytes)),
        None => footer.file.opened().await.ok().flatten().map(Source::Opened),
    };
    source
        .and_then(|source| starts_in(FilePages::without_index(source, footer), footer, group, leaves).ok())
        .unwrap_or_default()
}

fn starts_in(pages: FilePages, footer: &Footer, group: usize, leaves: &[usize]) -> Result<Vec<u64>> {
    let schema = footer.metadata.file_metadata().schema_descr();
    // The header of a page has the number of its values, which is that of rows if none is repeated.
    let is_flat = leaves
        .iter()
        .all(|leaf| schema.column(*leaf).max_rep_level() == 0);
    let (Some(leaf), true) = (largest(&footer.metadata, group, leaves), is_flat) else {
        return Ok(Vec::new());
    };
    let row_group = footer.metadata.row_group(group);
    let rows = usize::try_from(row_group.num_rows()).unwrap_or(0);
    let mut reader = SerializedPageReader::new(Arc::new(pages), row_group.column(leaf), rows, None)?;
    let mut starts = Vec::new();
    let mut row = 0u64;
    while let Some(page) = reader.peek_next_page()? {
        if !page.is_dict {
            starts.push(row);
            let values = page.num_rows.or(page.num_levels).unwrap_or(0);
            row = row.saturating_add(u64::try_from(values).unwrap_or(u64::MAX));
        }
        reader.skip_next_page()?;
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use object_store::path::Path;
    use object_store::{ObjectStoreExt, memory::InMemory};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::*;
    use crate::read::parquet::page_index::with_page_index;

    #[tokio::test]
    async fn pages_start_where_the_index_says() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter(
            (0..2_000).map(|row| (row % 3 > 0).then_some(row)),
        ));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(
            (0..2_000).map(|row| format!("text {}", row % 70)),
        ));
        let rows = RecordBatch::try_from_iter([("number", numbers), ("text", texts)]).expect("rows");
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_data_page_row_count_limit(300)
                .set_write_batch_size(100);
            let mut file = Vec::new();
            let mut writer =
                ArrowWriter::try_new(&mut file, rows.schema(), Some(properties.build())).expect("a writer");
            writer.write(&rows).expect("written");
            writer.close().expect("closed");
            let (store, path, size) = (Arc::new(InMemory::new()), Path::from("file"), file.len());
            store.put(&path, file.into()).await.expect("put");
            let size = i64::try_from(size).expect("small");
            let mut footer = Footer::fetch(store, path, size, "file").await.expect("a footer");
            assert!(footer.file.held().is_some(), "the file is small");
            for leaf in [0, 1] {
                let starts = page_starts(&footer, 0, &[leaf]).await;
                let metadata = Arc::clone(&footer.metadata);
                let indexed = with_page_index(&mut footer.file, &metadata, &[0], &[], &[0, 1], "file").await;
                let indexed = indexed.expect("an index");
                let index = indexed
                    .page_index()
                    .and_then(|index| index.offset_index(0, leaf))
                    .expect("pages");
                let expected = index.page_locations().iter();
                let expected: Vec<u64> = expected
                    .map(|page| page.first_row_index.cast_unsigned())
                    .collect();
                assert_eq!(starts, expected);
                assert!(starts.len() > 5);
            }
        }
    }
}
