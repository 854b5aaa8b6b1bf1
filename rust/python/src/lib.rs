//! Python bindings of deltaic.
//!
//! Each function converts its arguments, detaches from the interpreter, runs, and converts the result. The logic is in
//! other crates; the documentation is in the stubs of the Python package.

#[cfg(not(feature = "witness"))]
mod allocator;
mod arrow_table;
mod batches;
mod called_transaction;
mod capsule;
mod changes;
mod check;
mod commit;
mod commit_files;
mod commit_options;
mod convert;
mod diagnostics;
mod dry_run;
mod error;
#[cfg(feature = "provoke")]
mod expression;
mod fault;
mod maintenance;
mod native_scan;
mod predicate;
mod progress;
#[cfg(feature = "provoke")]
mod provoke;
mod repair;
mod restore;
mod runtime;
mod scan;
mod schema;
mod shallow_clone;
mod snapshot;
mod source;
mod symlink_manifest;
mod table;
mod transaction;
mod vacuum;
mod verbs;
#[cfg(feature = "witness")]
mod witness;
mod write_job;
mod write_task;

#[cfg(not(feature = "witness"))]
use deltaic_storage::unused_memory::{Allocator, set_allocator};
use pyo3::prelude::*;

#[pymodule]
fn _rust(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fault::install_hook();
    // With the feature `witness`, a counting allocator is used instead.
    #[cfg(not(feature = "witness"))]
    {
        allocator::keep_memory(true);
        set_allocator(Allocator {
            release: allocator::return_memory,
            keep: allocator::keep_memory,
        });
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<arrow_table::ArrowSchema>()?;
    module.add_class::<arrow_table::ArrowTable>()?;
    module.add_class::<batches::BatchReader>()?;
    module.add_class::<batches::Batches>()?;
    module.add_class::<changes::Changes>()?;
    module.add_class::<check::Finding>()?;
    module.add_class::<check::Report>()?;
    module.add_class::<commit::Commit>()?;
    module.add_class::<convert::ConvertPreview>()?;
    module.add_class::<dry_run::DryRun>()?;
    module.add_class::<native_scan::NativeScanPlan>()?;
    module.add_class::<commit_files::CommitFiles>()?;
    module.add_class::<restore::RestorePreview>()?;
    module.add_class::<scan::Scan>()?;
    module.add_class::<scan::ScanTask>()?;
    module.add_class::<schema::Schema>()?;
    module.add_class::<shallow_clone::ClonePreview>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<transaction::Transaction>()?;
    module.add_class::<maintenance::CheckpointWritten>()?;
    module.add_class::<maintenance::CleanedUp>()?;
    module.add_class::<maintenance::Compacted>()?;
    module.add_class::<vacuum::Vacuumed>()?;
    module.add_class::<write_job::WriteJob>()?;
    module.add_class::<write_task::WriteTask>()?;
    #[cfg(feature = "witness")]
    {
        module.add_function(wrap_pyfunction!(witness::witness, module)?)?;
        module.add_function(wrap_pyfunction!(witness::witness_reset, module)?)?;
    }
    module.add_function(wrap_pyfunction!(arrow_table::read_rows, module)?)?;
    module.add_function(wrap_pyfunction!(capsule::is_read_once, module)?)?;
    module.add_function(wrap_pyfunction!(diagnostics::set_log_level, module)?)?;
    #[cfg(feature = "provoke")]
    {
        module.add_function(wrap_pyfunction!(expression::evaluate_expression, module)?)?;
        module.add_function(wrap_pyfunction!(provoke::panics, module)?)?;
        module.add_function(wrap_pyfunction!(provoke::provoke, module)?)?;
    }
    Ok(())
}
