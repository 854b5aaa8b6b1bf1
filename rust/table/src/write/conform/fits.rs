//! Determines which types of incoming data convert to the table's types: those that lose nothing, and numbers, each of which
//! must be kept.

use arrow_schema::DataType as ArrowType;
use deltaic_protocol::Result;
use deltaic_protocol::expr::is_assignable;
use deltaic_protocol::schema::{DataType, PrimitiveType, arrow_type_name, number_from_arrow};

use super::mismatch::mismatch;
use super::variant::is_variant;

/// Verifies that a type converts; the error names the column.
pub(in crate::write) fn fits(from: &ArrowType, to: &DataType, path: &str) -> Result<()> {
    let misfit = |hint: &str| {
        Err(mismatch(
            path,
            format!(
                "the column {path} is {to} in the table and {} in the data",
                arrow_type_name(from)
            ),
        )
        .hint(hint))
    };
    match (from, to) {
        (ArrowType::Null, _) => Ok(()),
        (ArrowType::Dictionary(_, value), to) => fits(value, to, path),
        (ArrowType::RunEndEncoded(_, value), to) => fits(value.data_type(), to, path),
        (ArrowType::Struct(fields), DataType::Primitive(PrimitiveType::Variant)) if is_variant(fields) => {
            Ok(())
        }
        (ArrowType::Struct(fields), DataType::Struct(columns)) => {
            let mut seen = std::collections::HashSet::new();
            for field in fields {
                if !seen.insert(field.name().to_lowercase()) {
                    return Err(mismatch(
                        path,
                        format!(
                            "two fields of {path} in the data are named {:?} (case does not count)",
                            field.name()
                        ),
                    )
                    .hint("drop or rename one of them"));
                }
                let Some(column) = columns.field_ignoring_case(field.name()) else {
                    return Err(
                        mismatch(path, format!("the table has no field {path}.{}", field.name()))
                            .hint("drop the field; the table's schema does not have it"),
                    );
                };
                fits(
                    field.data_type(),
                    &column.data_type,
                    &format!("{path}.{}", column.name),
                )?;
            }
            let missing = columns.fields.iter().find(|column| {
                !column.nullable
                    && !fields
                        .iter()
                        .any(|field| field.name().to_lowercase() == column.name.to_lowercase())
            });
            match missing {
                Some(column) => Err(mismatch(
                    path,
                    format!("the field {path}.{} is missing and may not be NULL", column.name),
                )),
                None => Ok(()),
            }
        }
        (
            ArrowType::List(element)
            | ArrowType::LargeList(element)
            | ArrowType::ListView(element)
            | ArrowType::LargeListView(element)
            | ArrowType::FixedSizeList(element, _),
            DataType::Array(array),
        ) => fits(
            element.data_type(),
            &array.element_type,
            &format!("{path}.element"),
        ),
        (ArrowType::Map(entries, _), DataType::Map(map)) => match entries.data_type() {
            ArrowType::Struct(parts) if parts.len() == 2 => {
                fits(parts[0].data_type(), &map.key_type, &format!("{path}.key"))?;
                fits(parts[1].data_type(), &map.value_type, &format!("{path}.value"))
            }
            _ => misfit("a map's entries are a key and a value"),
        },
        (from, DataType::Primitive(primitive)) if loses_nothing(from, *primitive) => Ok(()),
        (from, DataType::Primitive(primitive))
            if number_from_arrow(from).is_some_and(|from| is_assignable(from, *primitive)) =>
        {
            Ok(())
        }
        (ArrowType::Timestamp(_, None), DataType::Primitive(PrimitiveType::Timestamp)) => {
            misfit("timestamps need a time zone: use .dt.tz_localize('UTC'), or a timestamp_ntz column")
        }
        (ArrowType::Timestamp(_, Some(_)), DataType::Primitive(PrimitiveType::TimestampNtz)) => {
            misfit("remove the time zone: use .dt.tz_localize(None), or a timestamp column")
        }
        (ArrowType::Timestamp(..), DataType::Primitive(PrimitiveType::Date)) => {
            misfit("convert the timestamps to dates: use .dt.date")
        }
        _ => misfit("cast the column to the table's type"),
    }
}

/// Whether every value of a type is one of another.
pub(super) fn loses_nothing(from: &ArrowType, to: PrimitiveType) -> bool {
    use ArrowType as A;
    use PrimitiveType as P;
    match (from, to) {
        (A::Boolean, P::Boolean)
        | (A::Int8, P::Byte | P::Short | P::Integer | P::Long | P::Float | P::Double)
        | (A::Int16 | A::UInt8, P::Short | P::Integer | P::Long | P::Float | P::Double)
        | (A::Int32 | A::UInt16, P::Integer | P::Long | P::Double)
        | (A::Int64 | A::UInt32, P::Long)
        | (A::UInt32, P::Double)
        | (A::Float16 | A::Float32, P::Float | P::Double)
        | (A::Float64, P::Double)
        | (A::Utf8 | A::LargeUtf8 | A::Utf8View, P::String)
        | (A::Binary | A::LargeBinary | A::BinaryView | A::FixedSizeBinary(_), P::Binary)
        | (A::Date32 | A::Date64, P::Date)
        | (A::Date32, P::TimestampNtz | P::Timestamp)
        | (A::Timestamp(_, None), P::TimestampNtz)
        | (A::Timestamp(_, Some(_)), P::Timestamp) => true,
        (
            A::Int8 | A::Int16 | A::Int32 | A::Int64 | A::UInt8 | A::UInt16 | A::UInt32 | A::UInt64,
            P::Decimal { precision, scale },
        ) => {
            let digits = match from {
                A::Int8 | A::UInt8 => 3,
                A::Int16 | A::UInt16 => 5,
                A::Int32 | A::UInt32 => 10,
                A::UInt64 => 20,
                _ => 19,
            };
            precision.saturating_sub(scale) >= digits
        }
        (
            A::Decimal32(from_precision, from_scale)
            | A::Decimal64(from_precision, from_scale)
            | A::Decimal128(from_precision, from_scale)
            | A::Decimal256(from_precision, from_scale),
            P::Decimal { precision, scale },
        ) => {
            let (from_precision, from_scale) = (i16::from(*from_precision), i16::from(*from_scale));
            let (precision, scale) = (i16::from(precision), i16::from(scale));
            from_scale <= scale && from_precision - from_scale <= precision - scale
        }
        _ => false,
    }
}
