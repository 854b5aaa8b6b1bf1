//! A file's statistics as one number, to detect whether another action has different statistics.
//!
//! Protocol: *Per-file Statistics*. A check stores the number for each file, since the texts of a large table
//! take gigabytes.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU64;
use std::sync::LazyLock;

use deltaic_protocol::expr::Scalar;
use deltaic_protocol::schema::PrimitiveType;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// One random seed per process, so that no log can be crafted to collide.
static SEED: LazyLock<foldhash::quality::RandomState> =
    LazyLock::new(foldhash::quality::RandomState::default);

/// The flag for exact bounds. Writers update it with a file's deletion vector, so it is not compared.
const TIGHT_BOUNDS: &str = "tightBounds";

/// A hash of statistics: independent of the order of keys, white space, and the spelling of a number or a
/// time; null and empty values count as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) struct Fingerprint(NonZeroU64);

impl Fingerprint {
    /// Fingerprint of a file without statistics.
    pub(in crate::check) const NOTHING: Self = Self(NonZeroU64::MIN);

    /// Returns the fingerprint of the text of `add.stats`.
    pub(in crate::check) fn of(text: &str) -> Self {
        let mut json = serde_json::Deserializer::from_str(text);
        let hashed = AnyValue { is_top: true }
            .deserialize(&mut json)
            .and_then(|hashed| json.end().map(|()| hashed));
        // Invalid JSON is hashed byte by byte.
        let hashed = hashed.unwrap_or_else(|_| hash(&(Kind::Odd, text)));
        NonZeroU64::new(hashed).map_or(Self::NOTHING, Self)
    }

    /// Whether the statistics in a copy of an action contradict the action. A copy may omit statistics, and
    /// unknown statistics contradict nothing.
    pub(in crate::check) fn contradicts(copy: Option<Self>, action: Option<Self>) -> bool {
        match (copy, action) {
            (Some(copy), Some(action)) => copy != Self::NOTHING && copy != action,
            _ => false,
        }
    }
}

#[derive(Hash)]
enum Kind {
    Odd,
    Boolean,
    Whole,
    Fraction,
    Time,
    Text,
    Item,
    Member,
}

fn hash(value: &impl Hash) -> u64 {
    // Zero means empty, and one is reserved for the empty fingerprint.
    SEED.hash_one(value).max(2)
}

