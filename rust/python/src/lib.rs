//! Python bindings of deltaic.
//!
//! Each function converts its arguments, detaches from the interpreter, runs, and converts the result. The logic is in
//! other crates; the documentation is in the stubs of the Python package.

#[cfg(not(feature = "witness"))]
mod allocator;
mod called_transaction;
mod calls;
mod capsule;
mod commit_files;
#[cfg(any(feature = "provoke", feature = "witness"))]
mod for_tests;
mod maintenance;
mod predicate;
mod reading;
mod snapshot;
mod table;
mod transaction;
mod verbs;
mod writing;

#[cfg(not(feature = "witness"))]
use deltaic_storage::unused_memory::{Allocator, set_allocator};
use pyo3::prelude::*;

#[pymodule]
fn _rust(module: &Bound<'_, PyModule>) -> PyResult<()> {
    calls::fault::install_hook();
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
    module.add_class::<reading::arrow_table::ArrowSchema>()?;
    module.add_class::<reading::arrow_table::ArrowTable>()?;
    module.add_class::<reading::batches::BatchReader>()?;
    module.add_class::<reading::batches::Batches>()?;
    module.add_class::<reading::changes::Changes>()?;
    module.add_class::<maintenance::check::Finding>()?;
    module.add_class::<maintenance::check::Report>()?;
    module.add_class::<writing::commit::Commit>()?;
    module.add_class::<maintenance::convert::ConvertPreview>()?;
    module.add_class::<writing::dry_run::DryRun>()?;
    module.add_class::<reading::native_scan::NativeScanPlan>()?;
    module.add_class::<commit_files::CommitFiles>()?;
    module.add_class::<maintenance::restore::RestorePreview>()?;
    module.add_class::<reading::scan::Scan>()?;
    module.add_class::<reading::scan::ScanTask>()?;
    module.add_class::<reading::schema::Schema>()?;
    module.add_class::<maintenance::shallow_clone::ClonePreview>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<transaction::Transaction>()?;
    module.add_class::<maintenance::log_maintenance::CheckpointWritten>()?;
    module.add_class::<maintenance::log_maintenance::CleanedUp>()?;
    module.add_class::<maintenance::log_maintenance::Compacted>()?;
    module.add_class::<maintenance::vacuum::Vacuumed>()?;
    module.add_class::<writing::write_job::WriteJob>()?;
    module.add_class::<writing::write_task::WriteTask>()?;
    #[cfg(feature = "witness")]
    {
        module.add_function(wrap_pyfunction!(for_tests::witness::witness, module)?)?;
        module.add_function(wrap_pyfunction!(for_tests::witness::witness_reset, module)?)?;
    }
    module.add_function(wrap_pyfunction!(reading::arrow_table::read_rows, module)?)?;
    module.add_function(wrap_pyfunction!(capsule::is_read_once, module)?)?;
    module.add_function(wrap_pyfunction!(calls::diagnostics::set_log_level, module)?)?;
    #[cfg(feature = "provoke")]
    {
        module.add_function(wrap_pyfunction!(
            for_tests::expression::evaluate_expression,
            module
        )?)?;
        module.add_function(wrap_pyfunction!(for_tests::provoke::panics, module)?)?;
        module.add_function(wrap_pyfunction!(for_tests::provoke::provoke, module)?)?;
    }
    Ok(())
}
