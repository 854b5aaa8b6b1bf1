//! Writes one Parquet file.

use std::sync::Arc;

use arrow_array::RecordBatch;
use deltaic_protocol::actions::Add;
use deltaic_protocol::partition::folder;
use deltaic_protocol::path_encoding::encode_path;
use deltaic_protocol::properties::Codec;
use deltaic_protocol::{Error, ErrorKind, Result};
use deltaic_storage::TableLocation;
use deltaic_storage::clock::{new_id, now_ms};
use deltaic_storage::{Running, start};
use object_store::buffered::BufWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use tracing::Instrument;

use super::encode::dictionaries::columns_without_dictionary;
use super::encode::encoder::Encoder;
use super::encode::shredding::Shredding;
use super::encode::statistics::FileStatistics;
use super::encode::variant_annotation::parquet_schema;
use super::partition::PartitionKey;
use super::pieces::bytes_of;
use super::plan::WritePlan;
use super::upload::{Upload, failed};

/// A data file that is being written. Rows are encoded on another thread, while the caller prepares the next ones.
pub(super) struct DataFile {
    relative: String,
    values: PartitionKey,
    /// The number of the piece that had the last rows of the file.
    pub(super) last_piece: usize,
    /// The number of rows, those that are being encoded included.
    pub(super) rows: usize,
    /// `None` while rows are encoded.
    parts: Option<Box<Parts>>,
    busy: Option<Running<(Box<Parts>, Result<()>)>>,
    /// The memory of the rows that are being encoded and of those in the row group before.
    busy_memory: usize,
    /// After a failure the file may lack rows: it can only be abandoned.
    has_failed: bool,
}

/// What writing rows to a file changes.
struct Parts {
    relative: String,
    encoder: Encoder,
    upload: Upload,
    shredding: Option<Shredding>,
    /// `None` while rows are added.
    statistics: Option<FileStatistics>,
}

impl DataFile {
    /// Starts a file in its partition's folder, or under a random prefix if the table requests that. Its name is
    /// unique, so writers never collide.
    pub(super) fn begin(
        location: &TableLocation,
        plan: &WritePlan,
        values: PartitionKey,
        first: &RecordBatch,
        number: usize,
    ) -> Result<Self> {
        let (form, contents) = (&plan.form, &plan.contents);
        let (compression, message) = packed(form.codec);
        let kind = contents.file_kind();
        let name = format!("{kind}-{number:05}-{}.c000{message}.parquet", new_id());
        let partition = match form.random_prefix {
            Some(length) => random_folder(length),
            None => folder(
                values
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_deref())),
            ),
        };
        let folder = contents.folder(&partition);
        let relative = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        let path = location.below(&relative)?;
        let shredding = plan.shredding(first)?;
        let schema = shredding.as_ref().map_or(&plan.file_schema, Shredding::schema);
        let mut properties = WriterProperties::builder()
            .set_compression(compression)
            .set_writer_version(match form.second_version {
                true => WriterVersion::PARQUET_2_0,
                false => WriterVersion::PARQUET_1_0,
            })
            .set_created_by(concat!("deltaic ", env!("CARGO_PKG_VERSION")).to_owned());
        for column in columns_without_dictionary(schema, first) {
            properties = properties.set_column_dictionary_enabled(column, false);
        }
        // Other readers must derive the types from Parquet, so the file has no embedded Arrow schema.
        let encoder = parquet_schema(schema)
            .and_then(|parquet| Encoder::try_new(schema, &parquet, properties.build()))
            .map_err(|error| failed(&error, &relative))?;
        Ok(Self {
            parts: Some(Box::new(Parts {
                relative: relative.clone(),
                encoder,
                upload: Upload::new(
                    &relative,
                    BufWriter::with_capacity(Arc::clone(location.store()), path, location.part_bytes()),
                ),
                shredding,
                statistics: Some(plan.statistics()),
            })),
            relative,
            values,
            last_piece: 0,
            rows: 0,
            busy: None,
            busy_memory: 0,
            has_failed: false,
        })
    }

    /// Starts to write rows, once those of the last call are written. Returns errors of those.
    pub(super) async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        self.settle().await?;
        let mut parts = self.parts.take().ok_or_else(broken)?;
        self.busy_memory = parts.memory() + bytes_of(&batch);
        let work = async move {
            let written = parts.write(batch).await;
            Ok((parts, written))
        };
        self.busy = Some(start(work.in_current_span()));
        Ok(())
    }

    /// Waits until all rows are written.
    pub(super) async fn settle(&mut self) -> Result<()> {
        if let Some(busy) = &mut self.busy {
            let done = busy.await;
            self.busy = None;
            let written = done.and_then(|(parts, written)| {
                self.parts = Some(parts);
                written
            });
            self.has_failed = written.is_err();
            return written;
        }
        match self.has_failed {
            true => Err(broken()),
            false => Ok(()),
        }
    }

    /// The approximate number of bytes so far, without rows that are being encoded.
    pub(super) fn bytes(&self) -> usize {
        let encoder = self.parts.as_ref().map(|parts| &parts.encoder);
        encoder.map_or(0, |encoder| encoder.written() + encoder.in_progress())
    }

    /// The memory of the row group in progress and of rows that are being encoded.
    pub(super) fn memory(&self) -> usize {
        let parts = self.parts.as_ref();
        parts.map_or(self.busy_memory, |parts| parts.memory())
    }

    /// Finishes the row group in progress, which frees its memory.
    pub(super) async fn end_row_group(&mut self) -> Result<()> {
        self.settle().await?;
        let parts = self.parts.as_mut().ok_or_else(broken)?;
        let ended = parts.end_row_group().await;
        self.has_failed = ended.is_err();
        ended
    }

    pub(super) fn relative(&self) -> &str {
        &self.relative
    }

    /// Abandons the file and its uploaded parts.
    pub(super) async fn abort(mut self) {
        let _ = self.settle().await;
        if let Some(mut parts) = self.parts {
            parts.upload.abort().await;
        }
    }

    async fn encode_rest(&mut self) -> Result<()> {
        self.settle().await?;
        self.parts.as_mut().ok_or_else(broken)?.finish().await
    }

    /// Finishes the file; it is durable when this returns.
    pub(super) async fn finish(mut self) -> Result<(Add, u64)> {
        if let Err(error) = self.encode_rest().await {
            self.abort().await;
            return Err(error);
        }
        let mut parts = self.parts.take().ok_or_else(broken)?;
        parts.upload.complete().await?;
        let statistics = parts.statistics.take().ok_or_else(broken)?;
        let rows = statistics.num_records();
        let size = i64::try_from(parts.encoder.written())
            .map_err(|_| Error::new(ErrorKind::StorageError, "a data file is too large"))?;
        let add = Add {
            path: encode_path(&self.relative),
            partition_values: std::mem::take(&mut self.values).into_iter().collect(),
            size,
            modification_time: now_ms(),
            data_change: true,
            stats: Some(statistics.to_json()),
            ..Add::default()
        };
        Ok((add, rows))
    }
}

