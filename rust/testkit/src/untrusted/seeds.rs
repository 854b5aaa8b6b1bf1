//! Seeds: small handwritten ones and, if available, collected files of tables that other writers wrote.

use std::path::{Path, PathBuf};

/// The folder of the fuzz targets.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The seeds of a target up to this length, ordered by name.
#[must_use]
pub fn seeds(target: &str, most_bytes: usize) -> Vec<Vec<u8>> {
    let mut found = of_kind("seeds", target);
    found.extend(of_kind("golden", target));
    found.retain(|bytes| bytes.len() <= most_bytes);
    found
}

/// Small inputs that expand to large ones and are slow to try.
#[must_use]
pub fn bombs(target: &str) -> Vec<Vec<u8>> {
    of_kind("bombs", target)
}

fn of_kind(kind: &str, target: &str) -> Vec<Vec<u8>> {
    let paths = files(&folder().join(kind).join(target));
    paths.iter().filter_map(|path| read(path)).collect()
}

/// The words of a target, from its dictionary in libFuzzer's format; targets with the same first word share a
/// dictionary.
#[must_use]
pub fn dictionary(target: &str) -> Vec<Vec<u8>> {
    let first_word = target.split('_').next().unwrap_or(target);
    let text = [target, first_word]
        .iter()
        .find_map(|name| read(&folder().join(format!("dictionaries/{name}.dict"))))
        .unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(word).collect()
}

/// The word of a line such as `"a\x00b"`; `None` for a comment.
fn word(line: &str) -> Option<Vec<u8>> {
    let quoted = line.trim().strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'x' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
                bytes.push(u8::try_from(value).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some(bytes)
}

#[expect(
    clippy::disallowed_methods,
    reason = "seeds are files of the repository, not of a table"
)]
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[expect(
    clippy::disallowed_methods,
    reason = "seeds are files of the repository, not of a table"
)]
fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn strings_are_read_with_their_escapes() {
        assert_eq!(word(r#""a\x00\"\\b""#).as_deref(), Some(&b"a\0\"\\b"[..]));
        assert_eq!(word("# a comment"), None);
    }
}
