//! Converts statistics from columns to the text of `add.stats`.
//!
//! Protocol: *Per-file Statistics*. Statistics that a checkpoint has only as columns are converted if the
//! next one contains text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray, StructArray};
use arrow_schema::DataType as ArrowType;
use serde_json::{Map, Value};

use super::{Cut, StatisticsColumns, day_text, time_text};
use crate::expr::Scalar;

impl StatisticsColumns {
    /// The text of each row, under the names of the columns; NULL if `present` is false.
    ///
    /// Timestamps are truncated to milliseconds, maximums are rounded up. NULLs and bounds that JSON
    /// cannot represent are omitted.
    ///
    /// ```
    /// use arrow_array::{BooleanArray, StringArray};
    /// use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
    /// use deltaic_protocol::statistics::StatisticsColumns;
    ///
    /// let schema = StructType { fields: vec![StructField::new("a", PrimitiveType::Long.into(), true)] };
    /// let text = r#"{"numRecords":3,"tightBounds":true,"minValues":{"a":1},"maxValues":{"a":9},"nullCount":{"a":0}}"#;
    /// let columns = StatisticsColumns::parse(&StringArray::from(vec![text]), &schema)?;
    /// assert_eq!(columns.to_texts(&BooleanArray::from(vec![true])).value(0), text);
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    #[must_use]
    pub fn to_texts(&self, present: &BooleanArray) -> StringArray {
        (0..present.len())
            .map(|row| (present.is_valid(row) && present.value(row)).then(|| self.text_of(row)))
            .collect()
    }

    fn text_of(&self, row: usize) -> String {
        let mut parts = Vec::new();
        let plain = [
            ("numRecords", &self.num_records),
            ("tightBounds", &self.tight_bounds),
        ];
        let below = [
            ("minValues", &self.min, Cut::Down),
            ("maxValues", &self.max, Cut::Up),
            ("nullCount", &self.null_count, Cut::Down),
        ];
        let plain = plain.map(|(key, column)| (key, spelled(column, row, Cut::Down)));
        let below = below.map(|(key, column, cut)| (key, spelled(column, row, cut)));
        for (key, value) in plain.into_iter().chain(below) {
            if let Some(value) = value {
                parts.push(format!("\"{key}\":{value}"));
            }
        }
        format!("{{{}}}", parts.join(","))
    }
}

/// A value as JSON; `None` if it is NULL or cannot be represented.
fn spelled(column: &ArrayRef, row: usize, cut: Cut) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    let quoted = |text: &str| Value::from(text).to_string();
    Some(match column.data_type() {
        ArrowType::Struct(_) => fields(column.as_struct_opt()?, row, cut)?,
        ArrowType::Boolean => column.as_boolean_opt()?.value(row).to_string(),
        ArrowType::Int8 => column.as_primitive_opt::<Int8Type>()?.value(row).to_string(),
        ArrowType::Int16 => column.as_primitive_opt::<Int16Type>()?.value(row).to_string(),
        ArrowType::Int32 => column.as_primitive_opt::<Int32Type>()?.value(row).to_string(),
        ArrowType::Int64 => column.as_primitive_opt::<Int64Type>()?.value(row).to_string(),
        ArrowType::Float32 => {
            let value = column.as_primitive_opt::<Float32Type>()?.value(row);
            match value.is_finite() {
                true => format!("{value:?}"),
                false => quoted(&Scalar::Float(value).to_partition_text()?),
            }
        }
        ArrowType::Float64 => {
            let value = column.as_primitive_opt::<Float64Type>()?.value(row);
            match value.is_finite() {
                true => format!("{value:?}"),
                false => quoted(&Scalar::Double(value).to_partition_text()?),
            }
        }
        ArrowType::Decimal128(precision, scale) => Scalar::Decimal {
            unscaled: column.as_primitive_opt::<Decimal128Type>()?.value(row),
            precision: *precision,
            scale: u8::try_from(*scale).ok()?,
        }
        .to_partition_text()?,
        ArrowType::Utf8 => quoted(column.as_string_opt::<i32>()?.value(row)),
        ArrowType::Date32 => {
            let days = column.as_primitive_opt::<Date32Type>()?.value(row);
            quoted(&day_text(days)?)
        }
        ArrowType::Timestamp(_, zone) => {
            let micros = column.as_primitive_opt::<TimestampMicrosecondType>()?.value(row);
            let text = time_text(micros, cut)?;
            quoted(&if zone.is_some() { text + "Z" } else { text })
        }
        _ => return None,
    })
}

