//! Filters of Spark as a tree in JSON, with columns by the names in data files, partition columns by their own, and
//! literals as Spark's internal values.
//!
//! A node is an object with `op`: `and`, `or` (`parts`), `not`, `is_null`, `is_nan`, `column`, `in`, `starts_with`,
//! `ends_with`, `contains`, `like` (`of`), `compare`, `constant` or `unknown`. A column has the `type` that Spark reads it
//! as, by Spark's name, and so has a `value`: days, microseconds, unscaled decimals, bits of floating-point numbers, bytes
//! in Base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log};
use deltaic_protocol::expr::{BoundPredicate, Comparison, LikePattern, Operand, Scalar, ValueSet};
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};
use serde::Deserialize;

/// The columns that the tree refers to.
pub(super) struct Columns<'a> {
    pub(super) schema: &'a StructType,
    pub(super) mapping: ColumnMappingMode,
    pub(super) partitions: &'a [String],
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Node {
    And {
        parts: Vec<Node>,
    },
    Or {
        parts: Vec<Node>,
    },
    Not {
        of: Box<Node>,
    },
    IsNull {
        of: Column,
    },
    IsNan {
        of: Column,
    },
    Column {
        of: Column,
    },
    In {
        of: Column,
        values: Vec<Literal>,
    },
    StartsWith {
        of: Column,
        value: Literal,
    },
    EndsWith {
        of: Column,
        value: Literal,
    },
    Contains {
        of: Column,
        value: Literal,
    },
    Like {
        of: Column,
        value: Literal,
        escape: char,
    },
    Compare {
        by: String,
        left: Side,
        right: Side,
    },
    Constant {
        value: Option<bool>,
    },
    Unknown,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Side {
    Column(Column),
    Literal(Literal),
}

#[derive(Deserialize)]
struct Column {
    column: Vec<String>,
    #[serde(rename = "type")]
    data_type: String,
}

#[derive(Deserialize)]
struct Literal {
    value: serde_json::Value,
    #[serde(rename = "type")]
    data_type: String,
}

impl Columns<'_> {
    /// A condition that is TRUE wherever the tree is; `None` if that is not known of any part.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` for text that is not such a tree.
    pub(super) fn implied(&self, tree: &str) -> Result<Option<BoundPredicate>> {
        let node: Node = serde_json::from_str(tree).map_err(|error| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("the text is not a tree of filters: {error}"),
            )
        })?;
        Ok(self.weaker(node))
    }

    /// A condition that is TRUE wherever the node is.
    fn weaker(&self, node: Node) -> Option<BoundPredicate> {
        match node {
            Node::And { parts } => {
                let known = parts.into_iter().filter_map(|part| self.weaker(part));
                BoundPredicate::all_of(known.collect())
            }
            Node::Or { parts } => {
                let parts = parts.into_iter().map(|part| self.weaker(part));
                parts.collect::<Option<_>>().map(BoundPredicate::Or)
            }
            other => self.equal(other),
        }
    }

    /// The condition that has the same result.
    fn equal(&self, node: Node) -> Option<BoundPredicate> {
        let all =
            |parts: Vec<Node>| -> Option<Vec<_>> { parts.into_iter().map(|part| self.equal(part)).collect() };
        Some(match node {
            Node::And { parts } => BoundPredicate::And(all(parts)?),
            Node::Or { parts } => BoundPredicate::Or(all(parts)?),
            Node::Not { of } => BoundPredicate::Not(Box::new(self.equal(*of)?)),
            Node::IsNull { of } => BoundPredicate::IsNull(self.place(&of.column)?.0),
            Node::IsNan { of } => match self.typed(&of)? {
                (path, PrimitiveType::Float | PrimitiveType::Double) => BoundPredicate::IsNan(path),
                _ => return None,
            },
            Node::Column { of } => match self.typed(&of)? {
                (path, PrimitiveType::Boolean) => BoundPredicate::Column(path),
                _ => return None,
            },
            Node::In { of, values } => self.is_in(&of, &values)?,
            Node::StartsWith { of, value } => {
                let (path, text) = self.text(&of, &value)?;
                BoundPredicate::StartsWith(path, text)
            }
            Node::EndsWith { of, value } => {
                let (path, text) = self.text(&of, &value)?;
                BoundPredicate::EndsWith(path, text)
            }
            Node::Contains { of, value } => {
                let (path, text) = self.text(&of, &value)?;
                BoundPredicate::Contains(path, text)
            }
            Node::Like { of, value, escape } => {
                let (path, text) = self.text(&of, &value)?;
                BoundPredicate::Like(path, LikePattern::parse(&text, escape).ok()?)
            }
            Node::Compare { by, left, right } => self.compared(&by, &left, &right)?,
            Node::Constant { value } => BoundPredicate::Constant(value),
            Node::Unknown => return None,
        })
    }

    fn compared(&self, by: &str, left: &Side, right: &Side) -> Option<BoundPredicate> {
        let op = match by {
            "=" => Comparison::Equal,
            "<=>" => Comparison::NullSafeEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        };
        let ((Side::Column(column), _) | (_, Side::Column(column))) = (left, right) else {
            return None;
        };
        let (_, common) = self.typed(column)?;
        let operand = |side: &Side| match side {
            Side::Literal(literal) => literal.of_type(common)?.map(Operand::Scalar),
            Side::Column(column) => {
                let (path, data_type) = self.typed(column)?;
                (data_type == common).then_some(Operand::Column(path))
            }
        };
        Some(BoundPredicate::Compare {
            op,
            left: operand(left)?,
            right: operand(right)?,
            common,
        })
    }

    fn is_in(&self, of: &Column, values: &[Literal]) -> Option<BoundPredicate> {
        let (path, data_type) = self.typed(of)?;
        if data_type == PrimitiveType::Boolean {
            // Not evaluated by the core; Spark makes comparisons of short lists.
            return None;
        }
        let values: Option<Vec<_>> = values.iter().map(|value| value.of_type(data_type)).collect();
        let values = values?;
        let has_null = values.contains(&None);
        let values: Vec<_> = values.into_iter().flatten().collect();
        (!values.is_empty()).then(|| BoundPredicate::In {
            path,
            values: ValueSet::new(values),
            has_null,
        })
    }

    fn text(&self, of: &Column, value: &Literal) -> Option<(Vec<String>, String)> {
        let (path, data_type) = self.typed(of)?;
        match (data_type, value.of_type(data_type)??) {
            (PrimitiveType::String, Scalar::String(text)) => Some((path, text)),
            _ => None,
        }
    }

    /// The logical path of a column, and its type, if Spark reads it as the same.
    fn typed(&self, column: &Column) -> Option<(Vec<String>, PrimitiveType)> {
        match self.place(&column.column)? {
            (path, DataType::Primitive(data_type)) if data_type.to_string() == column.data_type => {
                Some((path, *data_type))
            }
            _ => None,
        }
    }

    /// The logical path of a column with these names in data files, and its type.
    fn place(&self, names: &[String]) -> Option<(Vec<String>, &DataType)> {
        let (last, above) = names.split_last()?;
        let mut path = Vec::with_capacity(names.len());
        let mut fields = &self.schema.fields;
        let is_partition = |field: &StructField| self.partitions.contains(&field.name);
        let find = |fields: &[StructField], name: &str, on_top: bool| {
            let in_files = |field: &StructField| name_in_log(field, self.mapping) == name;
            // A partition column has another name in the tree if a column in files has its own.
            fields
                .iter()
                .position(|field| !(on_top && is_partition(field)) && in_files(field))
                .or_else(|| {
                    let mut fields = fields.iter();
                    fields.position(|field| on_top && is_partition(field) && field.name == name)
                })
        };
        for name in above {
            let field = fields.get(find(fields, name, path.is_empty())?)?;
            path.push(field.name.clone());
            let DataType::Struct(inner) = &field.data_type else {
                return None;
            };
            fields = &inner.fields;
        }
        let field = fields.get(find(fields, last, path.is_empty())?)?;
        path.push(field.name.clone());
        Some((path, &field.data_type))
    }
}

