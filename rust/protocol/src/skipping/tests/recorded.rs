//! What the log contains for generated files: statistics in each form, and partition values.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, StructArray};
use arrow_schema::FieldRef;

use super::tables::{File, Table, named};
use super::values::Chance;
use super::writers::{Writer, bounds};
use crate::Result;
use crate::expr::Scalar;
use crate::statistics::{StatisticsBuilder, StatisticsColumns, StatisticsSchema, StatisticsText};

/// The form of statistics in the log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Text,
    EscapedText,
    /// As columns of a checkpoint.
    Struct,
}

impl Table {
    /// The statistics of files, as parsed from one form.
    pub(super) fn statistics(
        &self,
        files: &[File],
        form: Form,
        wanted: &StatisticsSchema,
    ) -> Result<StatisticsColumns> {
        let texts = |wanted: &StatisticsSchema| {
            let mut builder = StatisticsBuilder::with_capacity(wanted, files.len());
            for file in files {
                match (&file.statistics, form) {
                    (None, _) => builder.push(StatisticsText::Absent),
                    (Some(text), Form::EscapedText) => {
                        let quoted = serde_json::to_string(text).unwrap();
                        builder.push(StatisticsText::Escaped(quoted.trim_matches('"').as_bytes()));
                    }
                    (Some(text), _) => builder.push(StatisticsText::Plain(text.as_bytes())),
                }
            }
            builder.finish()
        };
        if !matches!(form, Form::Struct) {
            return texts(wanted);
        }
        // A checkpoint contains statistics in the types at the time it was written, without the types
        // before.
        let are_wide = files.iter().any(|file| file.is_wide);
        let schema = self.schema_of(|column| if are_wide { column.now } else { column.was }, false);
        let columns = texts(&self.wanted_of(schema, true, None))?;
        let parts: Vec<(&str, ArrayRef)> = vec![
            ("numRecords", columns.num_records),
            ("tightBounds", columns.tight_bounds),
            ("minValues", under_keys(self, &columns.min)),
            ("maxValues", under_keys(self, &columns.max)),
            ("nullCount", under_keys(self, &columns.null_count)),
        ];
        let parsed = parts
            .into_iter()
            .map(|(name, column)| (named(name, &column), column));
        StatisticsColumns::from_struct(&StructArray::from(parsed.collect::<Vec<_>>()), wanted)
    }

    /// The typed partition values of files, and which are unreadable.
    pub(super) fn partitions(&self, files: &[File]) -> (StructArray, BooleanArray) {
        let columns = self.columns[self.data_columns..]
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let values: Vec<_> = files
                    .iter()
                    .map(|file| file.partition.as_ref().and_then(|values| values[index].clone()))
                    .collect();
                let array = Scalar::to_column(&values, column.now);
                (named(column.path[0], &array), array)
            });
        let unreadable = files.iter().map(|file| Some(file.partition.is_none())).collect();
        (StructArray::from(columns.collect::<Vec<_>>()), unreadable)
    }

    /// The statistics of a file; sometimes incomplete, truncated or inverted.
    pub(super) fn text(
        &self,
        writer: Writer,
        values: &[Vec<Option<Scalar>>],
        items: &[Option<Vec<Option<i32>>>],
        chance: &mut Chance,
    ) -> String {
        let rows = items.len();
        let (mut min, mut max, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
        for values in values {
            let is_indexed = !chance.percent(8);
            let found = bounds(writer, values, chance);
            let mut found = found.map(|bound| bound.filter(|_| is_indexed && !chance.percent(4)));
            // Inverted bounds are only detected if both are present and valid.
            let are_two = writer != Writer::DeltaRs && found.iter().all(Option::is_some);
            if are_two && chance.percent(3) {
                found.reverse();
            }
            let [low, high] = found;
            min.push(low);
            max.push(high);
            let count = values.iter().filter(|value| value.is_none()).count();
            nulls.push((is_indexed && !chance.percent(8)).then(|| count.to_string()));
        }
        // One writer counts NULL elements of arrays, and empty arrays.
        let of_list = |items: &Option<Vec<Option<i32>>>| match items {
            None => 1,
            Some(_) if writer != Writer::DeltaRs => 0,
            Some(items) if items.is_empty() => 1,
            Some(items) => items.iter().filter(|item| item.is_none()).count(),
        };
        let of_items: usize = items.iter().map(of_list).sum();
        let part = |columns: &[Option<String>], more: Option<String>| {
            let field = |name: &str, value: &Option<String>| {
                value
                    .as_ref()
                    .map(|value| format!("\"{}\":{value}", self.key(name)))
            };
            let object = |fields: Vec<Option<String>>| {
                let fields: Vec<String> = fields.into_iter().flatten().collect();
                (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")))
            };
            let t = object(vec![field("d", &columns[3])]);
            let s = object(vec![field("c", &columns[2]), field("t", &t)]);
            let all = vec![
                field("a", &columns[0]),
                field("b", &columns[1]),
                field("s", &s),
                field("items", &more),
            ];
            object(all).unwrap_or_else(|| "{}".to_owned())
        };
        let records = if chance.percent(4) {
            String::new()
        } else {
            format!("\"numRecords\":{rows},")
        };
        let nulls = part(&nulls, Some(of_items.to_string()));
        let (min, max) = (part(&min, None), part(&max, None));
        let text = format!("{{{records}\"minValues\":{min},\"maxValues\":{max},\"nullCount\":{nulls}}}");
        if chance.percent(2) {
            let torn = text.chars().take(chance.below(text.chars().count()));
            return torn.collect();
        }
        text
    }
}

/// Statistics of a file from which rows were deleted later: NULL counts other than zero and all become
/// arbitrary.
pub(super) fn outdated(text: &str, rows: usize, chance: &mut Chance) -> String {
    let text = text.replacen('{', "{\"tightBounds\":false,", 1);
    let Some((before, counts)) = text.split_once("\"nullCount\":") else {
        return text;
    };
    let other = chance.below(9).to_string();
    let between =
        |digit: char| digit.is_ascii_digit() && digit != '0' && digit.to_string() != rows.to_string();
    // Counts have one digit, and no name contains one.
    let counts: String = counts
        .chars()
        .map(|one| {
            if between(one) && other != "0" && other != rows.to_string() {
                other.clone()
            } else {
                one.to_string()
            }
        })
        .collect();
    format!("{before}\"nullCount\":{counts}")
}

/// The same columns under physical names.
fn under_keys(table: &Table, columns: &ArrayRef) -> ArrayRef {
    let Some(parts) = columns.as_any().downcast_ref::<StructArray>() else {
        return Arc::clone(columns);
    };
    let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = parts
        .fields()
        .iter()
        .zip(parts.columns())
        .map(|(field, column)| {
            let column = under_keys(table, column);
            (named(&table.key(field.name()), &column), column)
        })
        .unzip();
    match fields.is_empty() {
        true => Arc::new(StructArray::new_empty_fields(parts.len(), None)),
        false => Arc::new(StructArray::new(fields.into(), columns, None)),
    }
}