impl Parts {
    /// Encodes rows, and collects their statistics at the same time.
    async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        let mut statistics = self.statistics.take().ok_or_else(broken)?;
        let rows = batch.clone();
        let collected = start(async move {
            statistics.update(&rows);
            Ok(statistics)
        });
        let batch = match &self.shredding {
            Some(shredding) => shredding.apply(&batch)?,
            None => batch,
        };
        let written = self.encoder.write(&batch).await;
        self.statistics = Some(collected.await?);
        written.map_err(|error| failed(&error, &self.relative))?;
        self.send().await
    }

    /// Sends the finished bytes to the store.
    async fn send(&mut self) -> Result<()> {
        let bytes = self.encoder.take_bytes();
        self.upload
            .send(bytes.map_err(|error| failed(&error, &self.relative))?)
            .await
    }

    async fn end_row_group(&mut self) -> Result<()> {
        let ended = self.encoder.end_row_group().await;
        ended.map_err(|error| failed(&error, &self.relative))?;
        self.send().await
    }

    /// Encodes what is left, with the footer.
    async fn finish(&mut self) -> Result<()> {
        let finished = self.encoder.finish().await;
        finished.map_err(|error| failed(&error, &self.relative))?;
        self.send().await
    }

    /// The memory of the row group in progress and of those that are being sent.
    fn memory(&self) -> usize {
        self.encoder.memory() + self.upload.in_flight()
    }
}

/// The error of a file that lost its rows to an earlier failure.
fn broken() -> Error {
    Error::internal("rows are written to a file that failed")
}

/// Returns a codec for the writer, and its suffix for file names.
fn packed(codec: Codec) -> (Compression, &'static str) {
    match codec {
        Codec::Uncompressed => (Compression::UNCOMPRESSED, ""),
        Codec::Snappy => (Compression::SNAPPY, ".snappy"),
        Codec::Gzip => (Compression::GZIP(GzipLevel::default()), ".gz"),
        Codec::Brotli => (Compression::BROTLI(BrotliLevel::default()), ".br"),
        Codec::Lz4 => (Compression::LZ4, ".lz4hadoop"),
        Codec::Lz4Raw => (Compression::LZ4_RAW, ".lz4raw"),
        Codec::Zstd => (Compression::ZSTD(ZstdLevel::default()), ".zstd"),
    }
}

/// Returns a random folder name of this length, which distributes requests over the store.
fn random_folder(length: usize) -> String {
    // Lowercase only: some file systems ignore case.
    const SIGNS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut name = String::new();
    while name.len() < length {
        // The last 15 hex digits of a random id are all random.
        let id = new_id().replace('-', "");
        let digits = id.get(17..).unwrap_or_default();
        let mut chance = u64::from_str_radix(digits, 16).unwrap_or_default();
        for _ in 0..12.min(length - name.len()) {
            let sign = SIGNS.get(usize::try_from(chance % 32).unwrap_or_default());
            name.extend(sign.map(|sign| char::from(*sign)));
            chance /= 32;
        }
    }
    name
}