/// Computes the hash of a value, zero if it is empty, with at most one of its strings in memory.
struct AnyValue {
    is_top: bool,
}

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<u64, E> {
        Ok(0)
    }

    fn visit_bool<E>(self, value: bool) -> Result<u64, E> {
        Ok(hash(&(Kind::Boolean, value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<u64, E> {
        Ok(hash(&(Kind::Whole, i128::from(value))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<u64, E> {
        Ok(hash(&(Kind::Whole, i128::from(value))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<u64, E> {
        let whole = (value.fract() == 0.0)
            .then(|| value.to_string().parse::<i128>().ok())
            .flatten();
        Ok(match whole {
            Some(whole) => hash(&(Kind::Whole, whole)),
            None => hash(&(Kind::Fraction, shortest(value).to_bits())),
        })
    }

    fn visit_str<E>(self, value: &str) -> Result<u64, E> {
        Ok(match time(value) {
            Some(time) => hash(&(Kind::Time, time)),
            None => hash(&(Kind::Text, value)),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let mut hashed = hash(&Kind::Item);
        while let Some(item) = items.next_element_seed(Self { is_top: false })? {
            hashed = hash(&(Kind::Item, hashed, item));
        }
        Ok(hashed)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u64, A::Error> {
        let mut hashed = 0u64;
        while let Some(Name(name)) = members.next_key()? {
            let member = members.next_value_seed(Self { is_top: false })?;
            if member != 0 && !(self.is_top && name == TIGHT_BOUNDS) {
                // A sum, since the order does not matter.
                hashed = hashed.wrapping_add(hash(&(Kind::Member, name.as_ref(), member)));
            }
        }
        Ok(hashed)
    }
}

/// Rounds a number to single precision if possible: for bounds of a `float` column some writers write 8
/// digits, others 16.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the value is rounded intentionally"
)]
fn shortest(value: f64) -> f64 {
    let short = value as f32;
    if short.is_finite() && short != 0.0 {
        f64::from(short)
    } else {
        value
    }
}

/// Returns the microseconds of a string in the format of a timestamp, in any time zone.
fn time(text: &str) -> Option<i64> {
    let mark = |place: usize| text.as_bytes().get(place).copied();
    if (mark(4), mark(7), mark(13)) != (Some(b'-'), Some(b'-'), Some(b':')) {
        return None;
    }
    match Scalar::parse(text, PrimitiveType::Timestamp)? {
        Scalar::Timestamp(time) => Some(time),
        _ => None,
    }
}

/// A name, borrowed unless it contains escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_the_same_however_it_is_written() {
        for (one, other) in [
            (
                r#"{"numRecords":1,"minValues":{"a":1,"b":"x"}}"#,
                r#"{ "minValues": {"b":"x","a":1.0}, "numRecords": 1e0 }"#,
            ),
            (
                r#"{"numRecords":3,"tightBounds":true}"#,
                r#"{"numRecords":3,"tightBounds":false}"#,
            ),
            (
                r#"{"numRecords":3,"minValues":{"a":null,"in":{}}}"#,
                r#"{"numRecords":3}"#,
            ),
            (r#"{"a":-0.0}"#, r#"{"a":0}"#),
            (r#"{"a":1.50}"#, r#"{"a":15e-1}"#),
            (r#"{"a":1.1}"#, r#"{"a":1.100000023841858}"#),
            (
                r#"{"a":"2021-03-04T07:00:00+02:00"}"#,
                r#"{"a":"2021-03-04T05:00:00.000Z"}"#,
            ),
            (r#"{"\u0061":"\u0062"}"#, r#"{"a":"b"}"#),
            ("{}", "{}"),
            ("{", "{"),
        ] {
            assert_eq!(Fingerprint::of(one), Fingerprint::of(other), "{one} {other}");
        }
        assert_eq!(Fingerprint::of("{}"), Fingerprint::NOTHING);
        assert_eq!(Fingerprint::of("null"), Fingerprint::NOTHING);
    }

    #[test]
    fn different_states_are_not_equal() {
        let texts = [
            "{",
            "{}",
            "[]",
            "[[]]",
            "[1]",
            "[1,2]",
            "[2,1]",
            r#"{"a":1}"#,
            r#"{"a":2}"#,
            r#"{"b":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":true}"#,
            r#"{"a":1.5}"#,
            r#"{"a":{"a":1}}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":9007199254740992}"#,
            r#"{"a":9007199254740993}"#,
            r#"{"a":1e300}"#,
            r#"{"a":1.5e300}"#,
            r#"{"a":1.5e-300}"#,
            r#"{"a":1.4e-300}"#,
            r#"{"a":"2021-03-04T05:00:00Z"}"#,
            r#"{"a":"2021-03-04T05:00:00.001Z"}"#,
            r#"{"a":"2021-03-04"}"#,
            r#"{"in":{"tightBounds":true}}"#,
            "{} {}",
        ];
        for (place, one) in texts.iter().enumerate() {
            for other in texts.iter().skip(place + 1) {
                assert_ne!(Fingerprint::of(one), Fingerprint::of(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn absent_or_unknown_fields_contradict_nothing() {
        let [one, other] = ["{\"a\":1}", "{\"a\":2}"].map(|text| Some(Fingerprint::of(text)));
        let nothing = Some(Fingerprint::NOTHING);
        assert!(Fingerprint::contradicts(one, other));
        assert!(Fingerprint::contradicts(one, nothing));
        for (copy, action) in [(one, one), (nothing, one), (None, one), (one, None)] {
            assert!(!Fingerprint::contradicts(copy, action));
        }
    }
}
