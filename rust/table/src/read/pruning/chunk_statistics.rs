//! Converts the statistics of a Parquet file's row groups and pages to the form of the statistics in the log.
//!
//! So the same data skipping applies at each level: each row group, or each page, is treated as a file.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StructArray, UInt64Array, new_null_array};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use arrow_select::take::take;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::skipping::{columns_of, may_match};
use deltaic_protocol::statistics::{StatisticsColumns, StatisticsSchema};
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::chunk_columns::{Column, InChunks, column_at};
use super::row_ranges::{RowRange, are_in_order, nulls_of_ranges, row_ranges};
use crate::read::columns::conform::conform;
use crate::read::columns::leaves::on_paths;
use crate::read::parquet::footer::Footer;

/// A predicate on the row groups and pages of a file.
pub(crate) struct PruningPredicate<'a> {
    pub(crate) predicate: &'a BoundPredicate,
    wanted: StatisticsSchema,
    /// The columns of the predicate, reduced to the requested fields of structs.
    fields: Vec<StructField>,
    /// The leaves of these columns that can have statistics, in order.
    columns: Vec<(Vec<String>, InChunks)>,
    mode: ColumnMappingMode,
}

/// The statistics of a column: bounds in the type of the file, and null counts.
struct Bounds {
    min: ArrayRef,
    max: ArrayRef,
    nulls: UInt64Array,
}

impl<'a> PruningPredicate<'a> {
    /// Prepares a predicate for a file of a table. The file has no statistics of partition columns.
    pub(crate) fn new(
        predicate: &'a BoundPredicate,
        table: &StructType,
        is_partition: &dyn Fn(&StructField) -> bool,
        footer: &Footer,
        mode: ColumnMappingMode,
    ) -> Result<Self> {
        let paths = columns_of(predicate);
        let wanted = StatisticsSchema::of_columns(table, &|field| field.name.clone(), &paths);
        let fields = on_paths(table, &paths);
        let mut columns = Vec::new();
        for field in fields.iter().filter(|field| !is_partition(field)) {
            leaf_columns(field, &mut vec![], &mut |path| {
                let found = column_at(table, path, footer, mode)?;
                columns.push((path.to_vec(), found));
                Ok(())
            })?;
        }
        Ok(Self {
            predicate,
            wanted,
            fields,
            columns,
            mode,
        })
    }

