//! Generated tables: their schema now and when the first files were written, and files with a few rows.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, ListArray, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Field, FieldRef};

use super::recorded::outdated;
use super::values::{Chance, TYPES, value};
use super::writers::WRITERS;
use crate::expr::Scalar;
use crate::schema::{ArrayType, DataType, PrimitiveType, StructField, StructType};
use crate::statistics::StatisticsSchema;

/// A column of a primitive type.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its logical names, outermost first.
    pub(super) path: &'static [&'static str],
    /// Its current type.
    pub(super) now: PrimitiveType,
    /// Its type when the first files were written.
    pub(super) was: PrimitiveType,
}

/// The columns of a table: two and a struct, which contains one and a struct, and two partition columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    /// The partition columns come after the others.
    pub(super) data_columns: usize,
    is_mapped: bool,
}

/// A file: its rows without deleted ones, and its entry in the log.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) rows: RecordBatch,
    pub(super) statistics: Option<String>,
    /// The value of each partition column; `None` if it is unreadable.
    pub(super) partition: Option<Vec<Option<Scalar>>>,
    /// Whether the first rows already have the current types.
    pub(super) is_wide: bool,
}

impl Table {
    pub(super) fn new(chance: &mut Chance) -> Self {
        let paths: [&[&str]; 6] = [&["a"], &["b"], &["s", "c"], &["s", "t", "d"], &["p"], &["q"]];
        // Columns of one type are compared with each other.
        let alike = chance.percent(40).then(|| *chance.pick(&TYPES));
        let columns = paths.map(|path| {
            let (now, was) = alike.unwrap_or_else(|| *chance.pick(&TYPES));
            // Partition values are parsed with the current type of the column.
            let was = if path.len() == 1 && matches!(path[0], "p" | "q") {
                now
            } else {
                was
            };
            Column { path, now, was }
        });
        Self {
            columns: columns.to_vec(),
            data_columns: 4,
            is_mapped: chance.percent(30),
        }
    }

    /// The physical name of a field.
    pub(super) fn key(&self, name: &str) -> String {
        if self.is_mapped {
            format!("col-{name}")
        } else {
            name.to_owned()
        }
    }

    pub(super) fn schema_of(
        &self,
        type_of: impl Fn(&Column) -> PrimitiveType,
        with_changes: bool,
    ) -> StructType {
        let field = |column: &Column| {
            let name = *column.path.last().unwrap();
            let mut field = StructField::new(name, type_of(column).into(), true);
            if with_changes && column.was != column.now {
                let change = serde_json::json!([{"fromType": column.was.to_string(), "toType": column.now.to_string()}]);
                field.metadata.insert("delta.typeChanges".to_owned(), change);
            }
            field
        };
        let [a, b, c, d, p, q] = &self.columns[..] else {
            panic!("there are six")
        };
        let of = |name: &str, fields| StructField::new(name, DataType::Struct(StructType { fields }), true);
        let items = ArrayType {
            element_type: PrimitiveType::Integer.into(),
            contains_null: true,
        };
        let items = StructField::new("items", DataType::Array(Box::new(items)), true);
        StructType {
            fields: vec![
                field(a),
                field(b),
                of("s", vec![field(c), of("t", vec![field(d)])]),
                items,
                field(p),
                field(q),
            ],
        }
    }

    /// The current schema.
    pub(super) fn schema(&self) -> StructType {
        self.schema_of(|column| column.now, true)
    }

    /// The statistics to read for the data columns; for all or for some.
    pub(super) fn wanted(&self, paths: Option<&[Vec<String>]>) -> StatisticsSchema {
        self.wanted_of(self.schema(), true, paths)
    }

    pub(super) fn wanted_of(
        &self,
        mut schema: StructType,
        under_keys: bool,
        paths: Option<&[Vec<String>]>,
    ) -> StatisticsSchema {
        schema.fields.truncate(4);
        let name_of = |field: &StructField| {
            if under_keys {
                self.key(&field.name)
            } else {
                field.name.clone()
            }
        };
        match paths {
            Some(paths) => StatisticsSchema::of_columns(&schema, &name_of, paths),
            None => StatisticsSchema::all(&schema, &name_of),
        }
    }

