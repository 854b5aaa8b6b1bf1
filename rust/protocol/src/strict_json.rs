//! Rejects JSON that parsers accept but the log must not contain: duplicate keys and excessive nesting.
//!
//! Readers differ in which value of a duplicate key they use, so neither can be trusted. Unknown members
//! are validated as well, since a future reader may use them.

use std::borrow::Cow;

use crate::{Error, ErrorKind, Result};

/// Maximum nesting of objects and arrays.
pub const MOST_NESTING: usize = 128;

/// Number of keys of an object that are compared linearly, which is faster than sorting them.
const FEW: usize = 16;

/// Verifies that a JSON text has no duplicate keys and is not nested deeper than [`MOST_NESTING`]. For
/// the member `free` of the root object, only the depth is checked. Otherwise it is a `CorruptLog`.
///
/// ```
/// use deltaic_protocol::strict_json::ensure_strict;
/// assert!(ensure_strict(r#"{"txn":{"appId":"a","version":1}}"#, None).is_ok());
/// assert!(ensure_strict(r#"{"txn":{"version":1,"version":2}}"#, None).is_err());
/// assert!(ensure_strict(&"[".repeat(200), None).is_err());
/// ```
pub fn ensure_strict(text: &str, free: Option<&str>) -> Result<()> {
    let bytes = text.as_bytes();
    let mut open: Vec<Container<'_>> = Vec::new();
    let mut at = 0;
    // Whether the next value is that of the free member.
    let mut free_comes = false;
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| is_mark(*byte)))
    {
        at += found;
        match bytes.get(at) {
            Some(b'"') => {
                let end = string_end(bytes, at + 1);
                let depth = open.len();
                if let Some(object) = open.last_mut().filter(|container| container.is_key_next) {
                    object.is_key_next = false;
                    let key = key_of(text.get(at..=end).unwrap_or_default());
                    if depth == 1 {
                        free_comes = Some(key.as_ref()) == free;
                    }
                    if !object.is_free && object.keys.is_known(key, at) {
                        return Err(twice(text, at));
                    }
                }
                at = end;
            }
            Some(mark @ (b'{' | b'[')) => {
                if open.len() == MOST_NESTING {
                    return Err(damaged(format!("it is nested deeper than {MOST_NESTING}"), at));
                }
                let inherited = open.last().is_some_and(|container| container.is_free);
                open.push(Container {
                    is_object: *mark == b'{',
                    is_key_next: *mark == b'{',
                    is_free: inherited || (free_comes && open.len() == 1),
                    keys: Keys::default(),
                });
            }
            Some(b'}' | b']') => {
                let reference = open.pop().and_then(|mut closed| closed.keys.reference(text));
                if let Some(reference) = reference {
                    return Err(twice(text, reference));
                }
            }
            // A comma.
            _ => {
                if let Some(container) = open.last_mut() {
                    container.is_key_next = container.is_object;
                }
            }
        }
        at += 1;
    }
    Ok(())
}

/// An object or an array that is not closed yet.
struct Container<'a> {
    is_object: bool,
    /// Whether the next string is a key.
    is_key_next: bool,
    /// Whether its keys are not checked.
    is_free: bool,
    keys: Keys<'a>,
}

/// The keys of an object so far.
#[derive(Default)]
struct Keys<'a> {
    few: Vec<Cow<'a, str>>,
    /// The positions of the keys after the first few: an object with very many keys must not cost a
    /// multiple of its own length.
    later: Vec<usize>,
}

impl<'a> Keys<'a> {
    /// Adds a key and its position. Returns whether it is known to be a duplicate.
    fn is_known(&mut self, key: Cow<'a, str>, at: usize) -> bool {
        if self.few.contains(&key) {
            return true;
        }
        if self.few.len() < FEW {
            self.few.push(key);
        } else {
            self.later.push(at);
        }
        false
    }

