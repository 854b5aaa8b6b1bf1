//! Selects columns, and fields in them, by name.

use deltaic_protocol::error::nearest;
use deltaic_protocol::schema::{ColumnName, DataType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

/// Selects columns in the requested order. `a.b` is the struct `a` with only its field `b`; several fields of one
/// struct become one column, at the position of the first.
///
/// # Errors
///
/// `InvalidArgument` for an unknown name, with the closest match, and for a duplicate.
pub(crate) fn choose(schema: &StructType, names: &[String]) -> Result<StructType> {
    let mut chosen = StructType::default();
    for name in names {
        let path = match schema.field_ignoring_case(name) {
            // The name of a column may contain a dot.
            Some(_) => vec![name.clone()],
            None => match ColumnName::parse(name) {
                Ok(path) => path.parts().to_vec(),
                Err(_) => vec![name.clone()],
            },
        };
        add(&mut chosen, schema, &path, name)?;
    }
    Ok(chosen)
}

fn add(chosen: &mut StructType, schema: &StructType, path: &[String], name: &str) -> Result<()> {
    let Some((first, rest)) = path.split_first() else {
        return Ok(());
    };
    let Some(field) = schema.field_ignoring_case(first) else {
        return Err(unknown(schema, first, name));
    };
    let twice = || {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the column {name:?} is requested twice"),
        )
    };
    let before = chosen.fields.iter_mut().find(|before| before.name == field.name);
    match (&field.data_type, before) {
        (_, Some(_)) if rest.is_empty() => Err(twice()),
        (_, None) if rest.is_empty() => {
            chosen.fields.push(field.clone());
            Ok(())
        }
        (DataType::Struct(below), before) => {
            let mut inner = StructType::default();
            if let Some(before) = before {
                let DataType::Struct(part) = &mut before.data_type else {
                    return Err(twice());
                };
                // The complete struct, or a part of it, is already selected.
                if part == below {
                    return Err(twice());
                }
                return add(part, below, rest, name);
            }
            add(&mut inner, below, rest, name)?;
            chosen.fields.push(StructField {
                data_type: DataType::Struct(inner),
                ..field.clone()
            });
            Ok(())
        }
        (other, _) => Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("there is no column {name:?}: {first} is a {other} and has no fields"),
        )
        .with("field", name)),
    }
}

fn unknown(schema: &StructType, part: &str, name: &str) -> Error {
    let hint = match nearest(part, schema.names()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!(
            "the columns are: {}",
            schema.names().collect::<Vec<_>>().join(", ")
        ),
    };
    Error::new(ErrorKind::InvalidArgument, format!("there is no column {name:?}"))
        .with("field", name)
        .hint(hint)
}

#[cfg(test)]
mod tests {
    use deltaic_protocol::schema::PrimitiveType;

    use super::*;

    fn schema() -> StructType {
        let long = |name: &str| StructField::new(name, PrimitiveType::Long.into(), true);
        let deep = StructType {
            fields: vec![long("x"), long("y")],
        };
        let below = StructType {
            fields: vec![
                long("a"),
                long("b"),
                StructField::new("deep", DataType::Struct(deep), true),
            ],
        };
        StructType {
            fields: vec![
                long("id"),
                StructField::new("s", DataType::Struct(below), true),
                long("s.a"),
            ],
        }
    }

    fn chosen(names: &[&str]) -> Result<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        fn shown(schema: &StructType) -> String {
            let fields = schema.fields.iter().map(|field| match &field.data_type {
                DataType::Struct(below) => format!("{}({})", field.name, shown(below)),
                _ => field.name.clone(),
            });
            fields.collect::<Vec<_>>().join(" ")
        }
        choose(&schema(), &names).map(|schema| shown(&schema))
    }

    #[test]
    fn fields_of_structs_are_chosen_too() -> Result<()> {
        assert_eq!(chosen(&["S.B", "id"])?, "s(b) id");
        assert_eq!(
            chosen(&["s.deep.y", "id", "s.b", "s.deep.x"])?,
            "s(deep(y x) b) id"
        );
        // A column with exactly this name takes precedence.
        assert_eq!(chosen(&["s.a"])?, "s.a");
        assert_eq!(chosen(&["s.`a`", "s"]).ok(), None);
        assert_eq!(chosen(&[])?, "");
        for (names, hint) in [
            (&["s.c"][..], "did you mean"),
            (&["idd"], "did you mean id?"),
            (&["id.x"], ""),
            (&["id", "ID"], ""),
            (&["s", "s.b"], ""),
        ] {
            let error = chosen(names).err();
            let found = error.as_ref().and_then(Error::hint_text).unwrap_or_default();
            assert!(error.is_some() && found.contains(hint), "{names:?}: {error:?}");
        }
        Ok(())
    }
}
