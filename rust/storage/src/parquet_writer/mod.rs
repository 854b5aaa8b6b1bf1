//! Writes Parquet files: the columns of a row group are encoded concurrently, while the bytes before them are sent.

mod encoder;
mod file_writer;
mod pieces;
mod sending;
mod spread;
mod upload;

pub use file_writer::{FileForm, FileWriter};
pub use upload::{Creation, Landed};
