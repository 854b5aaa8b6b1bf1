//! The deletion vectors of tables that other implementations wrote.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test may read files, and fail"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, VectorLocation, parse_frame};
use deltaic_testkit::reference_logs::reference_tables;
use serde_json::Value;

/// Its text ends in digits that exceed 32 bits.
const ILLEGAL: &str = "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093";

/// The descriptors in a log's commits, with the number of records of the file if known.
fn descriptors(log: &Path) -> Vec<(Descriptor, Option<u64>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(log).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        for line in text.lines().filter(|line| line.contains("deletionVector")) {
            let Ok(Value::Object(action)) = serde_json::from_str(line) else {
                continue;
            };
            for kind in ["add", "remove"] {
                let Some(file) = action.get(kind) else { continue };
                let Some(vector) = file.get("deletionVector").filter(|vector| !vector.is_null()) else {
                    continue;
                };
                let stats = file.get("stats").and_then(Value::as_str).unwrap_or("{}");
                let stats: Value = serde_json::from_str(stats).unwrap();
                let descriptor = serde_json::from_value(vector.clone()).unwrap();
                found.push((descriptor, stats.get("numRecords").and_then(Value::as_u64)));
            }
        }
    }
    found
}

/// Every vector can be read, and deletes as many rows as the log says, all within the file.
#[test]
fn checksums_of_other_writers_are_read() {
    let Some(tables) = reference_tables() else {
        return;
    };
    let (mut in_files, mut inline, mut rows, mut refused) = (0, 0, 0, BTreeSet::new());
    for table in tables {
        for (descriptor, num_records) in descriptors(&table.join("_delta_log")) {
            let at = format!("{} {descriptor:?}", table.display());
            if descriptor.path_or_inline_dv == ILLEGAL {
                refused.insert(descriptor.validate().unwrap_err().to_string());
                continue;
            }
            let bitmap = match descriptor.validate().expect(&at) {
                VectorLocation::Inline(_) => {
                    inline += 1;
                    descriptor.decode_inline().expect(&at).expect(&at)
                }
                VectorLocation::File(path) => {
                    let file = fs::read(table.join(path.as_ref())).expect(&at);
                    in_files += 1;
                    descriptor
                        .decode(parse_frame(&file, &descriptor).expect(&at))
                        .expect(&at)
                }
            };
            if let Some(num_records) = num_records {
                descriptor.check_rows(&bitmap, num_records).expect(&at);
            }
            rows += bitmap.len();
            assert_eq!(Bitmap::decode(&bitmap.encode().unwrap()).unwrap(), bitmap, "{at}");
        }
    }
    assert!(
        in_files > 100 && inline > 1 && rows > 1000,
        "{in_files} {inline} {rows}"
    );
    assert!(
        refused.len() == 1 && refused.iter().all(|what| what.contains("exceed 32 bits")),
        "{refused:?}"
    );
}
