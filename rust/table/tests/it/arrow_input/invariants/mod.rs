//! Arrow data from any producer: rows of a table or a typed error, and rejected data changes no byte.
#![allow(
    unsafe_code,
    reason = "the C interface of Arrow is made of pointers, and producers make them"
)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a panic reports a violated invariant"
)]

#[path = "../../../../../python/src/capsule/c_data/mod.rs"]
mod c_data;
mod program;
#[path = "../../../../../python/src/capsule/rows.rs"]
mod rows;

use std::collections::{BTreeMap, HashMap};
use std::panic::catch_unwind;
use std::sync::{Arc, LazyLock, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::DecimalType;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_array::{Array, OffsetSizeTrait, PrimitiveArray, RecordBatchReader, make_array};
use arrow_buffer::OffsetBuffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use deltaic_log::Snapshot;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{CommitOptions, NewTable, create};
use deltaic_protocol::schema::{StructType, schema_from_arrow};
use deltaic_protocol::{Error, ErrorKind};
use deltaic_storage::TableLocation;
use deltaic_table::operations::{Append, run};
use deltaic_table::transaction::{NewRows, SchemaMode};
use deltaic_table::write::{Incoming, validate_batch};
use deltaic_testkit::own_commits::a_new_table;
use deltaic_testkit::untrusted::panics;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::Runtime;

use program::{Exported, Input};
use rows::{Rows, Source};

/// One in this number of accepted inputs is appended to a table of its own, which is slow.
const ONE_OF: usize = 64;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_thread_start(panics::watch_too())
        .build();
    runtime.expect("a runtime can be made")
});

/// Panics if the bytes violate the invariant.
pub(crate) fn check_invariants(bytes: &[u8]) {
    let mut input = Input(bytes);
    let [rows, lie, batches] = [(); 3].map(|()| {
        let (first, rest) = input.0.split_first().unwrap_or((&0, &[]));
        input.0 = rest;
        *first
    });
    let columns = program::columns(&mut input);
    let rows = usize::from(rows % 12);
    let field = match c_data::field(&program::schema(&columns, lie)) {
        Ok(field) => field,
        Err(error) => return is_typed(&error),
    };
    // If more than names is wrong in the schema, its arrays are indistinguishable from others.
    let data = if (2..).contains(&lie) { &[] } else { input.0 };
    let arrays = || -> Vec<FFI_ArrowArray> {
        let mut input = Input(data);
        let count = if data.is_empty() {
            0
        } else {
            1 + usize::from(batches % 2)
        };
        (0..count)
            .map(|_| program::array(&columns, rows, &mut input))
            .collect()
    };
    let accepted = arrays().into_iter().all(|array| is_sound(array, &field));
    let given = || stream(program::schema(&columns, lie), arrays());
    let table = schema_from_arrow(given().schema().as_ref());
    let table = match table.map(Arc::new) {
        Ok(table) if !table.fields.is_empty() => table,
        _ => return,
    };
    if Incoming::try_new(given().schema().as_ref(), &table, &[]).is_err() {
        return;
    }
    match accepted {
        false => changes_nothing(given(), &table),
        true => {
            fits(given(), &table);
            for array in arrays() {
                let alone = Rows::new(Source::Array(Some(array)), &field).expect("it is a struct");
                fits(alone, &table);
            }
        }
    }
    if accepted
        && bytes
            .iter()
            .fold(0usize, |sum, byte| sum.wrapping_mul(31) ^ usize::from(*byte))
            % ONE_OF
            == 0
    {
        is_appended(given(), &table);
    }
}

/// Validates an array twice, by deltaic and by Arrow, which must agree.
fn is_sound(array: FFI_ArrowArray, field: &Field) -> bool {
    let data = match c_data::import(array, field.data_type()) {
        Ok(data) => data,
        Err(fault) => {
            is_typed(&fault.into_error(0));
            return false;
        }
    };
    let checked = validate_batch(&data, 0);
    let by_arrow = |data: &ArrayData| catch_unwind(|| data.validate_full().is_ok()).unwrap_or(false);
    match &checked {
        // Until an array is created, Arrow also validates values outside of a struct's rows and below NULLs.
        Ok(()) => {
            let made = make_array(data.clone()).to_data();
            assert!(
                by_arrow(&made) || has_nulls(&made) || has_spare_values(&made),
                "{made:?}"
            );
        }
        Err(error) => {
            is_typed(error);
            assert!(
                !by_arrow(&data) || has_large_decimals(&data) || has_null_in_list_view(&data),
                "{error} of {data:?}"
            );
        }
    }
    checked.is_ok() && data.null_count() == 0
}

