//! What is planned once for all files of one schema: where they have a scan's columns.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::SchemaRef;
use deltaic_protocol::Result;

use super::columns::Columns;
use crate::scan::ScanContext;

/// Tables have few schemas at a time; of more the oldest plans are forgotten.
const MOST: usize = 16;

/// The plans that were made so far for the files of one stream.
#[derive(Debug, Default)]
pub(super) struct KnownPlans(Mutex<Vec<Known>>);

#[derive(Debug)]
struct Known {
    /// Held, so that no other scan can stand at its place.
    context: Arc<ScanContext>,
    file: SchemaRef,
    plan: Arc<OutputPlan>,
}

/// How the scan's columns are made of files of one schema.
#[derive(Debug)]
pub(super) struct OutputPlan {
    /// The columns as the table has them.
    pub(super) columns: Columns,
    /// As they come out.
    pub(super) schema: SchemaRef,
}

impl KnownPlans {
    /// The plan of files of this schema, made by `make` where it is the first of them.
    pub(super) fn of(
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
        // Not under the lock: several may make it, and all make the same.
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
