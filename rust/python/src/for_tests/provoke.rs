//! Faults that tests trigger, to check how a panic is handled at the boundary.
//!
//! Only in builds with the feature `provoke`, never in a release.
#![expect(clippy::panic, reason = "it is what the module is for")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use deltaic_protocol::Result;
use deltaic_table::read::BatchStream;
use futures::{StreamExt, stream};
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::calls::fault::guarded;
use crate::calls::runtime::{runtime, wait};
use crate::capsule::export_stream;
use crate::reading::arrow_table::ArrowTable;
use crate::reading::batches::{BatchReader, Blocking};

static RESTS: AtomicBool = AtomicBool::new(false);

/// Returns the locations of all panics since deltaic was loaded.
#[pyfunction]
pub(crate) fn panics() -> Vec<String> {
    deltaic_storage::fault::noted()
}

/// Panics: in a `call`, in the `wait` for a future, in a `task` or a `blocking` thread of the runtime, or in the `next`
/// batch or the `drop` of a stream, which is an Arrow stream (`next`, `drop`) or read batch by batch (`batches`,
/// `batches-drop`). `work` does not panic: it computes without yielding until a call with `rest`.
#[pyfunction]
pub(crate) fn provoke<'py>(py: Python<'py>, at: &str) -> CallResult<Bound<'py, PyAny>> {
    match at {
        "call" => guarded(|| panic!("provoked, with a secret: PlAnTeD") as CallResult<()>)?,
        "wait" => wait(py, async { panic!("provoked") as Result<()> })?,
        "task" => {
            let task = runtime()?.spawn(async { panic!("provoked") as () });
            wait(py, async {
                // The result of the task is ignored; only the recorded panic matters.
                let _ = task.await;
                Ok(())
            })?;
        }
        "blocking" => wait(py, async {
            let work = tokio::task::spawn_blocking(|| panic!("provoked") as ());
            let _ = work.await;
            Ok(())
        })?,
        "next" | "drop" => {
            let reader = Blocking::new(py, schema(), breaking(at))?;
            return Ok(export_stream(py, Box::new(reader), None)?.into_any());
        }
        "batches" | "batches-drop" => {
            let reader = BatchReader::new(breaking(at));
            return Ok(Bound::new(py, reader)?.into_any());
        }
        "work" => wait(py, async {
            RESTS.store(false, Ordering::Relaxed);
            while !RESTS.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            Ok(())
        })?,
        "rest" => RESTS.store(true, Ordering::Relaxed),
        _ => {}
    }
    let nothing = ArrowTable {
        schema: schema(),
        batches: Vec::new(),
    };
    Ok(Bound::new(py, nothing)?.into_any())
}

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]))
}

fn breaking(at: &str) -> BatchStream {
    struct BreaksInDrop;
    impl Drop for BreaksInDrop {
        fn drop(&mut self) {
            panic!("provoked");
        }
    }
    if at.ends_with("drop") {
        let breaks = BreaksInDrop;
        return stream::once(async move {
            let _held = &breaks;
            Ok(RecordBatch::new_empty(schema()))
        })
        .boxed();
    }
    stream::once(async { panic!("provoked") as Result<RecordBatch> }).boxed()
}