fn has_nulls(data: &ArrayData) -> bool {
    data.null_count() > 0 || data.child_data().iter().any(has_nulls)
}

/// Whether there are values that belong to no row: a slice of a batch has those of the whole batch. They are not
/// written.
fn has_spare_values(data: &ArrayData) -> bool {
    let has_more_than = |(first, last): (usize, usize)| {
        let values = data.child_data().first();
        values.is_some_and(|values| last - first < values.len())
    };
    let array = make_array(data.clone());
    let has_spare = match data.data_type() {
        DataType::List(_) => has_more_than(ends(array.as_list::<i32>().offsets())),
        DataType::LargeList(_) => has_more_than(ends(array.as_list::<i64>().offsets())),
        DataType::Map(..) => has_more_than(ends(array.as_map().offsets())),
        DataType::Dictionary(..) => array.as_any_dictionary().values().len() > data.len(),
        _ => false,
    };
    has_spare || data.child_data().iter().any(has_spare_values)
}

fn ends<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> (usize, usize) {
    (offsets.first().as_usize(), offsets.last().as_usize())
}

fn has_large_decimals(data: &ArrayData) -> bool {
    fn large<T: DecimalType>(data: &ArrayData, precision: u8) -> bool {
        let values = PrimitiveArray::<T>::from(data.clone());
        values
            .iter()
            .flatten()
            .any(|value| !T::is_valid_decimal_precision(value, precision))
    }
    let own = match data.data_type() {
        DataType::Decimal32(precision, _) => large::<Decimal32Type>(data, *precision),
        DataType::Decimal64(precision, _) => large::<Decimal64Type>(data, *precision),
        DataType::Decimal128(precision, _) => large::<Decimal128Type>(data, *precision),
        DataType::Decimal256(precision, _) => large::<Decimal256Type>(data, *precision),
        _ => false,
    };
    own || data.child_data().iter().any(has_large_decimals)
}

/// Whether a list view contains a NULL that its field forbids: Arrow's validation does not check the elements of list
/// views.
fn has_null_in_list_view(data: &ArrayData) -> bool {
    let own = match data.data_type() {
        DataType::ListView(field) | DataType::LargeListView(field) => {
            !field.is_nullable() && data.child_data().iter().any(has_nulls)
        }
        _ => false,
    };
    own || data.child_data().iter().any(has_null_in_list_view)
}

fn stream(schema: FFI_ArrowSchema, arrays: Vec<FFI_ArrowArray>) -> Rows {
    let exported = Exported {
        schema: Some(schema),
        arrays,
    };
    let mut raw = exported.into_raw();
    // SAFETY: `raw` is a stream of the C data interface.
    let stream = unsafe { c_data::Stream::take((&raw mut raw).cast::<FFI_ArrowArrayStream>()) };
    let mut stream = stream.expect("it is not released");
    let field = stream.schema().expect("the same schema was read before");
    Rows::new(Source::Stream(stream), &field).expect("it is a struct")
}

/// Rejected data leaves every object of a table unchanged.
fn changes_nothing(rows: Rows, schema: &Arc<StructType>) {
    /// Tables by schema, with their objects.
    static TABLES: Mutex<Option<HashMap<String, (Snapshot, Objects)>>> = Mutex::new(None);
    let mut tables = TABLES.lock().expect("no one panicked");
    let tables = tables.get_or_insert_default();
    if tables.len() > 500 {
        tables.clear();
    }
    let key = format!("{schema:?}");
    if !tables.contains_key(&key) {
        let Some(snapshot) = RUNTIME.block_on(new_table(schema)) else {
            return;
        };
        let objects = RUNTIME.block_on(objects(&snapshot));
        tables.insert(key.clone(), (snapshot, objects));
    }
    let (snapshot, before) = &tables[&key];
    let error = append(snapshot, rows).expect_err("it was refused before");
    is_typed(&error);
    assert_eq!(*before, RUNTIME.block_on(objects(snapshot)));
}

