//! Merges the schema of data that is to be written into the schema of a table.

use super::widen::{ensure_iceberg_has, record};
use crate::schema::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType, is_widening};
use crate::{Error, ErrorKind, Result};

/// Whether the types of the table may be widened to those of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Widening {
    /// No widening: the table does not have `delta.enableTypeWidening`.
    Forbidden,
    /// Widening is allowed.
    Allowed,
    /// Only widening that Iceberg supports is allowed.
    AsIceberg,
}

/// Returns the schema of a table with the columns of the data that is to be written.
///
/// Columns are matched by name, ignoring case, and retain their position and metadata. New columns are
/// appended and are nullable, because existing rows are NULL in them. A narrower type in the data does
/// not change the type of the table; a wider type widens it if that is allowed. Changes from integers to
/// floating point and decimals are never automatic: request them by name.
///
/// # Errors
///
/// Returns `SchemaMismatch` with the `field` if the types are incompatible.
///
/// ```
/// use deltaic_protocol::schema::{PrimitiveType, StructField, StructType};
/// use deltaic_protocol::schema_evolution::{Widening, merged};
/// let of = |name: &str, data_type: PrimitiveType| StructType {
///     fields: vec![StructField::new(name, data_type.into(), true)],
/// };
/// let table = of("id", PrimitiveType::Long);
/// let both = merged(&table, &of("ID", PrimitiveType::Integer), Widening::Forbidden)?;
/// assert_eq!(both, table);
/// let both = merged(&table, &of("name", PrimitiveType::String), Widening::Forbidden)?;
/// assert_eq!(both.names().collect::<Vec<_>>(), ["id", "name"]);
/// # Ok::<(), deltaic_protocol::Error>(())
/// ```
pub fn merged(table: &StructType, data: &StructType, widening: Widening) -> Result<StructType> {
    Merge { widening }.fields(table, data, "")
}

struct Merge {
    widening: Widening,
}

/// A type change in a part of the field that is being merged.
type NestedTypeChange = (Vec<String>, PrimitiveType, PrimitiveType);

impl Merge {
    fn fields(&self, table: &StructType, data: &StructType, above: &str) -> Result<StructType> {
        let mut merged = table.clone();
        for field in &data.fields {
            let path = if above.is_empty() {
                field.name.clone()
            } else {
                format!("{above}.{}", field.name)
            };
            let place = table
                .field_ignoring_case(&field.name)
                .and_then(|known| merged.fields.iter_mut().find(|other| other.name == known.name));
            match place {
                Some(known) => self.field(known, field, &path)?,
                None if field.data_type.as_primitive() == Some(PrimitiveType::Void) => {
                    return Err(mismatch(&path, format!("the new column {path} has no type"))
                        .hint("give it a type, for example string"));
                }
                None => merged.fields.push(StructField {
                    nullable: true,
                    ..field.clone()
                }),
            }
        }
        Ok(merged)
    }

    fn field(&self, known: &mut StructField, field: &StructField, path: &str) -> Result<()> {
        let mut changes: Vec<NestedTypeChange> = Vec::new();
        known.data_type = self.data_type(
            &known.data_type,
            &field.data_type,
            path,
            &mut Vec::new(),
            &mut changes,
        )?;
        for (part, from, to) in changes {
            record(known, &part, from, to);
        }
        Ok(())
    }

    fn data_type(
        &self,
        table: &DataType,
        data: &DataType,
        path: &str,
        part: &mut Vec<String>,
        changes: &mut Vec<NestedTypeChange>,
    ) -> Result<DataType> {
        match (table, data) {
            (DataType::Primitive(PrimitiveType::Void), other) => Ok(other.clone()),
            (known, DataType::Primitive(PrimitiveType::Void)) => Ok(known.clone()),
            (DataType::Primitive(known), DataType::Primitive(given)) => {
                if known == given || is_widening(*given, *known) {
                    return Ok(table.clone());
                }
                self.ensure_widens(path, *known, *given)?;
                changes.push((part.clone(), *known, *given));
                Ok(data.clone())
            }
            (DataType::Struct(known), DataType::Struct(given)) => {
                self.fields(known, given, path).map(DataType::Struct)
            }
            (DataType::Array(known), DataType::Array(given)) => {
                let (one, other) = (&known.element_type, &given.element_type);
                Ok(DataType::Array(Box::new(ArrayType {
                    element_type: self.below("element", one, other, path, part, changes)?,
                    contains_null: known.contains_null,
                })))
            }
            (DataType::Map(known), DataType::Map(given)) => Ok(DataType::Map(Box::new(MapType {
                key_type: self.below("key", &known.key_type, &given.key_type, path, part, changes)?,
                value_type: self.below("value", &known.value_type, &given.value_type, path, part, changes)?,
                value_contains_null: known.value_contains_null,
            }))),
            (known, given) if known == given => Ok(known.clone()),
            (known, given) => Err(mismatch(
                path,
                format!("the column {path} is {given} in the data and {known} in the table"),
            )),
        }
    }

    fn below(
        &self,
        name: &str,
        table: &DataType,
        data: &DataType,
        path: &str,
        part: &mut Vec<String>,
        changes: &mut Vec<NestedTypeChange>,
    ) -> Result<DataType> {
        part.push(name.to_owned());
        let merged = self.data_type(table, data, &format!("{path}.{name}"), part, changes);
        part.pop();
        merged
    }

