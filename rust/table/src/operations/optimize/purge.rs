//! Selects the files that contain deleted rows, columns that the table does not have, or the types that columns had before
//! they were widened.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field, Fields};
use deltaic_log::Snapshot;
use deltaic_log::checkpoint::whole_adds;
use deltaic_log::transaction::Output;
use deltaic_protocol::Result;
use deltaic_protocol::actions::Add;
use deltaic_protocol::column_mapping::ColumnMappingMode;
use deltaic_protocol::row_tracking::RowTracking;
use deltaic_protocol::schema::{DataType, PrimitiveType, StructType};
use deltaic_storage::in_parallel;
use deltaic_storage::location::without_secrets;

use super::bins::{Bin, pack_all};
use super::curve::SortOrder;
use super::files::{Plan, of_partitions, target_bytes};
use super::request::Optimize;
use crate::read::{Footer, find_column};
use crate::rows::live_files::{key, paths_that_may_match};

/// The number of footers that are read at once.
const FOOTERS_AT_ONCE: usize = 32;

/// Selects the files that a request rewrites. The inputs of `reusable` are not in bins.
pub(super) async fn plan_of(snapshot: &Snapshot, request: &Optimize, reusable: &[Output]) -> Result<Plan> {
    if !request.purge {
        return Plan::try_new(snapshot, request, reusable).await;
    }
    let target_bytes = target_bytes(snapshot, request)?;
    let predicate = request.predicate.as_ref();
    let predicate = predicate.map(|predicate| of_partitions(snapshot, predicate));
    let paths = paths_that_may_match(snapshot, predicate.transpose()?.as_ref()).await?;
    let adds = whole_adds(snapshot, Some(&paths)).await?;
    let inputs = reusable.iter().flat_map(|output| &output.inputs);
    let inputs: HashSet<String> = inputs.map(|path| key(path)).collect();
    let (reused, files): (Vec<Add>, Vec<Add>) =
        adds.into_iter().partition(|add| inputs.contains(&key(&add.path)));
    // Combined with others, the rows of a clustered file would no longer be near each other.
    let (clustered, others): (Vec<Add>, Vec<Add>) = to_purge(snapshot, files)
        .await?
        .into_iter()
        .partition(|add| add.clustering_provider.is_some());
    let others = pack_all(others, target_bytes).into_iter();
    let bins = others
        .map(Bin::combined)
        .chain(clustered.into_iter().map(Bin::purged));
    Ok(Plan {
        bins: bins.collect(),
        reused,
        target_bytes,
        order: SortOrder::default(),
        cluster_by: Vec::new(),
        snapshot: snapshot.clone(),
    })
}

/// Returns the files with deletion vectors, and those with other columns or types than the table.
async fn to_purge(snapshot: &Snapshot, files: Vec<Add>) -> Result<Vec<Add>> {
    let known = Arc::new(KnownColumns::of(snapshot)?);
    let footers: Vec<_> = files
        .into_iter()
        .map(|add| {
            let (known, location) = (Arc::clone(&known), Arc::clone(snapshot.location()));
            async move {
                if add.deletion_vector.is_some() {
                    return Ok(Some(add));
                }
                let shown = without_secrets(&add.path);
                let path = location.resolve(&add.path)?;
                let footer = Footer::fetch(Arc::clone(location.store()), path, add.size, &shown).await;
                let footer = footer.map_err(|error| error.with("path", shown.as_str()))?;
                let has_others = known.has_others(&footer.schema.fields)?;
                Ok(has_others.then_some(add))
            }
        })
        .collect();
    let found = in_parallel(footers, snapshot.location().at_once(FOOTERS_AT_ONCE)).await?;
    Ok(found.into_iter().flatten().collect())
}

/// The columns that data files of a table may have.
struct KnownColumns {
    schema: Arc<StructType>,
    /// The columns with the row ids and row commit versions of copied rows.
    of_rows: Vec<String>,
    mode: ColumnMappingMode,
}

impl KnownColumns {
    fn of(snapshot: &Snapshot) -> Result<Self> {
        Ok(Self {
            schema: Arc::clone(snapshot.schema()),
            of_rows: match RowTracking::of(snapshot.configuration())? {
                RowTracking::Enabled(columns) => vec![columns.row_id, columns.row_commit_version],
                _ => Vec::new(),
            },
            mode: snapshot.column_mapping(),
        })
    }

    /// Whether a file has a column that is neither in the table nor for its row ids, or a narrower type than its column.
    fn has_others(&self, file: &Fields) -> Result<bool> {
        let of_table: Vec<_> = file
            .iter()
            .filter(|field| !self.of_rows.contains(field.name()))
            .cloned()
            .collect();
        has_others(&Fields::from(of_table), &self.schema, self.mode)
    }
}

/// Whether a struct of a file has a field, at any depth, that the struct of the table does not have, or with a narrower type.
fn has_others(file: &Fields, table: &StructType, mode: ColumnMappingMode) -> Result<bool> {
    let mut known = 0;
    for field in &table.fields {
        let Some(found) = find_column(file, field, mode)? else {
            continue;
        };
        known += 1;
        if let Some(found) = file.get(found)
            && has_other_parts(found, &field.data_type, mode)?
        {
            return Ok(true);
        }
    }
    Ok(known < file.len())
}

fn has_other_parts(file: &Field, table: &DataType, mode: ColumnMappingMode) -> Result<bool> {
    match (file.data_type(), table) {
        (ArrowType::Struct(fields), DataType::Struct(table)) => has_others(fields, table, mode),
        (ArrowType::List(element), DataType::Array(array)) => {
            has_other_parts(element, &array.element_type, mode)
        }
        (ArrowType::Map(entries, _), DataType::Map(map)) => {
            let ArrowType::Struct(entry) = entries.data_type() else {
                return Ok(false);
            };
            let mut parts = entry.iter().zip([&map.key_type, &map.value_type]);
            parts.try_fold(false, |found, (part, table)| {
                Ok(found || has_other_parts(part, table, mode)?)
            })
        }
        (file, DataType::Primitive(table)) => Ok(is_narrower(file, table)),
        _ => Ok(false),
    }
}

/// Whether a column was widened since a file with this type was written.
///
/// Protocol: *Type Widening*.
fn is_narrower(file: &ArrowType, table: &PrimitiveType) -> bool {
    use PrimitiveType as To;
    match (file, table) {
        (ArrowType::Int8, To::Short | To::Integer | To::Long | To::Double | To::Decimal { .. })
        | (ArrowType::Int16, To::Integer | To::Long | To::Double | To::Decimal { .. })
        | (ArrowType::Int32, To::Long | To::Double | To::Decimal { .. })
        | (ArrowType::Int64, To::Decimal { .. })
        | (ArrowType::Float32, To::Double)
        | (ArrowType::Date32, To::TimestampNtz) => true,
        (ArrowType::Decimal128(digits, places), To::Decimal { precision, scale }) => {
            digits < precision || i16::from(*places) < i16::from(*scale)
        }
        _ => false,
    }
}
