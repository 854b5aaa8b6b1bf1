//! Partition values of a file action, borrowed from the commit line.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

use crate::json_string::Text;

/// Maximum number of partition values of a file. No table has so many columns, and each value uses more
/// memory than its text.
const MOST_VALUES: usize = 1 << 16;

/// `partitionValues` as spelled in the log, in the order of the line; duplicate columns are an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionText<'a>(pub Vec<(Text<'a>, Option<Text<'a>>)>);

impl<'de: 'a, 'a> Deserialize<'de> for PartitionText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor;
        impl<'de> Visitor<'de> for MapVisitor {
            type Value = PartitionText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from partition column to text or null")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut values: Vec<(Text<'de>, Option<Text<'de>>)> = Vec::new();
                let mut many = std::collections::HashSet::new();
                while let Some((key, value)) = map.next_entry::<Text<'de>, Option<Text<'de>>>()? {
                    if values.len() == MOST_VALUES {
                        return Err(A::Error::custom(format!(
                            "a file has more than {MOST_VALUES} partition values"
                        )));
                    }
                    // For a few columns, a linear search is faster than hashing; for thousands it is
                    // not.
                    let twice = if values.len() < 16 {
                        values.iter().any(|(known, _)| *known == key)
                    } else {
                        if many.is_empty() {
                            many.extend(values.iter().map(|(known, _)| known.0.clone().into_owned()));
                        }
                        !many.insert(key.0.clone().into_owned())
                    };
                    if twice {
                        return Err(A::Error::custom(format!(
                            "the partition column {:?} is listed twice",
                            key.0
                        )));
                    }
                    values.push((key, value));
                }
                Ok(PartitionText(values))
            }
        }
        deserializer.deserialize_map(MapVisitor)
    }
}
