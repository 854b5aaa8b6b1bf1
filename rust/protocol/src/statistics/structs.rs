//! Statistics that a checkpoint holds as columns: `stats_parsed`, brought to the types of the schema.

use arrow_array::StructArray;

use super::{StatisticsColumns, StatisticsSchema};
use crate::Result;

impl StatisticsColumns {
    /// Takes `stats_parsed` of a checkpoint: names are physical, types are as Parquet gave them.
    pub fn from_struct(_parsed: &StructArray, _schema: &StatisticsSchema) -> Result<Self> {
        Err(crate::Error::new(
            crate::ErrorKind::UnsupportedFeature,
            "struct statistics are not read yet",
        ))
    }
}
