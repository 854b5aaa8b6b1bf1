//! Parses a type in Spark's SQL spelling, such as `array<decimal(10,2)>` or `varchar(20)`.

use serde_json::Value;

use super::{ArrayType, DataType, MapType, PrimitiveType, StructField, StructType};
use crate::{Error, ErrorKind, Result};

/// The key of the length limits of strings in the metadata of a column.
const DECLARED: &str = "__CHAR_VARCHAR_TYPE_STRING";

/// The deepest nesting of a type.
const MAX_DEPTH: usize = 100;

impl StructField {
    /// A nullable column whose type is given as SQL text. The length limits of `char(n)` and `varchar(n)` are recorded in
    /// its metadata, as Spark does.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` with the `field` if the text is not a type.
    ///
    /// ```
    /// use deltaic_protocol::schema::StructField;
    /// let column = StructField::from_sql("tags", "array<varchar(9)>")?;
    /// assert_eq!(column.data_type.to_string(), "array<string>");
    /// assert_eq!(column.declared_type(), Some("array<varchar(9)>"));
    /// # Ok::<(), deltaic_protocol::Error>(())
    /// ```
    pub fn from_sql(name: &str, text: &str) -> Result<Self> {
        let mut parser = Parser {
            text,
            position: 0,
            depth: 0,
            is_bounded: false,
        };
        let parsed = parser.data_type().and_then(|parsed| {
            parser.skip_space();
            match parser.rest().is_empty() {
                true => Ok(parsed),
                false => Err(parser.unexpected("the end")),
            }
        });
        let parsed = parsed.map_err(|error| error.with("field", name))?;
        let mut field = Self::new(name, parsed.data_type, true);
        if parser.is_bounded {
            field
                .metadata
                .insert(DECLARED.to_owned(), Value::String(parsed.spelled));
        }
        Ok(field)
    }
}

/// A type, and its spelling with the length limits of strings.
struct Parsed {
    data_type: DataType,
    spelled: String,
}

impl From<PrimitiveType> for Parsed {
    fn from(primitive: PrimitiveType) -> Self {
        Self {
            spelled: primitive.to_string(),
            data_type: primitive.into(),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    position: usize,
    depth: usize,
    /// Whether the length of a string is limited.
    is_bounded: bool,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    /// The next word; empty if another character is next.
    fn word(&mut self) -> &'t str {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_');
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.position += word.len();
        word
    }

