//! Settings of a table for its data files: compression, target size, path, and the length of strings in
//! statistics.

use super::documented::{boolean, integer, text};
use super::unreadable::unreadable;
use crate::actions::Metadata;
use crate::statistics::STRING_PREFIX;
use crate::{Error, ErrorKind, Result};

const CODEC: &str = "delta.parquet.compression.codec";
const FORMAT_VERSION: &str = "delta.parquet.format.version";
const TARGET_SIZE: &str = "delta.targetFileSize";

/// Maximum length of a folder name on most file systems.
pub(crate) const MOST_PREFIX: i64 = 255;

/// The compression codec of data pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// No compression.
    Uncompressed,
    /// Snappy.
    Snappy,
    /// Gzip.
    Gzip,
    /// Brotli.
    Brotli,
    /// LZ4 with Hadoop framing.
    Lz4,
    /// LZ4 without framing.
    Lz4Raw,
    /// Zstandard.
    Zstd,
}

impl Codec {
    /// Parses the name of a codec, also one that only Spark has for it; case is ignored.
    ///
    /// # Errors
    ///
    /// `ValueError` for another name.
    ///
    /// ```
    /// use deltaic_protocol::properties::Codec;
    /// assert_eq!(Codec::parse("Snappy")?, Codec::Snappy);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn parse(name: &str) -> Result<Self> {
        let of_spark = name.trim().eq_ignore_ascii_case("lz4raw");
        codec_of(if of_spark { "lz4_raw" } else { name }).ok_or_else(|| {
            let known: Vec<&str> = CODECS.iter().map(|(known, _)| *known).collect();
            Error::new(ErrorKind::InvalidArgument, format!("{name:?} is not a codec"))
                .hint(format!("the codecs are {}", known.join(", ")))
        })
    }
}

/// The codecs by name. LZO is missing because current Parquet readers no longer support it.
pub(crate) const CODECS: &[(&str, Codec)] = &[
    ("uncompressed", Codec::Uncompressed),
    ("none", Codec::Uncompressed),
    ("snappy", Codec::Snappy),
    ("gzip", Codec::Gzip),
    ("brotli", Codec::Brotli),
    ("lz4", Codec::Lz4),
    ("lz4_raw", Codec::Lz4Raw),
    ("zstd", Codec::Zstd),
];

/// Settings of a table for its data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFileSettings {
    /// `delta.parquet.compression.codec`; default Zstandard.
    pub codec: Codec,
    /// Whether to write data pages V2: `delta.parquet.format.version`; default false.
    pub second_version: bool,
    /// Target file size in bytes: `delta.targetFileSize`; by default the writer chooses.
    pub target_bytes: Option<u64>,
    /// Length of the random prefix that replaces the partition folders in file paths:
    /// `delta.randomizeFilePrefixes` and `delta.randomPrefixLength`; by default files are in their
    /// partition folders.
    pub random_prefix: Option<usize>,
    /// Maximum number of characters of strings in statistics: `delta.dataSkippingStringPrefixLength`;
    /// default 32.
    pub string_prefix: usize,
}

/// Reads the settings of a table for its data files.
///
/// # Errors
///
/// Returns `CorruptLog` with the property as `field` if a value is invalid; `UnsupportedFeature` for LZO.
pub fn data_file_settings(metadata: &Metadata) -> Result<DataFileSettings> {
    let codec = match metadata.property(CODEC) {
        None => Codec::Zstd,
        Some(name) if name.trim().eq_ignore_ascii_case("lzo") => {
            return Err(Error::new(
                ErrorKind::UnsupportedFeature,
                format!("the table requires data files compressed with {name}, which no reader supports"),
            )
            .with("feature", CODEC)
            .with("field", CODEC)
            .hint("set the property to another codec, such as zstd"));
        }
        Some(name) => codec_of(name).ok_or_else(|| unreadable(CODEC, name))?,
    };
    let second_version = match metadata.property(FORMAT_VERSION) {
        None => false,
        Some(version) => {
            is_second_version(version.trim()).ok_or_else(|| unreadable(FORMAT_VERSION, version))?
        }
    };
    let target_bytes = match metadata.property(TARGET_SIZE) {
        None => None,
        Some(size) => Some(bytes_of(size).ok_or_else(|| unreadable(TARGET_SIZE, size))?),
    };
    let random_prefix = match boolean(metadata, "delta.randomizeFilePrefixes")? {
        false => None,
        true => {
            let length = integer(metadata, "delta.randomPrefixLength")?.unwrap_or(2);
            Some(usize::try_from(length.clamp(1, MOST_PREFIX)).unwrap_or(2))
        }
    };
    let string_prefix = match text(metadata, "delta.dataSkippingStringPrefixLength")? {
        None => STRING_PREFIX,
        // A limit that does not fit into `usize` is not a limit.
        Some(length) => length.trim().parse().unwrap_or(usize::MAX),
    };
    Ok(DataFileSettings {
        codec,
        second_version,
        target_bytes,
        random_prefix,
        string_prefix,
    })
}

