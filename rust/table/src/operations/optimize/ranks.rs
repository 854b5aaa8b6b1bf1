//! Ranks of values: their place among the sorted values of a sample, so that neither types nor skew matter.

use arrow_array::RecordBatch;
use arrow_row::{OwnedRow, Row, RowConverter, Rows, SortField};
use deltaic_protocol::Result;
use deltaic_protocol::schema::ColumnName;

use super::curve::{Curve, SortOrder, rank_bits};
use super::sample::{Sample, column_of, failed};

/// The sorted values of a sample, by column.
#[derive(Default)]
pub(super) struct Ranks {
    columns: Vec<Ranked>,
    curve: Curve,
}

struct Ranked {
    name: ColumnName,
    converter: RowConverter,
    /// The values in ascending order, NULL first. A frequent value is there several times.
    values: Vec<OwnedRow>,
}

impl Ranks {
    /// Ranks the values of columns by a sample. Returns the keys of the sampled rows too, in ascending order.
    pub(super) fn of_sample(sample: &Sample, order: SortOrder) -> Result<(Self, Vec<u128>)> {
        let Some(rows) = sample.sampled_rows()? else {
            return Ok((Self::default(), Vec::new()));
        };
        let ranks = Self::of_rows(&rows, order)?;
        let mut keys = ranks.keys(&rows)?;
        keys.sort_unstable();
        Ok((ranks, keys))
    }

    fn of_rows(rows: &RecordBatch, order: SortOrder) -> Result<Self> {
        let mut ranked = Vec::with_capacity(order.columns.len());
        for name in order.columns {
            let column = column_of(rows, &name)?;
            let converter = RowConverter::new(vec![SortField::new(column.data_type().clone())]);
            let converter = converter.map_err(|error| failed(&error))?;
            let values = converter
                .convert_columns(&[column])
                .map_err(|error| failed(&error))?;
            let mut values: Vec<OwnedRow> = values.iter().map(|value| value.owned()).collect();
            values.sort_unstable();
            ranked.push(Ranked {
                name,
                converter,
                values,
            });
        }
        Ok(Self {
            columns: ranked,
            curve: order.curve,
        })
    }

    /// The places of rows on the curve.
    pub(super) fn keys(&self, rows: &RecordBatch) -> Result<Vec<u128>> {
        let bits = rank_bits(self.columns.len());
        let mut ranks = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            ranks.push(column.ranks(rows, bits)?);
        }
        let mut of_row = vec![0; ranks.len()];
        let keys = (0..rows.num_rows()).map(|row| {
            for (rank, column) in of_row.iter_mut().zip(&ranks) {
                *rank = column.get(row).copied().unwrap_or_default();
            }
            self.curve.key(&mut of_row, bits)
        });
        Ok(keys.collect())
    }

    /// The places of rows, in the order of their keys. Of one column, the order is that of the values: rows of equal
    /// rank may have different ones.
    pub(super) fn sorted(&self, rows: &RecordBatch) -> Result<Vec<u32>> {
        if let [column] = self.columns.as_slice() {
            let values = column.values_of(rows)?;
            return Ok(places(values.iter()));
        }
        Ok(places(self.keys(rows)?))
    }
}

/// The places of keys, in the order of the keys.
fn places(keys: impl IntoIterator<Item = impl Ord>) -> Vec<u32> {
    let mut keys: Vec<_> = keys.into_iter().zip(0..).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, place)| place).collect()
}

impl Ranked {
    /// The values of rows in this column, in a form that can be compared.
    fn values_of(&self, rows: &RecordBatch) -> Result<Rows> {
        let column = column_of(rows, &self.name)?;
        let values = self.converter.convert_columns(&[column]);
        values.map_err(|error| failed(&error))
    }

    /// The ranks of rows in this column, of so many bits.
    fn ranks(&self, rows: &RecordBatch, bits: u32) -> Result<Vec<u32>> {
        let values = self.values_of(rows)?;
        let highest = (1_u64 << bits) - 1;
        let all = u64::try_from(self.values.len()).unwrap_or(u64::MAX).max(1);
        let rank = |value: Row<'_>| {
            let below = self.values.partition_point(|known| known.row() < value);
            let below = u64::try_from(below).unwrap_or(u64::MAX);
            let rank = (below << bits) / all;
            u32::try_from(rank.min(highest)).unwrap_or(u32::MAX)
        };
        Ok(values.iter().map(rank).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, StringArray};

    use super::*;

    fn keys(column: ArrayRef) -> Vec<u128> {
        let rows = RecordBatch::try_from_iter_with_nullable([("a", column, true)]).expect("a batch");
        let name = ColumnName::parse("a").expect("a name");
        let order = SortOrder::of(vec![name], Curve::Hilbert);
        let ranks = Ranks::of_rows(&rows, order).expect("ranks");
        ranks.keys(&rows).expect("keys")
    }

    #[test]
    fn ranks_are_spread_whatever_the_values() {
        let texts = StringArray::from(vec![Some("b"), None, Some(""), Some("a")]);
        assert_eq!(keys(Arc::new(texts)), [3 << 14, 0, 1 << 14, 2 << 14]);
        let numbers = vec![1e300, f64::NEG_INFINITY, -1e-300, f64::NAN];
        assert_eq!(
            keys(Arc::new(Float64Array::from(numbers))),
            [2 << 14, 0, 1 << 14, 3 << 14]
        );
    }

    #[test]
    fn a_frequent_value_has_one_rank() {
        let texts = StringArray::from(vec!["a", "x", "x", "b", "x", "x", "x", "z"]);
        let (bit, x) = (1_u128 << 13, 2 << 13);
        assert_eq!(keys(Arc::new(texts)), [0, x, x, bit, x, x, x, 7 << 13]);
    }

    #[test]
    fn rows_of_one_column_are_in_the_order_of_its_values() {
        let sampled: ArrayRef = Arc::new(StringArray::from(vec!["a", "m"]));
        let sampled = RecordBatch::try_from_iter_with_nullable([("a", sampled, true)]).expect("a batch");
        let order = SortOrder::of(vec![ColumnName::parse("a").expect("a name")], Curve::Hilbert);
        let ranks = Ranks::of_rows(&sampled, order).expect("ranks");
        let texts: ArrayRef = Arc::new(StringArray::from(vec![
            Some("c"),
            None,
            Some("b"),
            Some("z"),
            Some("c"),
        ]));
        let rows = RecordBatch::try_from_iter_with_nullable([("a", texts, true)]).expect("a batch");
        assert_eq!(ranks.sorted(&rows).expect("places"), [1, 2, 0, 4, 3]);
    }
}
