//! Arbitrary bytes as `_last_checkpoint`: a version or an error, and a checksum that ignores white space and key order.

use std::sync::Arc;

use deltaic_log::last_checkpoint::{Hint, read_last_checkpoint};
use deltaic_protocol::last_checkpoint::{checksum, checksums, parse_hint};
use deltaic_storage::TableLocation;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use serde_json::{Map, Value};

use crate::untrusted::memory::{Bound, bounded};
use crate::untrusted::runtime::block_on;

/// Every level is parsed again, and every leaf is serialized with all keys above it.
const BOUND: Bound = Bound {
    per_byte: 256,
    spare: 64 * 1024,
};

pub(in crate::untrusted) fn check_invariants(bytes: &[u8]) {
    let store = Arc::new(InMemory::new());
    let shared: Arc<dyn ObjectStore> = Arc::<InMemory>::clone(&store);
    let location = TableLocation::on_store("memory://t/".to_owned(), shared, Path::from("t"));
    let path = Path::from("t/_delta_log/_last_checkpoint");
    let put = block_on(store.put(&path, PutPayload::from(bytes.to_vec())));
    assert!(put.is_ok());
    let hint = bounded(BOUND, bytes.len(), || block_on(read_last_checkpoint(&location)));
    let parsed = std::str::from_utf8(bytes)
        .ok()
        .map(|text| (text, parse_hint(text)));
    match (hint, parsed) {
        (Hint::Version(version), Some((text, Ok(parsed)))) => {
            assert_eq!(version, parsed);
            agrees(text, version.as_i64());
        }
        (Hint::Unusable(why), None) => assert!(!why.is_empty()),
        (Hint::Unusable(why), Some((_, Err(parsed)))) => assert_eq!(why, parsed),
        (hint, parsed) => panic!("read {hint:?} from the store, but parsed {parsed:?}"),
    }
}

/// Compares an accepted hint with a general JSON parser.
fn agrees(text: &str, version: i64) {
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(text) else {
        return;
    };
    if has_other_numbers(text) {
        return;
    }
    assert_eq!(members.get("version").and_then(Value::as_i64), Some(version));
    let Ok(ours) = checksum(text) else {
        panic!("a hint without a computable checksum was accepted");
    };
    if let Some(given) = members.get("checksum") {
        let accepted = checksums(text).unwrap_or_default();
        let is = |given: &str| accepted.iter().any(|sum| given.eq_ignore_ascii_case(sum));
        assert!(given.as_str().is_some_and(is));
    }
    let turned: Map<String, Value> = members.into_iter().rev().collect();
    let pretty = serde_json::to_string_pretty(&turned).unwrap_or_default();
    assert_eq!(checksum(&pretty).as_deref(), Ok(ours.as_str()), "{pretty}");
}

/// Whether there may be numbers that the general parser serializes differently: those that are not 64-bit integers.
fn has_other_numbers(text: &str) -> bool {
    let is_exponent = |pair: &[u8]| matches!(pair, [b'0'..=b'9', b'.' | b'e' | b'E'] | [b'-', b'0']);
    text.as_bytes().windows(2).any(is_exponent)
        || text
            .split(|c: char| !c.is_ascii_digit())
            .any(|digits| digits.len() > 18)
}
