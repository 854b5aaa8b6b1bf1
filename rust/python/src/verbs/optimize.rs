//! The request for an optimization, as Python passes it.

use deltaic_protocol::properties::bytes_of;
use deltaic_protocol::{Error, ErrorKind};
use deltaic_table::operations::Optimize;
use pyo3::prelude::*;

use crate::calls::error::CallResult;
use crate::predicate::parsed;

/// What an optimization rewrites.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OptimizeRequest {
    predicate: Option<String>,
    zorder_by: Vec<String>,
    full: bool,
    /// A number of bytes, possibly with a unit.
    target_file_size: Option<String>,
    purge: bool,
}

impl OptimizeRequest {
    pub(crate) fn parse(self) -> CallResult<Optimize> {
        let target_bytes = self.target_file_size.map(|size| {
            bytes_of(&size).ok_or_else(|| {
                let what = format!("target_file_size may not be {size:?}");
                Error::new(ErrorKind::InvalidArgument, what)
                    .hint("give a number of bytes, or a text such as 100mb")
            })
        });
        Ok(Optimize {
            predicate: parsed(self.predicate.as_deref())?,
            zorder_by: self.zorder_by,
            full: self.full,
            target_bytes: target_bytes.transpose()?,
            purge: self.purge,
        })
    }
}