    fn accept(&mut self, sign: char) -> bool {
        self.skip_space();
        let is_next = self.rest().starts_with(sign);
        self.position += if is_next { sign.len_utf8() } else { 0 };
        is_next
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        match self.accept(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("{sign:?}"))),
        }
    }

    fn accept_word(&mut self, wanted: &str) -> bool {
        let before = self.position;
        let is_next = self.word().eq_ignore_ascii_case(wanted);
        if !is_next {
            self.position = before;
        }
        is_next
    }

    fn number<N: std::str::FromStr>(&mut self) -> Result<N> {
        let before = self.position;
        let number = self.word().parse();
        number.map_err(|_| {
            self.position = before;
            self.unexpected("a number")
        })
    }

    fn data_type(&mut self) -> Result<Parsed> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong("the type is nested too deeply".to_owned()));
        }
        let before = self.position;
        let word = self.word().to_lowercase();
        let parsed = match word.as_str() {
            "boolean" => PrimitiveType::Boolean.into(),
            "tinyint" | "byte" => PrimitiveType::Byte.into(),
            "smallint" | "short" => PrimitiveType::Short.into(),
            "int" | "integer" => PrimitiveType::Integer.into(),
            "bigint" | "long" => PrimitiveType::Long.into(),
            "float" | "real" => PrimitiveType::Float.into(),
            "double" => PrimitiveType::Double.into(),
            "date" => PrimitiveType::Date.into(),
            "timestamp" | "timestamp_ltz" => PrimitiveType::Timestamp.into(),
            "timestamp_ntz" => PrimitiveType::TimestampNtz.into(),
            "string" => PrimitiveType::String.into(),
            "binary" => PrimitiveType::Binary.into(),
            "void" => PrimitiveType::Void.into(),
            "variant" => PrimitiveType::Variant.into(),
            "decimal" | "dec" | "numeric" => self.decimal()?.into(),
            "char" | "character" => self.bounded("char")?,
            "varchar" => self.bounded("varchar")?,
            "array" => self.array()?,
            "map" => self.map()?,
            "struct" => self.fields()?,
            _ => {
                self.position = before;
                return Err(self.unexpected("a type"));
            }
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn decimal(&mut self) -> Result<PrimitiveType> {
        let (mut precision, mut scale) = (10, 0);
        if self.accept('(') {
            precision = self.number()?;
            if self.accept(',') {
                scale = self.number()?;
            }
            self.expect(')')?;
        }
        if !(1..=38).contains(&precision) || scale > precision {
            let what =
                format!("decimal({precision},{scale}) does not exist: 1 ≤ precision ≤ 38, scale ≤ precision");
            return Err(self.wrong(what));
        }
        Ok(PrimitiveType::Decimal { precision, scale })
    }

    fn bounded(&mut self, name: &str) -> Result<Parsed> {
        self.expect('(')?;
        let length: u32 = self.number()?;
        self.expect(')')?;
        if length == 0 {
            return Err(self.wrong(format!("{name}(0) does not exist: the length is at least 1")));
        }
        self.is_bounded = true;
        Ok(Parsed {
            data_type: PrimitiveType::String.into(),
            spelled: format!("{name}({length})"),
        })
    }

    fn array(&mut self) -> Result<Parsed> {
        self.expect('<')?;
        let element = self.data_type()?;
        self.expect('>')?;
        Ok(Parsed {
            data_type: DataType::Array(Box::new(ArrayType {
                element_type: element.data_type,
                contains_null: true,
            })),
            spelled: format!("array<{}>", element.spelled),
        })
    }

    fn map(&mut self) -> Result<Parsed> {
        self.expect('<')?;
        let key = self.data_type()?;
        self.expect(',')?;
        let value = self.data_type()?;
        self.expect('>')?;
        Ok(Parsed {
            data_type: DataType::Map(Box::new(MapType {
                key_type: key.data_type,
                value_type: value.data_type,
                value_contains_null: true,
            })),
            spelled: format!("map<{},{}>", key.spelled, value.spelled),
        })
    }

    fn fields(&mut self) -> Result<Parsed> {
        self.expect('<')?;
        let (mut fields, mut spelled): (Vec<StructField>, Vec<String>) = (Vec::new(), Vec::new());
        loop {
            let name = self.field_name()?;
            if fields
                .iter()
                .any(|other| other.name.to_lowercase() == name.to_lowercase())
            {
                return Err(self.wrong(format!("the struct has two fields {name:?}")));
            }
            self.accept(':');
            let parsed = self.data_type()?;
            spelled.push(format!("{name}:{}", parsed.spelled));
            let mut field = StructField::new(name, parsed.data_type, true);
            if self.accept_word("not") {
                if !self.accept_word("null") {
                    return Err(self.unexpected("NULL"));
                }
                field.nullable = false;
            }
            if self.accept_word("comment") {
                let comment = self.quoted('\'')?;
                field
                    .metadata
                    .insert("comment".to_owned(), Value::String(comment));
            }
            fields.push(field);
            if !self.accept(',') {
                break;
            }
        }
        self.expect('>')?;
        Ok(Parsed {
            data_type: DataType::Struct(StructType { fields }),
            spelled: format!("struct<{}>", spelled.join(",")),
        })
    }

    fn field_name(&mut self) -> Result<String> {
        self.skip_space();
        if self.rest().starts_with('`') {
            return self.quoted('`');
        }
        match self.word() {
            "" => Err(self.unexpected("the name of a field")),
            name => Ok(name.to_owned()),
        }
    }

    /// Text between two quotes; two quotes are one.
    fn quoted(&mut self, quote: char) -> Result<String> {
        self.expect(quote)?;
        let mut found = String::new();
        loop {
            let rest = self.rest();
            let Some((before, _)) = rest.split_once(quote) else {
                return Err(self.unexpected(&format!("the closing {quote}")));
            };
            found.push_str(before);
            self.position += before.len() + quote.len_utf8();
            if !self.rest().starts_with(quote) {
                return Ok(found);
            }
            found.push(quote);
            self.position += quote.len_utf8();
        }
    }

    fn unexpected(&self, wanted: &str) -> Error {
        let found = match self.rest().trim_start() {
            "" => "nothing".to_owned(),
            rest => format!("{rest:?}"),
        };
        self.wrong(format!("{wanted} is expected, not {found}"))
    }

    fn wrong(&self, what: String) -> Error {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the type {:?} is not valid: {what}", self.text),
        )
        .hint("write it as in Spark SQL: bigint, decimal(10,2), varchar(20), array<string>, map<string,int>, struct<a:int>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String> {
        StructField::from_sql("c", text).map(|field| field.data_type.to_string())
    }

    #[test]
    fn every_type_is_parsed_in_any_spelling() -> Result<()> {
        for name in [
            "boolean",
            "tinyint",
            "smallint",
            "int",
            "bigint",
            "float",
            "double",
            "date",
            "timestamp",
            "timestamp_ntz",
            "string",
            "binary",
            "void",
            "variant",
            "decimal(38,0)",
            "struct<a:array<map<string,decimal(10,2)>>,b:struct<c:int>>",
        ] {
            assert_eq!(parsed(name)?, name);
            assert_eq!(parsed(&name.to_uppercase())?.to_lowercase(), name);
        }
        for (text, name) in [
            (" LONG ", "bigint"),
            ("decimal", "decimal(10,0)"),
            ("numeric( 4 , 2 )", "decimal(4,2)"),
            ("dec(4)", "decimal(4,0)"),
            ("timestamp_ltz", "timestamp"),
            ("struct< a : int , `b c` string >", "struct<a:int,b c:string>"),
        ] {
            assert_eq!(parsed(text)?, name, "{text}");
        }
        let field = StructField::from_sql("c", "struct<a: int NOT NULL COMMENT 'it''s', n: char(3)>")?;
        let DataType::Struct(fields) = &field.data_type else {
            panic!("{field:?}");
        };
        assert!(!fields.fields[0].nullable);
        assert_eq!(
            fields.fields[0].metadata.get("comment"),
            Some(&Value::from("it's"))
        );
        assert_eq!(field.declared_type(), Some("struct<a:int,n:char(3)>"));
        Ok(())
    }

    #[test]
    fn other_text_is_refused_with_its_place() {
        let deep = format!("{}int{}", "array<".repeat(200), ">".repeat(200));
        for text in [
            "",
            "integre",
            "int,",
            "int int",
            "decimal(39)",
            "decimal(3,4)",
            "decimal(999)",
            "decimal(-1)",
            "char",
            "char(0)",
            "varchar(x)",
            "array",
            "array<int",
            "map<int>",
            "struct<>",
            "struct<a>",
            "struct<a:int,A:int>",
            "struct<`a:int>",
            "struct<a int not>",
            "string collate x",
            "interval day",
            "array<>>",
            deep.as_str(),
        ] {
            let error = parsed(text).err();
            assert_eq!(
                error.as_ref().map(Error::kind),
                Some(ErrorKind::InvalidArgument),
                "{text}"
            );
        }
        let error = parsed("array<integre>").expect_err("no type");
        assert!(
            error
                .to_string()
                .contains(r#"a type is expected, not "integre>""#),
            "{error}"
        );
    }
}
