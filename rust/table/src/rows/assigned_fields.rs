//! New values for fields of structs, as new values of their columns.

use std::collections::BTreeMap;

use deltaic_protocol::expr::ValueExpr;
use deltaic_protocol::schema::{ColumnName, DataType, StructField, StructType};
use deltaic_protocol::{Error, ErrorKind, Result};

use super::assignments::Assignment;

/// Returns assignments to whole columns: a field of a struct is replaced in the struct of the row, and a field of a NULL
/// struct in a struct of NULLs, as in Spark. Columns may be written with the alias of the table.
///
/// # Errors
///
/// `ValueError` if a field is unknown or set twice.
pub(crate) fn to_columns(
    table: &StructType,
    assignments: &[Assignment],
    alias: Option<&str>,
) -> Result<Vec<Assignment>> {
    let mut whole = Vec::new();
    let mut fields: BTreeMap<String, Vec<(Vec<String>, &ValueExpr)>> = BTreeMap::new();
    for assignment in assignments {
        match path_in(table, &assignment.column, alias) {
            Some(path) if path.len() > 1 => {
                let (column, below) = (
                    path.first().cloned().unwrap_or_default(),
                    path.into_iter().skip(1),
                );
                let of_column = fields.entry(column).or_default();
                of_column.push((below.collect(), &assignment.value));
            }
            path => whole.push(Assignment {
                column: path
                    .and_then(|path| path.into_iter().next())
                    .unwrap_or_else(|| assignment.column.clone()),
                value: assignment.value.clone(),
            }),
        }
    }
    for (column, set) in fields {
        let field = table.field(&column);
        let field = field.ok_or_else(|| Error::internal("a column is missing"))?;
        let path: Vec<String> = alias
            .map(str::to_owned)
            .into_iter()
            .chain([column.clone()])
            .collect();
        let text = with_fields(field, &path, &set)?;
        let made = ValueExpr::parse(&text)?;
        let value = set
            .iter()
            .try_fold(made, |made, (_, value)| made.at_time_of(value))?;
        whole.push(Assignment { column, value });
    }
    Ok(whole)
}

/// The names of a column or field as the table spells them; `None` if there is none.
pub(crate) fn path_in(table: &StructType, name: &str, alias: Option<&str>) -> Option<Vec<String>> {
    if let Some(field) = table.field_ignoring_case(name) {
        return Some(vec![field.name.clone()]);
    }
    let parsed = ColumnName::parse(name).ok()?;
    let mut parts = parsed.parts();
    if let (Some(alias), [first, rest @ ..]) = (alias, parts)
        && !rest.is_empty()
        && first.to_lowercase() == alias.to_lowercase()
    {
        parts = rest;
    }
    let mut path = Vec::with_capacity(parts.len());
    let mut fields = Some(table);
    for part in parts {
        let field = fields?.field_ignoring_case(part)?;
        path.push(field.name.clone());
        fields = match &field.data_type {
            DataType::Struct(inner) => Some(inner),
            _ => None,
        };
    }
    Some(path)
}

/// The SQL of a struct in which some fields are set.
fn with_fields(field: &StructField, path: &[String], set: &[(Vec<String>, &ValueExpr)]) -> Result<String> {
    let name = ColumnName::from_parts(path.to_vec()).in_expression();
    let twice = || {
        let what = format!("the column {name:?} is set twice");
        Error::new(ErrorKind::InvalidArgument, what).with("field", name.as_str())
    };
    match set {
        [] => return Ok(name),
        [(below, value)] if below.is_empty() => return Ok(format!("({})", value.text())),
        _ if set.iter().any(|(below, _)| below.is_empty()) => return Err(twice()),
        _ => {}
    }
    let DataType::Struct(inner) = &field.data_type else {
        return Err(twice());
    };
    let parts = inner.fields.iter().map(|part| {
        let below: Vec<(Vec<String>, &ValueExpr)> = set
            .iter()
            .filter(|(below, _)| below.first() == Some(&part.name))
            .map(|(below, value)| (below.get(1..).unwrap_or_default().to_vec(), *value))
            .collect();
        let path: Vec<String> = path.iter().cloned().chain([part.name.clone()]).collect();
        let text = part.name.replace('\\', "\\\\").replace('\'', "\\'");
        Ok(format!("'{text}', {}", with_fields(part, &path, &below)?))
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    Ok(format!("named_struct({})", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(columns: &[&str]) -> Result<Vec<(String, String)>> {
        let table = StructType::from_json(
            r#"{"type":"struct","fields":[
            {"name":"id","type":"long","nullable":true,"metadata":{}},
            {"name":"s","type":{"type":"struct","fields":[
                {"name":"a","type":"long","nullable":true,"metadata":{}},
                {"name":"In","type":{"type":"struct","fields":[
                    {"name":"x.y","type":"long","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}}
            ]},"nullable":true,"metadata":{}}]}"#,
        )?;
        let value = ValueExpr::parse("id + 1")?;
        let assignments = columns.iter().map(|column| Assignment {
            column: (*column).to_owned(),
            value: value.clone(),
        });
        let found = to_columns(&table, &assignments.collect::<Vec<_>>(), Some("t"))?;
        let shown = found
            .into_iter()
            .map(|one| (one.column, one.value.text().to_owned()));
        Ok(shown.collect())
    }

    #[test]
    fn fields_are_replaced_in_their_structs() -> Result<()> {
        for (columns, expected) in [
            (vec!["T.ID"], vec![("id", "id + 1")]),
            (vec!["t.s"], vec![("s", "id + 1")]),
            (
                vec!["s.a"],
                vec![("s", "named_struct('a', (id + 1), 'In', t.s.`In`)")],
            ),
            (
                vec!["t.s.in.`x.y`", "S.A"],
                vec![(
                    "s",
                    "named_struct('a', (id + 1), 'In', named_struct('x.y', (id + 1)))",
                )],
            ),
            (
                vec!["unknown", "s.b"],
                vec![("unknown", "id + 1"), ("s.b", "id + 1")],
            ),
        ] {
            let found = assigned(&columns)?;
            let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!(found, expected, "{columns:?}");
        }
        Ok(())
    }

    #[test]
    fn a_field_is_set_once() {
        for columns in [vec!["s.a", "S.a"], vec!["s.in", "s.in.`x.y`"]] {
            assert!(assigned(&columns).is_err(), "{columns:?}");
        }
    }
}