    /// A file of a few rows.
    pub(super) fn file(&self, chance: &mut Chance) -> File {
        let is_wide = chance.percent(50);
        let writer = *chance.pick(&WRITERS);
        let rows = 1 + chance.below(4);
        let nulls = *chance.pick(&[0, 0, 20, 100]);
        let absent =
            |chance: &mut Chance, share| -> Vec<bool> { (0..rows).map(|_| chance.percent(share)).collect() };
        let (no_s, no_t) = (absent(chance, nulls), absent(chance, nulls));
        let mut values: Vec<Vec<Option<Scalar>>> = Vec::new();
        let mut partition = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            let kind = if is_wide { column.now } else { column.was };
            let pool: Vec<Scalar> = (0..1 + chance.below(3)).map(|_| value(chance, kind)).collect();
            if index >= self.data_columns {
                let one = (!chance.percent(15)).then(|| pool[0].clone());
                values.push(vec![one.clone(); rows]);
                partition.push(one);
                continue;
            }
            values.push(
                (0..rows)
                    .map(|_| (!chance.percent(nulls)).then(|| chance.pick(&pool).clone()))
                    .collect(),
            );
        }
        let items: Vec<Option<Vec<Option<i32>>>> = (0..rows)
            .map(|_| {
                let many = chance.below(3);
                (!chance.percent(nulls)).then(|| (0..many).map(|_| chance.percent(50).then_some(1)).collect())
            })
            .collect();
        let physical = self.physical(&values, &no_s, &no_t);
        let statistics = (!chance.percent(5)).then(|| self.text(writer, &physical, &items, chance));
        let gone = if chance.percent(30) {
            chance.below(rows + 1)
        } else {
            0
        };
        let batch = self.batch(&values, &no_s, &no_t, &items, is_wide);
        let wide = statistics.map(|text| {
            if gone > 0 {
                outdated(&text, rows, chance)
            } else {
                text
            }
        });
        File {
            rows: batch.slice(gone, rows - gone),
            statistics: wide,
            partition: (!chance.percent(10)).then_some(partition),
            is_wide,
        }
    }

    /// The values of each column as counted by statistics: NULL if a parent struct is NULL.
    fn physical(
        &self,
        values: &[Vec<Option<Scalar>>],
        no_s: &[bool],
        no_t: &[bool],
    ) -> Vec<Vec<Option<Scalar>>> {
        let mut values = values[..self.data_columns].to_vec();
        for (column, above) in [(2, vec![no_s]), (3, vec![no_s, no_t])] {
            for (row, value) in values[column].iter_mut().enumerate() {
                if above.iter().any(|absent| absent[row]) {
                    *value = None;
                }
            }
        }
        values
    }

    fn batch(
        &self,
        values: &[Vec<Option<Scalar>>],
        no_s: &[bool],
        no_t: &[bool],
        items: &[Option<Vec<Option<i32>>>],
        is_wide: bool,
    ) -> RecordBatch {
        let arrays: Vec<ArrayRef> = self
            .columns
            .iter()
            .zip(values)
            .map(|(column, values)| {
                let array = Scalar::to_column(values, if is_wide { column.now } else { column.was });
                arrow_cast::cast(&array, &column.now.to_arrow().unwrap()).unwrap()
            })
            .collect();
        let of = |fields: Vec<(&str, ArrayRef)>, absent: &[bool]| -> ArrayRef {
            let (names, columns): (Vec<FieldRef>, Vec<ArrayRef>) = fields
                .into_iter()
                .map(|(name, column)| (named(name, &column), column))
                .unzip();
            let nulls: NullBuffer = absent.iter().map(|absent| !absent).collect::<Vec<_>>().into();
            Arc::new(StructArray::try_new(names.into(), columns, Some(nulls)).unwrap())
        };
        let t = of(vec![("d", Arc::clone(&arrays[3]))], no_t);
        let s = of(vec![("c", Arc::clone(&arrays[2])), ("t", t)], no_s);
        let inner: Int32Array = items.iter().flatten().flatten().copied().collect();
        let lengths = items.iter().map(|items| items.as_ref().map_or(0, Vec::len));
        let valid: Vec<bool> = items.iter().map(Option::is_some).collect();
        let item = Arc::new(Field::new("element", ArrowType::Int32, true));
        let list = ListArray::new(
            item,
            OffsetBuffer::from_lengths(lengths),
            Arc::new(inner),
            Some(valid.into()),
        );
        let columns: [(&str, ArrayRef); 6] = [
            ("a", Arc::clone(&arrays[0])),
            ("b", Arc::clone(&arrays[1])),
            ("s", s),
            ("items", Arc::new(list)),
            ("p", Arc::clone(&arrays[4])),
            ("q", Arc::clone(&arrays[5])),
        ];
        let columns = columns.map(|(name, array)| (name.to_owned(), array, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }
}

pub(super) fn named(name: &str, column: &ArrayRef) -> FieldRef {
    Arc::new(Field::new(name, column.data_type().clone(), true))
}