/// Accepted data matches the table's types according to Arrow's own checks.
fn fits(rows: Rows, schema: &Arc<StructType>) {
    let incoming = Incoming::try_new(rows.schema().as_ref(), schema, &[]).expect("it was made before");
    for batch in rows {
        let batch = batch.expect("it was accepted before");
        match incoming.conform(&batch) {
            Ok(batch) => {
                for column in batch.columns() {
                    let data = column.to_data();
                    let checked = data.validate_full();
                    assert!(checked.is_ok() || has_nulls(&data), "{checked:?} of {data:?}");
                    assert!(!has_large_decimals(&data), "{data:?}");
                }
            }
            Err(error) => is_typed(&error),
        }
    }
}

/// Accepted data can be appended, and the commit and the rows can be read.
fn is_appended(rows: Rows, schema: &Arc<StructType>) {
    let Some(snapshot) = RUNTIME.block_on(new_table(schema)) else {
        return;
    };
    let before = RUNTIME.block_on(objects(&snapshot));
    match append(&snapshot, rows) {
        Ok(_) => RUNTIME.block_on(async {
            let location = Arc::clone(snapshot.location());
            let snapshot = Snapshot::load(location, None, LoadOptions::default()).await;
            let snapshot = snapshot.expect("the table opens");
            for (path, _) in objects(&snapshot).await {
                if path.ends_with(".json") {
                    let bytes = snapshot.location().store().get(&Path::from(path)).await;
                    let bytes = bytes.expect("it is listed").bytes().await.expect("it is read");
                    let text = std::str::from_utf8(&bytes).expect("UTF-8");
                    for line in text.lines() {
                        serde_json::from_str::<serde_json::Value>(line).expect("JSON");
                    }
                }
            }
        }),
        Err(error) => {
            is_typed(&error);
            assert_eq!(before, RUNTIME.block_on(objects(&snapshot)));
        }
    }
}

fn append(snapshot: &Snapshot, rows: Rows) -> Result<(), Error> {
    let snapshot = snapshot.clone();
    let work = async move {
        let append = Append {
            rows: NewRows::of(Box::new(rows)),
            schema_mode: SchemaMode::Keep,
        };
        run(&snapshot, &append, CommitOptions::default()).await
    };
    RUNTIME
        .block_on(async { RUNTIME.spawn(work).await.expect("it does not panic") })
        .map(|_| ())
}

/// The objects of a store by path, with their tag: each put changes the tag.
type Objects = BTreeMap<String, Option<String>>;

async fn objects(snapshot: &Snapshot) -> Objects {
    let listed: Vec<_> = snapshot
        .location()
        .store()
        .list(None)
        .try_collect()
        .await
        .expect("it is listed");
    listed
        .into_iter()
        .map(|object| (object.location.to_string(), object.e_tag))
        .collect()
}

/// An empty table, or `None` if its types are nested too deeply for a schema in the log; nothing is stored then.
async fn new_table(schema: &StructType) -> Option<Snapshot> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let location = Arc::new(TableLocation::on_store(
        "memory://t/".to_owned(),
        Arc::clone(&store),
        Path::from("t"),
    ));
    let table = NewTable {
        schema: schema.clone(),
        ..a_new_table()
    };
    if let Err(error) = create(&location, table, &CommitOptions::default()).await {
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error:?}");
        assert!(error.to_string().contains("nested too deeply"), "{error:?}");
        let stored: Vec<_> = store.list(None).try_collect().await.expect("it is listed");
        assert!(stored.is_empty(), "{stored:?}");
        return None;
    }
    let snapshot = Snapshot::load(location, None, LoadOptions::default()).await;
    Some(snapshot.expect("it opens"))
}

fn is_typed(error: &Error) {
    let kinds = [
        ErrorKind::SchemaMismatch,
        ErrorKind::ConstraintViolation,
        ErrorKind::UnsupportedFeature,
        ErrorKind::InvalidArgument,
    ];
    assert!(kinds.contains(&error.kind()), "{error:?}");
}
