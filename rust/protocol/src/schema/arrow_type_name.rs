//! Names of Arrow types in errors: Spark's, and a description of a type that Spark does not have.

use arrow_schema::{DataType, Fields};

/// The name of a type, such as `bigint`, `array<string>` or `unsigned 64-bit integer (Arrow uint64)`.
#[must_use]
pub fn arrow_type_name(data_type: &DataType) -> String {
    use DataType as D;
    match data_type {
        D::Dictionary(_, values) => arrow_type_name(values),
        D::RunEndEncoded(_, values) => arrow_type_name(values.data_type()),
        D::List(element)
        | D::LargeList(element)
        | D::ListView(element)
        | D::LargeListView(element)
        | D::FixedSizeList(element, _) => format!("array<{}>", arrow_type_name(element.data_type())),
        D::Struct(fields) => format!("struct<{}>", members(fields)),
        D::Map(entries, _) => match entries.data_type() {
            D::Struct(fields) => {
                let parts = fields.iter().map(|field| arrow_type_name(field.data_type()));
                format!("map<{}>", parts.collect::<Vec<_>>().join(","))
            }
            other => arrow_type_name(other),
        },
        D::UInt8 => "unsigned 8-bit integer (Arrow uint8)".to_owned(),
        D::UInt16 => "unsigned 16-bit integer (Arrow uint16)".to_owned(),
        D::UInt32 => "unsigned 32-bit integer (Arrow uint32)".to_owned(),
        D::UInt64 => "unsigned 64-bit integer (Arrow uint64)".to_owned(),
        D::Float16 => "half-precision float (Arrow float16)".to_owned(),
        D::Time32(_) => "time of day (Arrow time32)".to_owned(),
        D::Time64(_) => "time of day (Arrow time64)".to_owned(),
        D::Duration(_) => "duration (Arrow duration)".to_owned(),
        D::Interval(_) => "interval (Arrow interval)".to_owned(),
        D::Union(..) => "union (Arrow union)".to_owned(),
        D::Decimal32(precision, scale)
        | D::Decimal64(precision, scale)
        | D::Decimal128(precision, scale)
        | D::Decimal256(precision, scale) => format!("decimal({precision},{scale})"),
        D::Null => "void".to_owned(),
        D::Boolean => "boolean".to_owned(),
        D::Int8 => "tinyint".to_owned(),
        D::Int16 => "smallint".to_owned(),
        D::Int32 => "int".to_owned(),
        D::Int64 => "bigint".to_owned(),
        D::Float32 => "float".to_owned(),
        D::Float64 => "double".to_owned(),
        D::Utf8 | D::LargeUtf8 | D::Utf8View => "string".to_owned(),
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => "binary".to_owned(),
        D::Date32 | D::Date64 => "date".to_owned(),
        D::Timestamp(_, None) => "timestamp_ntz".to_owned(),
        D::Timestamp(_, Some(_)) => "timestamp".to_owned(),
    }
}

fn members(fields: &Fields) -> String {
    let members = fields.iter().map(|field| {
        let name = field.name();
        format!("{name}:{}", arrow_type_name(field.data_type()))
    });
    members.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, IntervalUnit, TimeUnit};

    use super::*;

    #[test]
    fn every_type_has_a_name_of_spark_or_a_description() {
        let field = |name: &str, data_type: DataType| Arc::new(Field::new(name, data_type, true));
        let pair = Fields::from(vec![
            field("key", DataType::LargeUtf8),
            field("value", DataType::UInt8),
        ]);
        let entries = field("entries", DataType::Struct(pair.clone()));
        for (data_type, name) in [
            (DataType::Int8, "tinyint"),
            (DataType::Int64, "bigint"),
            (DataType::Utf8View, "string"),
            (DataType::Null, "void"),
            (DataType::FixedSizeBinary(3), "binary"),
            (DataType::Decimal256(50, 2), "decimal(50,2)"),
            (DataType::Timestamp(TimeUnit::Nanosecond, None), "timestamp_ntz"),
            (
                DataType::Interval(IntervalUnit::DayTime),
                "interval (Arrow interval)",
            ),
            (
                DataType::LargeList(field("item", DataType::UInt64)),
                "array<unsigned 64-bit integer (Arrow uint64)>",
            ),
            (
                DataType::Struct(pair),
                "struct<key:string,value:unsigned 8-bit integer (Arrow uint8)>",
            ),
            (
                DataType::Map(entries, false),
                "map<string,unsigned 8-bit integer (Arrow uint8)>",
            ),
            (
                DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
                "string",
            ),
        ] {
            assert_eq!(arrow_type_name(&data_type), name);
        }
    }
}