    /// Verifies that the type of the table may be widened to that of the data.
    fn ensure_widens(&self, path: &str, from: PrimitiveType, to: PrimitiveType) -> Result<()> {
        use PrimitiveType::{Byte, Decimal, Double, Integer, Long, Short};
        let message = format!("the column {path} is {to} in the data and {from} in the table");
        if !is_widening(from, to) {
            return Err(mismatch(path, message).hint("cast the column to the table's type"));
        }
        if self.widening == Widening::Forbidden {
            return Err(mismatch(path, message).hint(
                "cast the column to the table's type, or set delta.enableTypeWidening to true: the table's type becomes \
                 wider then",
            ));
        }
        if matches!(
            (from, to),
            (Byte | Short | Integer | Long, Double | Decimal { .. })
        ) {
            return Err(mismatch(path, message).hint("change the column's type by name first"));
        }
        if self.widening == Widening::AsIceberg {
            ensure_iceberg_has(path, from, to)?;
        }
        Ok(())
    }
}

fn mismatch(path: &str, message: String) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message).with("field", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(fields: &str) -> Result<StructType> {
        StructType::from_json(&format!(r#"{{"type":"struct","fields":[{fields}]}}"#))
    }

    fn column(name: &str, data_type: &str) -> String {
        let quoted = if data_type.starts_with('{') {
            data_type.to_owned()
        } else {
            format!("{data_type:?}")
        };
        format!(r#"{{"name":"{name}","type":{quoted},"nullable":true,"metadata":{{}}}}"#)
    }

    fn merge(table: &str, data: &str, widening: Widening) -> Result<StructType> {
        merged(
            &schema(&column("a", table))?,
            &schema(&column("A", data))?,
            widening,
        )
    }

    #[test]
    fn new_columns_remain_after_and_are_nullable_at_every_depth() -> Result<()> {
        let inner = |names: &[&str]| {
            let fields: Vec<String> = names.iter().map(|name| column(name, "long")).collect();
            format!(r#"{{"type":"struct","fields":[{}]}}"#, fields.join(","))
        };
        let list =
            |element: &str| format!(r#"{{"type":"array","elementType":{element},"containsNull":false}}"#);
        let map = |value: &str| {
            format!(r#"{{"type":"map","keyType":"string","valueType":{value},"valueContainsNull":false}}"#)
        };
        let of = |names: &[&str], more: &str| {
            let all = [
                column("s", &inner(names)),
                column("l", &list(&inner(names))),
                column("m", &map(&inner(names))),
            ];
            schema(&(all.join(",") + more))
        };
        let table = of(&["x"], "")?;
        let strict = column("n", "string").replace("true", "false");
        let data = of(&["y", "X"], &format!(",{strict}"))?;
        let expected = of(&["x", "y"], &format!(",{}", column("n", "string")))?;
        assert_eq!(merged(&table, &data, Widening::Forbidden)?, expected);
        // Merging is idempotent, in any order.
        assert_eq!(merged(&expected, &data, Widening::Forbidden)?, expected);
        assert_eq!(merged(&expected, &table, Widening::Forbidden)?, expected);
        Ok(())
    }

    /// protocol: beyond:type-widening.4, beyond:type-widening.5
    #[test]
    fn types_become_wider_where_they_may_and_it_is_recorded() -> Result<()> {
        let wider = merge("integer", "long", Widening::Allowed)?;
        assert_eq!(
            wider.to_json(),
            r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"delta.typeChanges":[{"fromType":"integer","toType":"long"}]}}]}"#
        );
        let list =
            |element: &str| format!(r#"{{"type":"array","elementType":"{element}","containsNull":true}}"#);
        let within = merge(&list("float"), &list("double"), Widening::AsIceberg)?;
        assert!(
            within
                .to_json()
                .contains(r#"{"fromType":"float","toType":"double","fieldPath":"element"}"#)
        );
        for (table, data, widening) in [
            ("integer", "long", Widening::Forbidden),
            ("integer", "string", Widening::Allowed),
            ("integer", "double", Widening::Allowed),
            ("long", "decimal(20,0)", Widening::Allowed),
            ("date", "timestamp_ntz", Widening::AsIceberg),
            ("timestamp", "timestamp_ntz", Widening::Allowed),
            ("long", list("long").as_str(), Widening::Allowed),
            ("quaternion", "long", Widening::Allowed),
        ] {
            let error = merge(table, data, widening).err();
            assert_eq!(
                error.map(|error| error.kind()),
                Some(ErrorKind::SchemaMismatch),
                "{table} {data}"
            );
        }
        for (table, data) in [
            ("long", "integer"),
            ("double", "float"),
            ("decimal(12,2)", "integer"),
            ("string", "void"),
            ("quaternion", "quaternion"),
        ] {
            let same = merge(table, data, Widening::Forbidden)?;
            assert_eq!(same, schema(&column("a", table))?, "{table} {data}");
        }
        assert_eq!(
            merge("void", "string", Widening::Forbidden)?,
            schema(&column("a", "string"))?
        );
        assert!(merged(&schema("")?, &schema(&column("a", "void"))?, Widening::Allowed).is_err());
        Ok(())
    }
}