impl Literal {
    /// The value as one of a type, which must be its own; `None` if it is not known, `Some(None)` for NULL.
    fn of_type(&self, data_type: PrimitiveType) -> Option<Option<Scalar>> {
        if data_type.to_string() != self.data_type {
            return None;
        }
        if self.value.is_null() {
            return Some(None);
        }
        if data_type == PrimitiveType::Boolean {
            return Some(Some(Scalar::Boolean(self.value.as_bool()?)));
        }
        let text = self.value.as_str()?;
        Some(Some(match data_type {
            PrimitiveType::Byte => Scalar::Byte(text.parse().ok()?),
            PrimitiveType::Short => Scalar::Short(text.parse().ok()?),
            PrimitiveType::Integer => Scalar::Integer(text.parse().ok()?),
            PrimitiveType::Long => Scalar::Long(text.parse().ok()?),
            PrimitiveType::Float => Scalar::Float(f32::from_bits(text.parse::<i32>().ok()?.cast_unsigned())),
            PrimitiveType::Double => {
                Scalar::Double(f64::from_bits(text.parse::<i64>().ok()?.cast_unsigned()))
            }
            PrimitiveType::Decimal { precision, scale } => Scalar::Decimal {
                unscaled: text.parse().ok()?,
                precision,
                scale,
            },
            PrimitiveType::String => Scalar::String(text.to_owned()),
            PrimitiveType::Binary => Scalar::Binary(BASE64.decode(text).ok()?),
            PrimitiveType::Date => Scalar::Date(text.parse().ok()?),
            PrimitiveType::Timestamp => Scalar::Timestamp(text.parse().ok()?),
            PrimitiveType::TimestampNtz => Scalar::TimestampNtz(text.parse().ok()?),
            PrimitiveType::Boolean | PrimitiveType::Void | PrimitiveType::Variant => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_partition_column_comes_after_a_column_in_files_of_its_name() {
        let mapped = |name: &str, physical: &str| {
            let mut field = StructField::new(name, DataType::Primitive(PrimitiveType::Long), true);
            let key = "delta.columnMapping.physicalName".to_owned();
            field.metadata.insert(key, json!(physical));
            field
        };
        let schema = StructType {
            fields: vec![mapped("p", "q"), mapped("b", "p")],
        };
        let columns = Columns {
            schema: &schema,
            mapping: ColumnMappingMode::Name,
            partitions: &["p".to_owned()],
        };
        let place = |name: &str| columns.place(&[name.to_owned()]).map(|(path, _)| path);
        assert_eq!(place("p"), Some(vec!["b".to_owned()]));
        assert_eq!(place("q"), None);
    }

    fn schema() -> StructType {
        let field = |name: &str, data_type| StructField::new(name, DataType::Primitive(data_type), true);
        let decimal = PrimitiveType::Decimal {
            precision: 10,
            scale: 2,
        };
        let inner = StructType {
            fields: vec![field("x y", PrimitiveType::Integer)],
        };
        let mut mapped = field("logical", PrimitiveType::Long);
        let physical = json!("col-7");
        mapped
            .metadata
            .insert("delta.columnMapping.physicalName".to_owned(), physical);
        StructType {
            fields: vec![
                field("i", PrimitiveType::Integer),
                field("d", PrimitiveType::Double),
                field("m", decimal),
                field("t", PrimitiveType::Timestamp),
                field("s", PrimitiveType::String),
                field("b", PrimitiveType::Boolean),
                StructField::new("o", DataType::Struct(inner), true),
                mapped,
            ],
        }
    }

    fn implied(tree: &Value) -> Option<String> {
        let columns = Columns {
            schema: &schema(),
            mapping: ColumnMappingMode::Name,
            partitions: &[],
        };
        let found = columns.implied(&tree.to_string()).expect("a tree");
        found.map(|found| found.to_string())
    }

    fn column(path: &[&str], data_type: &str) -> Value {
        json!({"column": path, "type": data_type})
    }

    fn value(value: &Value, data_type: &str) -> Value {
        json!({"value": value, "type": data_type})
    }

    fn compare(by: &str, left: &Value, right: &Value) -> Value {
        json!({"op": "compare", "by": by, "left": left, "right": right})
    }

    fn is_five() -> Value {
        compare("=", &column(&["i"], "int"), &value(&json!("5"), "int"))
    }

    #[test]
    fn literals_are_internal_values() {
        let bits = 1.5f64.to_bits().cast_signed().to_string();
        for (path, data_type, literal, expected) in [
            (&["i"][..], "int", json!("-5"), "i < -5"),
            (&["d"], "double", json!(bits), "d < 1.5D"),
            (&["m"], "decimal(10,2)", json!("-125"), "m < -1.25BD"),
            (
                &["t"],
                "timestamp",
                json!("1000000"),
                "t < TIMESTAMP '1970-01-01T00:00:01Z'",
            ),
            (&["s"], "string", json!("it's"), "s < 'it\\'s'"),
            (&["o", "x y"], "int", json!("1"), "o.`x y` < 1"),
            (&["col-7"], "bigint", json!("1"), "logical < 1"),
        ] {
            let tree = compare("<", &column(path, data_type), &value(&literal, data_type));
            assert_eq!(implied(&tree).as_deref(), Some(expected), "{tree}");
        }
    }

    #[test]
    fn what_is_not_certain_is_not_known() {
        for tree in [
            // Another type than that of the table, unknown columns, NULL, an operator.
            compare("=", &column(&["i"], "bigint"), &value(&json!("5"), "bigint")),
            compare("=", &column(&["i"], "int"), &value(&json!("5"), "bigint")),
            compare("=", &column(&["i"], "int"), &value(&json!("3000000000"), "int")),
            compare("=", &column(&["i"], "int"), &value(&Value::Null, "int")),
            compare(
                "=",
                &column(&["m"], "decimal(10,3)"),
                &value(&json!("1"), "decimal(10,3)"),
            ),
            compare("=", &column(&["I"], "int"), &value(&json!("5"), "int")),
            compare(
                "=",
                &column(&["logical"], "bigint"),
                &value(&json!("5"), "bigint"),
            ),
            compare("=", &column(&["i", "x"], "int"), &value(&json!("5"), "int")),
            compare("~", &column(&["i"], "int"), &value(&json!("5"), "int")),
            json!({"op": "in", "of": column(&["i"], "int"), "values": [value(&Value::Null, "int")]}),
            json!({"op": "starts_with", "of": column(&["i"], "int"), "value": value(&json!("5"), "int")}),
            json!({"op": "like", "of": column(&["s"], "string"), "value": value(&json!("\\x"), "string"), "escape": "\\"}),
            json!({"op": "is_nan", "of": column(&["i"], "int")}),
            json!({"op": "column", "of": column(&["i"], "int")}),
            json!({"op": "unknown"}),
        ] {
            assert_eq!(implied(&tree), None, "{tree}");
        }
    }

    /// An unknown part of AND is left out, except below NOT; one of OR leaves nothing.
    #[test]
    fn unknown_parts_weaken_the_condition() {
        let unknown = json!({"op": "unknown"});
        let not = |of: &Value| json!({"op": "not", "of": of});
        let joined = |op: &str| json!({"op": op, "parts": [is_five(), unknown]});
        assert_eq!(implied(&joined("and")).as_deref(), Some("i = 5"));
        assert_eq!(implied(&joined("or")), None);
        assert_eq!(implied(&not(&joined("and"))), None);
        assert_eq!(implied(&not(&joined("or"))), None);
        assert_eq!(implied(&not(&not(&joined("and")))), None);
        assert_eq!(implied(&not(&is_five())).as_deref(), Some("NOT i = 5"));
        let within =
            json!({"op": "or", "parts": [joined("and"), {"op": "column", "of": column(&["b"], "boolean")}]});
        assert_eq!(implied(&within).as_deref(), Some("(i = 5 OR b)"));
    }

    #[test]
    fn lists_and_texts() {
        let text = |op: &str, text: &str| {
            let mut tree =
                json!({"op": op, "of": column(&["s"], "string"), "value": value(&json!(text), "string")});
            if op == "like" {
                tree["escape"] = json!("!");
            }
            implied(&tree).expect("known")
        };
        assert_eq!(text("starts_with", "a%"), "startswith(s, 'a%')");
        assert_eq!(text("like", "a!%_b%"), "s LIKE 'a\\\\%_b%'");
        let values = ["3", "1", "3"].map(|text| value(&json!(text), "int"));
        let mut list = values.to_vec();
        list.push(value(&Value::Null, "int"));
        let tree = json!({"op": "in", "of": column(&["i"], "int"), "values": list});
        assert_eq!(implied(&tree).as_deref(), Some("i IN (1, 3, NULL)"));
        let null = json!({"op": "is_null", "of": column(&["o"], "")});
        assert_eq!(implied(&null).as_deref(), Some("o IS NULL"));
    }

    #[test]
    fn other_text_is_an_error() {
        let columns = Columns {
            schema: &schema(),
            mapping: ColumnMappingMode::None,
            partitions: &[],
        };
        let deep = format!("{}{}", "{\"op\":\"not\",\"of\":".repeat(5_000), "1");
        for text in ["", "{}", "[]", "{\"op\":\"xor\"}", deep.as_str()] {
            let error = columns.implied(text).expect_err("no tree");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text:.20}");
        }
    }
}