fn fields(columns: &StructArray, row: usize, cut: Cut) -> Option<String> {
    let mut found = Map::new();
    let mut parts = Vec::new();
    for (field, column) in columns.fields().iter().zip(columns.columns()) {
        let Some(value) = spelled(column, row, cut) else {
            continue;
        };
        // A duplicate name is ambiguous, so none of its values is used.
        if found.insert(field.name().clone(), Value::Null).is_none() {
            parts.push(format!("{}:{value}", Value::from(field.name().as_str())));
        }
    }
    (!parts.is_empty()).then(|| format!("{{{}}}", parts.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{DataType, PrimitiveType, StructField, StructType};

    fn schema() -> StructType {
        let leaf = |name: &str, data_type: PrimitiveType| StructField::new(name, data_type.into(), true);
        let inner = StructType {
            fields: vec![
                leaf("y \"z\"", PrimitiveType::Short),
                leaf("none", PrimitiveType::Binary),
            ],
        };
        StructType {
            fields: vec![
                leaf("t", PrimitiveType::Timestamp),
                leaf("n", PrimitiveType::TimestampNtz),
                leaf("d", PrimitiveType::Date),
                leaf("s", PrimitiveType::String),
                leaf("f", PrimitiveType::Float),
                leaf("g", PrimitiveType::Double),
                leaf(
                    "c",
                    PrimitiveType::Decimal {
                        precision: 38,
                        scale: 3,
                    },
                ),
                leaf("b", PrimitiveType::Boolean),
                StructField::new("x", DataType::Struct(inner), true),
            ],
        }
    }

    /// Parsing the text returns the original values; the maximum of a timestamp may be larger, but never
    /// smaller.
    ///
    /// protocol: per-file-statistics.3
    #[test]
    fn formatted_values_parse_to_themselves() -> crate::Result<()> {
        let text = r#"{"numRecords":7,"tightBounds":false,
            "minValues":{"t":"2021-03-04T05:06:07.123456Z","n":"0001-01-01T00:00:00.000","d":"1969-12-31","s":"ü\"\\\n",
                "f":"-Infinity","g":-0.0,"c":-1E-3,"x":{"y \"z\"":-5}},
            "maxValues":{"t":"2021-03-04T05:06:07.123456Z","n":"9999-12-31T23:59:59.999","d":"9999-12-31","s":"\u0000",
                "f":"NaN","g":1.7976931348623157e308,"c":99999999999999999999999999999999999.999},
            "nullCount":{"t":0,"b":3,"x":{"none":2}}}"#;
        let schema = schema();
        let first = StatisticsColumns::parse(&StringArray::from(vec![Some(text), None]), &schema)?;
        let texts = first.to_texts(&BooleanArray::from(vec![true, false]));
        assert!(texts.is_null(1));
        let again = StatisticsColumns::parse(&texts, &schema)?;
        assert_eq!(again.num_records.as_ref(), first.num_records.as_ref());
        assert_eq!(again.tight_bounds.as_ref(), first.tight_bounds.as_ref());
        assert_eq!(again.null_count.as_ref(), first.null_count.as_ref());
        let times = |columns: &ArrayRef| {
            let column = columns.as_struct().column_by_name("t").cloned();
            column.map(|times| times.as_primitive::<TimestampMicrosecondType>().value(0))
        };
        assert_eq!(times(&again.min), Some(1_614_834_367_123_000));
        assert_eq!(times(&again.max), Some(1_614_834_367_124_000));
        for (first, again) in [(&first.min, &again.min), (&first.max, &again.max)] {
            let (first, again) = (first.as_struct(), again.as_struct());
            for name in ["n", "d", "s", "f", "g", "c", "x"] {
                let pair = (first.column_by_name(name), again.column_by_name(name));
                assert_eq!(format!("{:?}", pair.0), format!("{:?}", pair.1), "{name}");
            }
        }
        Ok(())
    }

    /// Dates that readers cannot represent are omitted.
    #[test]
    fn a_bound_without_a_spelling_is_left_out() {
        let days: ArrayRef = std::sync::Arc::new(arrow_array::Date32Array::from(vec![2_932_897, 0]));
        assert_eq!(spelled(&days, 0, Cut::Down), None);
        assert_eq!(spelled(&days, 1, Cut::Down).as_deref(), Some("\"1970-01-01\""));
    }
}