    /// The position of a duplicate among the later keys.
    fn reference(&mut self, text: &str) -> Option<usize> {
        let key = |at: usize| key_at(text, at);
        self.later
            .sort_unstable_by(|left, right| key(*left).cmp(&key(*right)));
        let reference_tests = self.later.windows(2).find(|pair| match pair {
            [left, right] => key(*left) == key(*right),
            _ => false,
        });
        reference_tests.and_then(|pair| pair.iter().max().copied())
    }
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',')
}

/// The position of the quote that ends a string whose text starts at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len().saturating_sub(1)
}

/// A key without quotes and escapes; two spellings of a key are equal.
fn key_of(quoted: &str) -> Cow<'_, str> {
    let plain = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    if !plain.contains('\\') {
        return Cow::Borrowed(plain);
    }
    serde_json::from_str::<String>(quoted).map_or(Cow::Borrowed(plain), Cow::Owned)
}

/// The key whose quote is at a position.
fn key_at(text: &str, at: usize) -> Cow<'_, str> {
    let end = string_end(text.as_bytes(), at + 1);
    key_of(text.get(at..=end).unwrap_or_default())
}

fn twice(text: &str, at: usize) -> Error {
    damaged(format!("{:?} occurs twice in one object", key_at(text, at)), at)
}

fn damaged(what: String, at: usize) -> Error {
    let byte = i64::try_from(at + 1).unwrap_or(i64::MAX);
    Error::new(ErrorKind::CorruptLog, format!("{what} (byte {byte})"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_key_twice_is_found_wherever_it_remains() {
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":[{"b":{"c":1,"d":{},"c":[]}}]}"#,
            r#"[{"\u0061":1,"a":2}]"#,
            r#"{ "a" : "x\"y" , "b" : 1 , "a" : 1 }"#,
        ] {
            assert!(ensure_strict(text, None).is_err(), "{text}");
        }
        let many: Vec<String> = (0..40).map(|number| format!("\"k{number}\":0")).collect();
        assert!(ensure_strict(&format!("{{{}}}", many.join(",")), None).is_ok());
        for twice in [0, 15, 16, 39] {
            let text = format!("{{{},\"k{twice}\":0}}", many.join(","));
            assert!(ensure_strict(&text, None).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_are_not_values_and_objects_are_apart() {
        for text in [
            r#"{"a":"a","b":"a","c":["a","a"]}"#,
            r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#,
            r#"{"a\"":1,"a":2}"#,
            r#"["{\"a\":1,\"a\":2}"]"#,
            "1",
            "",
            r#"{"commitInfo":{"a":1,"a":2,"b":[{"c":1,"c":2}]},"txn":{"a":1}}"#,
        ] {
            assert!(ensure_strict(text, Some("commitInfo")).is_ok(), "{text}");
        }
        assert!(ensure_strict(r#"{"a":{"commitInfo":{"x":1,"x":2}}}"#, Some("commitInfo")).is_err());
        assert!(ensure_strict(r#"{"commitInfo":{},"txn":{"x":1,"x":2}}"#, Some("commitInfo")).is_err());
    }

    #[test]
    fn the_depth_has_an_end() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(ensure_strict(&nested(MOST_NESTING), None).is_ok());
        assert!(ensure_strict(&nested(MOST_NESTING + 1), None).is_err());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "[a-c\"\\\\{},\\[]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-c\"\\\\{},\\[]{0,3}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Serialized maps have no duplicate keys, so they are accepted; they are rejected after the
        /// first member is duplicated.
        #[test]
        fn maps_are_parsed_strictly(value in value(), pretty in any::<bool>()) {
            let write = |value: &Value| {
                if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }
            };
            let text = write(&value).unwrap_or_default();
            prop_assert!(ensure_strict(&text, None).is_ok(), "{}", text);
            if let Value::Object(members) = &value
                && let Some((key, _)) = members.iter().next()
            {
                let key = serde_json::to_string(key).unwrap_or_default();
                let twice = text.replacen('{', &format!("{{{key}:[1],"), 1);
                prop_assert!(ensure_strict(&twice, None).is_err(), "{}", twice);
            }
        }
    }
}
