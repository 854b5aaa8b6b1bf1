//! Caches the plan of a scan's columns for all files with the same schema.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::SchemaRef;
use deltaic_protocol::Result;

use crate::read::columns::file_columns::Columns;
use crate::scan::ScanContext;

/// The cache size. Tables have few schemas at a time; the oldest plans are evicted.
const MOST: usize = 16;

/// The cached plans for the files of one stream.
#[derive(Debug, Default)]
pub(crate) struct KnownPlans(Mutex<Vec<Known>>);

#[derive(Debug)]
struct Known {
    /// Keeps the context alive, so that no other scan can get the same address.
    context: Arc<ScanContext>,
    file: SchemaRef,
    plan: Arc<OutputPlan>,
}

/// How the columns of a scan are built from files of one schema.
#[derive(Debug)]
pub(crate) struct OutputPlan {
    /// The columns, as in the schema of the table.
    pub(crate) columns: Columns,
    /// The output schema.
    pub(crate) schema: SchemaRef,
}

impl KnownPlans {
    /// Returns the plan for files of this schema; calls `make` if it is not cached.
    pub(crate) fn of(
        &self,
        context: &Arc<ScanContext>,
        file: &SchemaRef,
        make: impl FnOnce() -> Result<OutputPlan>,
    ) -> Result<Arc<OutputPlan>> {
        let known = |known: &&Known| Arc::ptr_eq(&known.context, context) && known.file == *file;
        let found = |plans: &[Known]| plans.iter().find(known).map(|known| Arc::clone(&known.plan));
        if let Some(plan) = found(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(plan);
        }
        // Not under the lock: several threads may compute it, all with the same result.
        let plan = Arc::new(make()?);
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= MOST {
            plans.remove(0);
        }
        plans.push(Known {
            context: Arc::clone(context),
            file: Arc::clone(file),
            plan: Arc::clone(&plan),
        });
        Ok(plan)
    }
}
