//! What a Parquet file tells of its row groups and pages, in the form in which the log tells of files.
//!
//! So one set of rules judges them all: each row group, or each page, stands for a file.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, StructArray, UInt64Array, new_null_array};
use arrow_schema::{DataType as ArrowType, Field, Fields, Schema};
use arrow_select::take::take;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::expr::BoundPredicate;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::skipping::{columns_of, may_match};
use deltaic_protocol::statistics::{StatisticsColumns, StatisticsSchema};
use deltaic_protocol::{Error, ErrorKind, Result};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::basic::{ColumnOrder, SortOrder, Type as PhysicalType};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::conform::conform;
use super::footer::Footer;
use super::leaves::{in_file, on_paths};

/// A question to a file's row groups and pages.
pub(super) struct Question<'a> {
    pub(super) predicate: &'a BoundPredicate,
    wanted: StatisticsSchema,
    /// The columns that are asked about, of structs only what is asked for.
    fields: Vec<StructField>,
    /// The leaves of these that can be told about, in their order.
    columns: Vec<(Vec<String>, InChunks)>,
    mode: ColumnMappingMode,
}

/// What a file has of a column.
enum InChunks {
    /// Nothing: it is older than the column, which is NULL in each of its rows.
    Nothing,
    /// Something else than the table has: whoever reads it is told.
    Misfit,
    Column(Column),
}

impl InChunks {
    fn column(&self) -> Option<&Column> {
        match self {
            Self::Column(column) => Some(column),
            Self::Nothing | Self::Misfit => None,
        }
    }
}

/// A column of the file.
pub(super) struct Column {
    pub(super) leaf: usize,
    pub(super) field: Field,
    physical: PhysicalType,
}

/// What is told of a column: the bounds in the file's type, and NULLs.
struct Told {
    min: ArrayRef,
    max: ArrayRef,
    nulls: UInt64Array,
}

/// Rows of a row group that lie on the same page of each column that is asked about.
pub(super) struct Stretch {
    pub(super) first: u64,
    pub(super) rows: u64,
    /// The page, for each column that has an index.
    pages: Vec<u32>,
}