/// The codec with this name; case is ignored.
pub(crate) fn codec_of(name: &str) -> Option<Codec> {
    let known = CODECS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
    known.map(|(_, codec)| *codec)
}

/// Whether a format version uses data pages V2; `None` if it is not a version.
pub(crate) fn is_second_version(version: &str) -> Option<bool> {
    if version == "1.0.0" {
        return Some(false);
    }
    let numbers: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
    matches!(numbers?.as_slice(), [2, _, _]).then_some(true)
}

/// Parses a size such as `104857600`, `100mb` or `1 GiB` into bytes; `None` if it is invalid. Units are
/// powers of 1024.
///
/// ```
/// use deltaic_protocol::properties::bytes_of;
/// assert_eq!(bytes_of("1 kB"), Some(1024));
/// assert_eq!(bytes_of("0"), None);
/// ```
#[must_use]
pub fn bytes_of(size: &str) -> Option<u64> {
    let size = size.trim();
    let digits = size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len());
    let (number, unit) = size.split_at_checked(digits)?;
    let power = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(1024u64.pow(power))?;
    (bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::metadata;

    fn form(pairs: &[(&str, &str)]) -> Result<DataFileSettings> {
        data_file_settings(&metadata(pairs))
    }

    /// protocol: beyond:parquet.1
    #[test]
    fn unset_options_have_their_defaults() {
        let always = DataFileSettings {
            codec: Codec::Zstd,
            second_version: false,
            target_bytes: None,
            random_prefix: None,
            string_prefix: 32,
        };
        assert_eq!(form(&[]).unwrap(), always);
        assert_eq!(form(&[("delta.randomPrefixLength", "5")]).unwrap(), always);
        assert_eq!(
            form(&[("delta.parquet.format.version", "1.0.0")]).unwrap(),
            always
        );
    }

    /// protocol: beyond:parquet.1
    #[test]
    fn reported_options_are_understood() {
        let form_of_files = form(&[
            ("delta.parquet.compression.codec", "LZ4_raw"),
            ("delta.parquet.format.version", "2.12.0"),
            ("delta.targetFileSize", "100mb"),
            ("delta.randomizeFilePrefixes", "TRUE"),
            ("delta.dataSkippingStringPrefixLength", " 7"),
        ]);
        let expected = DataFileSettings {
            codec: Codec::Lz4Raw,
            second_version: true,
            target_bytes: Some(100 << 20),
            random_prefix: Some(2),
            string_prefix: 7,
        };
        assert_eq!(form_of_files.unwrap(), expected);
        let long = [
            ("delta.randomizeFilePrefixes", "true"),
            ("delta.randomPrefixLength", "9000000000"),
            ("delta.dataSkippingStringPrefixLength", "9000000000"),
        ];
        let long = form(&long).unwrap();
        assert_eq!(
            (long.random_prefix, long.string_prefix),
            (Some(255), 9_000_000_000)
        );
    }

    #[test]
    fn an_invalid_value_is_named() {
        for (key, value) in [
            ("delta.parquet.compression.codec", "tar"),
            ("delta.parquet.format.version", "2"),
            ("delta.parquet.format.version", "3.0.0"),
            ("delta.targetFileSize", "foo"),
            ("delta.randomizeFilePrefixes", "perhaps"),
            ("delta.dataSkippingStringPrefixLength", "-1"),
        ] {
            let error = form(&[(key, value)]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::CorruptLog, "{key}={value}");
            assert!(error.to_string().contains(key), "{error}");
        }
        let lzo = form(&[("delta.parquet.compression.codec", "LZO")]).unwrap_err();
        assert_eq!(lzo.kind(), ErrorKind::UnsupportedFeature);
    }

    #[test]
    fn sizes_have_units() {
        for (size, bytes) in [
            ("104857600", Some(104_857_600)),
            (" 7 ", Some(7)),
            ("7b", Some(7)),
            ("2 kB", Some(2 << 10)),
            ("1GiB", Some(1 << 30)),
            ("3t", Some(3 << 40)),
            ("0", None),
            ("", None),
            ("mb", None),
            ("-1", None),
            ("1.5g", None),
            ("1 e", None),
            ("99999999999t", None),
        ] {
            assert_eq!(bytes_of(size), bytes, "{size:?}");
        }
    }
}
