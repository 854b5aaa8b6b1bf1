//! Finds which rows of the table the keys of a source can match, so that other files are not read.

use arrow_array::{Array, ArrayRef};
use arrow_row::{RowConverter, SortField};
use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::progress::Stage;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::expr::{BoundPredicate, Comparison, JoinKey, Operand, Scalar, TARGET, ValueSet};
use deltaic_protocol::schema::{DataType, PrimitiveType};

use super::key_index::with_equal_floats;
use crate::operations::merge::bound_merge::BoundMerge;
use crate::operations::merge::sides::failed;
use crate::operations::merge::source::SourceRows;
use crate::rows::live_files::paths_that_may_match;
use crate::scan::{Rows, Scan, ScanOptions, ScanTask, Selection};
use crate::transaction::TableTransaction;

/// More values of a key are compared as a range.
const MOST_VALUES: usize = 1 << 14;

impl TableTransaction {
    /// How the rows of the table that may match are read: the columns that decide what happens to them, and their positions.
    pub(in crate::operations::merge) async fn rows_to_match(
        &mut self,
        bound: &BoundMerge,
        source: &SourceRows,
    ) -> Result<(Vec<Add>, Vec<ScanTask>)> {
        let snapshot = self.snapshot.clone();
        let predicate = rows_that_may_match(bound, &snapshot, source)?;
        self.staged.read.read_where(predicate.as_ref());
        let adds = files_that_may_match(&snapshot, predicate.as_ref()).await?;
        let columns = bound.deciding_columns();
        let scan = Scan::try_new(
            snapshot.clone(),
            ScanOptions {
                columns: Some(columns.into_iter().collect()),
                skips: predicate,
                positions: true,
                ..ScanOptions::default()
            },
        )?;
        let tasks = adds.iter().map(|add| {
            let mut task = scan.task_of_rows(add, Rows::All);
            task.selection = Selection::of(add.deletion_vector.clone());
            task
        });
        let tasks = tasks.collect();
        self.options.progress.begin(Stage::Files, adds.len() as u64);
        Ok((adds, tasks))
    }
}

/// The files that may have a row for which a predicate is true.
async fn files_that_may_match(snapshot: &Snapshot, predicate: Option<&BoundPredicate>) -> Result<Vec<Add>> {
    if let Some(BoundPredicate::Constant(Some(false))) = predicate {
        return Ok(Vec::new());
    }
    let paths = paths_that_may_match(snapshot, predicate).await?;
    match paths.is_empty() {
        true => Ok(Vec::new()),
        false => whole_adds(snapshot, Some(&paths)).await,
    }
}

/// A predicate on the columns of the table that is true for every row that may match; `None` if every row may, or if
/// clauses apply to rows without a match.
///
/// # Errors
///
/// Those of evaluating the keys.
fn rows_that_may_match(
    merge: &BoundMerge,
    snapshot: &Snapshot,
    source: &SourceRows,
) -> Result<Option<BoundPredicate>> {
    if !merge.not_matched_by_source.is_empty() {
        return Ok(None);
    }
    if source.len() == 0 {
        return Ok(Some(BoundPredicate::Constant(Some(false))));
    }
    let parts = merge.on.keys.iter().map(|key| may_equal(key, snapshot, source));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    Ok(BoundPredicate::all_of(parts.into_iter().flatten().collect()))
}

/// What a column of the table must be to equal a value of the source; `None` if the key is no such column.
fn may_equal(key: &JoinKey, snapshot: &Snapshot, source: &SourceRows) -> Result<Option<BoundPredicate>> {
    let (Some([side, path @ ..]), DataType::Primitive(data_type)) =
        (key.target.widened_column(), key.target.data_type())
    else {
        return Ok(None);
    };
    let is_skipped = matches!(
        data_type,
        PrimitiveType::Boolean | PrimitiveType::Variant | PrimitiveType::Void
    );
    // Statistics have the stored texts of char(n), which not every writer pads.
    let is_char = snapshot.schema().is_char(path)
        && !path
            .first()
            .is_some_and(|column| snapshot.metadata().partition_columns.contains(column));
    if side != TARGET || is_skipped || is_char {
        return Ok(None);
    }
    let (path, data_type) = (path.to_vec(), *data_type);
    let mut keys = Keys::new(data_type);
    for column in source.evaluated(&key.source) {
        keys.add(&with_equal_floats(column?))?;
    }
    let mut parts = Vec::new();
    if keys.has_null && key.null_safe {
        parts.push(BoundPredicate::IsNull(path.clone()));
    }
    let ends = ValueSet::new(keys.ends);
    if let Some(values) = keys.values.filter(|_| key.target.is_column()) {
        if !values.is_empty() {
            parts.push(BoundPredicate::In {
                path,
                values: ValueSet::new(values),
                has_null: false,
            });
        }
    } else if let (Some(least), Some(greatest)) = (ends.values().first(), ends.values().last()) {
        let compare = |op, value| BoundPredicate::Compare {
            op,
            left: Operand::Column(path.clone()),
            right: Operand::Scalar(value),
            common: data_type,
        };
        parts.push(BoundPredicate::And(vec![
            compare(Comparison::GreaterOrEqual, least.clone()),
            compare(Comparison::LessOrEqual, greatest.clone()),
        ]));
    }
    Ok(Some(match parts.len() {
        0 => BoundPredicate::Constant(Some(false)),
        1 => parts.swap_remove(0),
        _ => BoundPredicate::Or(parts),
    }))
}

/// The values of a key.
struct Keys {
    data_type: PrimitiveType,
    /// All values; `None` if there are too many.
    values: Option<Vec<Scalar>>,
    /// The least and the greatest value of each batch.
    ends: Vec<Scalar>,
    has_null: bool,
}

impl Keys {
    fn new(data_type: PrimitiveType) -> Self {
        Self {
            data_type,
            values: Some(Vec::new()),
            ends: Vec::new(),
            has_null: false,
        }
    }

    fn add(&mut self, column: &ArrayRef) -> Result<()> {
        let nulls = column.logical_nulls();
        let is_valid = |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
        self.has_null |= nulls.as_ref().is_some_and(|nulls| nulls.null_count() > 0);
        let converter = RowConverter::new(vec![SortField::new(column.data_type().clone())]);
        let rows = converter.and_then(|converter| converter.convert_columns(std::slice::from_ref(column)));
        let rows = rows.map_err(|error| failed(&error))?;
        let valid = || (0..column.len()).filter(is_valid);
        let ends = [
            valid().min_by_key(|row| rows.row(*row)),
            valid().max_by_key(|row| rows.row(*row)),
        ];
        let scalar = |row| Scalar::of_row(column, row, self.data_type);
        self.ends.extend(ends.into_iter().flatten().filter_map(scalar));
        if let Some(values) = &mut self.values {
            values.extend(valid().filter_map(scalar));
            if values.len() > MOST_VALUES {
                let distinct = ValueSet::new(std::mem::take(values)).values().to_vec();
                self.values = (distinct.len() <= MOST_VALUES).then_some(distinct);
            }
        }
        Ok(())
    }
}