impl<'a> Question<'a> {
    /// The question that a predicate asks of a file of a table. The file does not tell of partition columns.
    pub(super) fn new(
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

    /// The leaves of the file that are asked about.
    pub(super) fn leaves(&self) -> impl Iterator<Item = usize> {
        let columns = self.columns.iter();
        columns.filter_map(|(_, found)| found.column().map(|column| column.leaf))
    }

    /// The column that a part of the predicate looks at, where that is one alone and the file has it.
    pub(super) fn only_column(&self, part: &BoundPredicate) -> Option<&Column> {
        let paths = columns_of(part);
        let [path] = paths.as_slice() else {
            return None;
        };
        let found = self.columns.iter().find(|(one, _)| one == path);
        found.and_then(|(_, found)| found.column())
    }

    /// For each row group whether it may hold a row that matches.
    pub(super) fn row_groups(&self, file: &ParquetMetaData) -> Result<Vec<bool>> {
        let groups = file.row_groups();
        let rows: Vec<i64> = groups.iter().map(RowGroupMetaData::num_rows).collect();
        let told = |column: &Column| {
            let converter = column.converter(file)?;
            let sound = groups.iter().map(|group| column.has_bounds(file, group));
            let sound: BooleanArray = sound.map(Some).collect();
            let min = converter.row_group_mins(groups).ok()?;
            let max = converter.row_group_maxes(groups).ok()?;
            Some(Told {
                min: only_where(&min, &sound)?,
                max: only_where(&max, &sound)?,
                nulls: converter.row_group_null_counts(groups).ok()?,
            })
        };
        self.ask(&rows, &told)
    }

    /// The stretches of a row group that may hold a row that matches; none where its pages are not told about.
    pub(super) fn pages(&self, file: &ParquetMetaData, group: usize) -> Result<Option<Vec<Stretch>>> {
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
        let stretches = stretches(&starts, rows);
        let lengths: Vec<i64> = stretches
            .iter()
            .map(|stretch| i64::try_from(stretch.rows).unwrap_or(i64::MAX))
            .collect();
        let told = |column: &Column| {
            let place = indexed.iter().flatten().position(|one| one.leaf == column.leaf)?;
            let pages: Vec<u32> = stretches
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
            let of_stretches = |array: &ArrayRef| match bounds {
                true => take(array, &pages, None).ok(),
                false => Some(new_null_array(array.data_type(), pages.len())),
            };
            Some(Told {
                min: of_stretches(&min)?,
                max: of_stretches(&max)?,
                nulls: nulls_of_stretches(&nulls, starts.get(place)?, rows, &stretches, place),
            })
        };
        let kept = self.ask(&lengths, &told)?;
        let mut kept = kept.into_iter();
        Ok(Some(
            stretches
                .into_iter()
                .filter(|_| kept.next().unwrap_or(true))
                .collect(),
        ))
    }

    fn ask(&self, rows: &[i64], told: &dyn Fn(&Column) -> Option<Told>) -> Result<Vec<bool>> {
        let count = rows.len();
        let told: Vec<(&[String], Option<Told>)> = self
            .columns
            .iter()
            .map(|(path, found)| {
                let told = match found {
                    InChunks::Column(column) => told(column),
                    InChunks::Misfit => None,
                    InChunks::Nothing => Some(Told {
                        min: new_null_array(&ArrowType::Null, count),
                        max: new_null_array(&ArrowType::Null, count),
                        nulls: rows.iter().map(|rows| u64::try_from(*rows).ok()).collect(),
                    }),
                };
                (path.as_slice(), told)
            })
            .collect();
        let of = |path: &[String]| {
            let found = told.iter().find(|(one, _)| *one == path);
            found.and_then(|(_, told)| told.as_ref())
        };
        let bounds = |pick: &dyn Fn(&Told) -> ArrayRef| {
            columns(&self.fields, count, &mut vec![], &|path, primitive| {
                let wanted = DataType::Primitive(primitive);
                let unknown = || Ok(new_null_array(&wanted.to_arrow()?, count));
                let Some(told) = of(path) else { return unknown() };
                // A bound that is no value of the column's type is none.
                match conform(&pick(told), &wanted, "", self.mode) {
                    Ok(array) => Ok(array),
                    Err(_) => unknown(),
                }
            })
        };
        let nulls = columns(&self.fields, count, &mut vec![], &|path, _| {
            let counts: Int64Array = match of(path) {
                Some(told) => told
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
            min: bounds(&|told| Arc::clone(&told.min))?,
            max: bounds(&|told| Arc::clone(&told.max))?,
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

impl Column {
    fn converter<'a>(&'a self, file: &'a ParquetMetaData) -> Option<StatisticsConverter<'a>> {
        let schema = file.file_metadata().schema_descr();
        let converter = StatisticsConverter::from_column_index(self.leaf, &self.field, schema).ok()?;
        Some(converter.with_missing_null_counts_as_zero(false))
    }

    /// Whether the file orders the column's bounds as the table does. INT96 has had several orders, and texts had that
    /// of signed bytes before files said which.
    fn are_ordered(&self, file: &ParquetMetaData) -> bool {
        let order = file.file_metadata().column_order(self.leaf);
        match self.physical {
            PhysicalType::INT96 => false,
            PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                let wanted = match self.field.data_type() {
                    ArrowType::Decimal128(..) | ArrowType::Decimal256(..) => SortOrder::SIGNED,
                    _ => SortOrder::UNSIGNED,
                };
                order == ColumnOrder::TYPE_DEFINED_ORDER(wanted)
            }
            _ => true,
        }
    }

    fn has_bounds(&self, file: &ParquetMetaData, group: &RowGroupMetaData) -> bool {
        let is_bytes = matches!(
            self.physical,
            PhysicalType::BYTE_ARRAY | PhysicalType::FIXED_LEN_BYTE_ARRAY
        );
        let statistics = group
            .columns()
            .get(self.leaf)
            .and_then(|column| column.statistics());
        self.are_ordered(file)
            && statistics.is_some_and(|statistics| !(is_bytes && statistics.is_min_max_deprecated()))
    }
}

/// Calls `visit` with the path of each leaf below a field that is no list, map or variant.
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

/// What the file has at a path of the table.
fn column_at(
    table: &StructType,
    path: &[String],
    footer: &Footer,
    mode: ColumnMappingMode,
) -> Result<InChunks> {
    let wanted = on_paths(table, &[path.to_vec()]);
    let Some(wanted) = wanted.first() else {
        return Ok(InChunks::Misfit);
    };
    let leaves = in_file(footer.schema.fields(), wanted, mode)?.leaves;
    let schema = footer.metadata.file_metadata().schema_descr();
    // A struct in which nothing is found has a leaf of another column.
    Ok(
        match (field_at(footer.schema.fields(), wanted, mode)?, leaves.as_slice()) {
            (FieldAt::Nowhere, _) => InChunks::Nothing,
            (FieldAt::Here(field), [leaf]) => InChunks::Column(Column {
                leaf: *leaf,
                field,
                physical: schema.column(*leaf).physical_type(),
            }),
            _ => InChunks::Misfit,
        },
    )
}

/// Where the only leaf of a wanted field is.
enum FieldAt {
    Nowhere,
    Misfit,
    Here(Field),
}

fn field_at(file: &Fields, wanted: &StructField, mode: ColumnMappingMode) -> Result<FieldAt> {
    let Some(field) = super::find::find(file, wanted, mode)?.and_then(|index| file.get(index)) else {
        return Ok(FieldAt::Nowhere);
    };
    match (field.data_type(), &wanted.data_type) {
        (ArrowType::Struct(below), DataType::Struct(fields)) => match fields.fields.first() {
            Some(inner) => field_at(below, inner, mode),
            None => Ok(FieldAt::Misfit),
        },
        (ArrowType::Struct(_), _) | (_, DataType::Struct(_)) => Ok(FieldAt::Misfit),
        _ => Ok(FieldAt::Here(field.as_ref().clone())),
    }
}

/// A struct of columns, one for each primitive leaf of the fields.
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

/// Whether the first rows of pages are rows of the row group, each behind the one before.
fn are_in_order(first_rows: &[u64], rows: u64) -> bool {
    first_rows.first() == Some(&0)
        && first_rows.windows(2).all(|pair| pair.first() < pair.last())
        && first_rows.last().is_some_and(|last| *last < rows)
}

/// Cuts a row group wherever a page of one of the columns begins.
fn stretches(starts: &[Vec<u64>], rows: u64) -> Vec<Stretch> {
    let mut cuts: Vec<u64> = starts.iter().flatten().copied().collect();
    cuts.sort_unstable();
    cuts.dedup();
    let ends = cuts.iter().skip(1).copied().chain(std::iter::once(rows));
    cuts.iter()
        .zip(ends)
        .map(|(first, end)| Stretch {
            first: *first,
            rows: end.saturating_sub(*first),
            pages: starts
                .iter()
                .map(|pages| {
                    let behind = pages.partition_point(|start| start <= first);
                    u32::try_from(behind.saturating_sub(1)).unwrap_or(u32::MAX)
                })
                .collect(),
        })
        .collect()
}

/// How many NULLs there are on stretches: all, none, or nobody knows.
fn nulls_of_stretches(
    nulls: &UInt64Array,
    starts: &[u64],
    rows: u64,
    stretches: &[Stretch],
    place: usize,
) -> UInt64Array {
    let of_page = |stretch: &Stretch| {
        let page = usize::try_from(*stretch.pages.get(place)?).ok()?;
        let first = *starts.get(page)?;
        let end = starts.get(page + 1).copied().unwrap_or(rows);
        let count = nulls.is_valid(page).then(|| nulls.value(page))?;
        match count {
            0 => Some(0),
            all if all == end.saturating_sub(first) => Some(stretch.rows),
            _ => None,
        }
    };
    stretches.iter().map(of_page).collect()
}
