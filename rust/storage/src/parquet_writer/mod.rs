//! Writes Parquet files: the columns of a row group are encoded concurrently, while the bytes before them are sent.

mod encoded_chunk;
mod encoder;
mod file_form;
mod file_writer;
mod pieces;
mod sending;
mod spread;
mod upload;

pub use encoded_chunk::EncodedChunk;
pub use file_form::FileForm;
pub use file_writer::FileWriter;
pub use upload::{Creation, Landed};
