//! The log of a streaming sink, which makes Spark use a given list of files instead of listing folders.
//!
//! Spark's file sink writes a log of its files to `_spark_metadata`, and Spark's readers trust that log. They do not
//! verify a file's modification time, but return it as `_metadata.file_modification_time`, so it can carry the file's
//! ordinal.

use std::io::Write;

const FORMAT: &str = "v1";
const BLOCK_SIZE: u64 = 128 << 20;

/// The modification times in the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// The true modification times.
    AsInTheLog,
    /// The ordinals of the files, as milliseconds.
    Ordinals,
}

/// A file in the log of a sink.
#[derive(Clone, Debug)]
pub(super) struct SinkFile {
    /// Absolute and percent-encoded.
    pub(super) uri: String,
    /// Bytes.
    pub(super) length: i64,
    /// Milliseconds since the epoch.
    pub(super) modification_time: i64,
}

/// Returns the text of the log, in ASCII.
pub(super) fn text(files: &[SinkFile], times: Times) -> Vec<u8> {
    let mut text = Vec::with_capacity(files.iter().map(|file| file.uri.len() + 160).sum());
    text.extend_from_slice(FORMAT.as_bytes());
    for (ordinal, file) in files.iter().enumerate() {
        let time = match times {
            Times::AsInTheLog => file.modification_time,
            Times::Ordinals => i64::try_from(ordinal).unwrap_or(i64::MAX),
        };
        // A percent-encoded URI has no character that JSON escapes.
        let entry = write!(
            text,
            "\n{{\"path\":\"{}\",\"size\":{},\"isDir\":false,\"modificationTime\":{time},\"blockReplication\":1,\"blockSize\":{BLOCK_SIZE},\"action\":\"add\"}}",
            file.uri, file.length,
        );
        // Writing into memory does not fail.
        debug_assert!(entry.is_ok());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_a_line_of_json() {
        let file = |uri: &str, length| SinkFile {
            uri: uri.to_owned(),
            length,
            modification_time: 1_700,
        };
        let files = [file("file:///t/a%20'b'.parquet", 4), file("s3://b/c", 5)];
        let lines = |times| {
            let text = String::from_utf8(text(&files, times)).expect("ASCII");
            let mut lines = text.lines().map(str::to_owned);
            assert_eq!(lines.next().as_deref(), Some("v1"));
            let parsed = lines.map(|line| serde_json::from_str::<serde_json::Value>(&line).expect("JSON"));
            parsed.collect::<Vec<_>>()
        };
        let [first, second] = lines(Times::Ordinals).try_into().expect("two");
        assert_eq!(first["path"], "file:///t/a%20'b'.parquet");
        assert_eq!(
            (&first["size"], &first["modificationTime"]),
            (&4.into(), &0.into())
        );
        assert_eq!(second["modificationTime"], 1);
        assert_eq!(lines(Times::AsInTheLog)[1]["modificationTime"], 1_700);
    }
}