    /// The leaves of the file that the predicate uses.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter();
        columns.filter_map(|(_, found)| found.column().map(|column| column.leaf))
    }

    /// Returns the column of a part of the predicate, if it uses exactly one and the file has it.
    pub(crate) fn only_column(&self, part: &BoundPredicate) -> Option<&Column> {
        let paths = columns_of(part);
        let [path] = paths.as_slice() else {
            return None;
        };
        let found = self.columns.iter().find(|(one, _)| one == path);
        found.and_then(|(_, found)| found.column())
    }

    /// Returns for each row group whether it may contain a matching row.
    pub(crate) fn row_groups(&self, file: &ParquetMetaData) -> Result<Vec<bool>> {
        let groups = file.row_groups();
        let rows: Vec<i64> = groups.iter().map(RowGroupMetaData::num_rows).collect();
        let bounds_of = |column: &Column| {
            let converter = column.converter(file)?;
            let sound = groups.iter().map(|group| column.has_bounds(file, group));
            let sound: BooleanArray = sound.map(Some).collect();
            let min = converter.row_group_mins(groups).ok()?;
            let max = converter.row_group_maxes(groups).ok()?;
            Some(Bounds {
                min: only_where(&min, &sound)?,
                max: only_where(&max, &sound)?,
                nulls: converter.row_group_null_counts(groups).ok()?,
            })
        };
        self.ask(&rows, &bounds_of)
    }

    /// Returns the row ranges of a row group that may contain a matching row; `None` if it has no usable page index.
    pub(crate) fn pages(&self, file: &ParquetMetaData, group: usize) -> Result<Option<Vec<RowRange>>> {
        let Some(index) = file.page_index() else {
            return Ok(None);
        };
        let rows = u64::try_from(file.row_group(group).num_rows()).unwrap_or(0);
        let mut starts = Vec::new();
        let indexed: Vec<Option<&Column>> = self
            .columns
            .iter()
            .map(|(_, found)| {
                let column = found.column()?;
                index.column_index(group, column.leaf)?;
                let pages = index.offset_index(group, column.leaf)?.page_locations();
                let pages: Option<Vec<u64>> = pages
                    .iter()
                    .map(|page| u64::try_from(page.first_row_index).ok())
                    .collect();
                let pages = pages.filter(|pages| are_in_order(pages, rows))?;
                starts.push(pages);
                Some(column)
            })
            .collect();
        if starts.is_empty() {
            return Ok(None);
        }
        let row_ranges = row_ranges(&starts, rows);
        let lengths: Vec<i64> = row_ranges
            .iter()
            .map(|stretch| i64::try_from(stretch.rows).unwrap_or(i64::MAX))
            .collect();
        let bounds_of = |column: &Column| {
            let place = indexed.iter().flatten().position(|one| one.leaf == column.leaf)?;
            let pages: Vec<u32> = row_ranges
                .iter()
                .filter_map(|one| one.pages.get(place).copied())
                .collect();
            let pages = arrow_array::UInt32Array::from(pages);
            let (converter, groups) = (column.converter(file)?, [group]);
            let min = converter.data_page_mins(index.as_ref(), &groups).ok()?;
            let max = converter.data_page_maxes(index.as_ref(), &groups).ok()?;
            let nulls = converter.data_page_null_counts(index.as_ref(), &groups).ok()?;
            let count = starts.get(place)?.len();
            if [min.len(), max.len(), nulls.len()] != [count; 3] {
                return None;
            }
            let bounds = column.are_ordered(file);
            let of_ranges = |array: &ArrayRef| match bounds {
                true => take(array, &pages, None).ok(),
                false => Some(new_null_array(array.data_type(), pages.len())),
            };
            Some(Bounds {
                min: of_ranges(&min)?,
                max: of_ranges(&max)?,
                nulls: nulls_of_ranges(&nulls, starts.get(place)?, rows, &row_ranges, place),
            })
        };
        let kept = self.ask(&lengths, &bounds_of)?;
        let mut kept = kept.into_iter();
        Ok(Some(
            row_ranges
                .into_iter()
                .filter(|_| kept.next().unwrap_or(true))
                .collect(),
        ))
    }

    fn ask(&self, rows: &[i64], bounds_of: &dyn Fn(&Column) -> Option<Bounds>) -> Result<Vec<bool>> {
        let count = rows.len();
        let bounds_of: Vec<(&[String], Option<Bounds>)> = self
            .columns
            .iter()
            .map(|(path, found)| {
                let bounds_of = match found {
                    InChunks::Column(column) => bounds_of(column),
                    InChunks::Misfit => None,
                    InChunks::Nothing => Some(Bounds {
                        min: new_null_array(&ArrowType::Null, count),
                        max: new_null_array(&ArrowType::Null, count),
                        nulls: rows.iter().map(|rows| u64::try_from(*rows).ok()).collect(),
                    }),
                };
                (path.as_slice(), bounds_of)
            })
            .collect();
        let of = |path: &[String]| {
            let found = bounds_of.iter().find(|(one, _)| *one == path);
            found.and_then(|(_, bounds_of)| bounds_of.as_ref())
        };
        let bounds = |pick: &dyn Fn(&Bounds) -> ArrayRef| {
            columns(&self.fields, count, &mut vec![], &|path, primitive| {
                let wanted = DataType::Primitive(primitive);
                let unknown = || Ok(new_null_array(&wanted.to_arrow()?, count));
                let Some(bounds_of) = of(path) else {
                    return unknown();
                };
                // A bound that is not a valid value of the column's type is ignored.
                match conform(&pick(bounds_of), &wanted, "", self.mode) {
                    Ok(array) => Ok(array),
                    Err(_) => unknown(),
                }
            })
        };
        let nulls = columns(&self.fields, count, &mut vec![], &|path, _| {
            let counts: Int64Array = match of(path) {
                Some(bounds_of) => bounds_of
                    .nulls
                    .iter()
                    .map(|nulls| nulls.and_then(|nulls| i64::try_from(nulls).ok()))
                    .collect(),
                None => Int64Array::new_null(count),
            };
            Ok(Arc::new(counts))
        })?;
        let statistics = StatisticsColumns {
            num_records: Arc::new(Int64Array::from(rows.to_vec())),
            tight_bounds: Arc::new(BooleanArray::new_null(count)),
            min: bounds(&|bounds_of| Arc::clone(&bounds_of.min))?,
            max: bounds(&|bounds_of| Arc::clone(&bounds_of.max))?,
            null_count: nulls,
        };
        Ok(match may_match(self.predicate, &statistics, &self.wanted)? {
            Some(kept) => (0..count)
                .map(|row| kept.is_null(row) || kept.value(row))
                .collect(),
            None => vec![true; count],
        })
    }
}

/// Calls `visit` with the path of each leaf of a field that is not in a list, map or variant.
fn leaf_columns(
    field: &StructField,
    above: &mut Vec<String>,
    visit: &mut dyn FnMut(&[String]) -> Result<()>,
) -> Result<()> {
    above.push(field.name.clone());
    match &field.data_type {
        DataType::Struct(below) => {
            for field in &below.fields {
                leaf_columns(field, above, visit)?;
            }
        }
        DataType::Primitive(PrimitiveType::Variant) => {}
        DataType::Primitive(_) => visit(above)?,
        _ => {}
    }
    above.pop();
    Ok(())
}

/// Builds a struct of columns, one for each primitive leaf of the fields.
fn columns(
    fields: &[StructField],
    rows: usize,
    above: &mut Vec<String>,
    column: &dyn Fn(&[String], PrimitiveType) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let mut found: Vec<(Field, ArrayRef)> = Vec::new();
    for field in fields {
        above.push(field.name.clone());
        let array = match &field.data_type {
            DataType::Struct(below) => Some(columns(&below.fields, rows, above, column)?),
            DataType::Primitive(PrimitiveType::Variant) => None,
            DataType::Primitive(primitive) => Some(column(above, *primitive)?),
            _ => None,
        };
        above.pop();
        if let Some(array) = array {
            found.push((Field::new(&field.name, array.data_type().clone(), true), array));
        }
    }
    if found.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(rows, None)));
    }
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = found.into_iter().unzip();
    let columns = StructArray::try_new(Schema::new(fields).fields, arrays, None).map_err(|error| {
        Error::new(
            ErrorKind::CorruptData,
            format!("the statistics of a data file do not fit together: {error}"),
        )
    })?;
    Ok(Arc::new(columns))
}

fn only_where(array: &ArrayRef, sound: &BooleanArray) -> Option<ArrayRef> {
    if sound.true_count() == sound.len() {
        return Some(Arc::clone(array));
    }
    let none = new_null_array(array.data_type(), array.len());
    arrow_select::zip::zip(sound, array, &none).ok()
}
