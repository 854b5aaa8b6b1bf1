//! Iceberg compatibility: which promises a table's writers keep so that Iceberg can read it.
//!
//! Protocol: *Iceberg Compatibility V1*, *Iceberg Compatibility V2*.

use crate::Result;
use crate::actions::{Metadata, Protocol};
use crate::features::supports_for_writers;
use crate::properties::boolean;

/// A set of promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IcebergCompat {
    /// Without maps and arrays.
    V1,
    /// With ids for elements, keys and values.
    V2,
    /// With row tracking and deletion vectors.
    V3,
}

impl IcebergCompat {
    /// The promises in force: the protocol has the feature, and its property is true.
    ///
    /// # Errors
    ///
    /// `CorruptLog` with the property as `field`, where it is neither true nor false.
    pub fn active(protocol: &Protocol, metadata: &Metadata) -> Result<Vec<Self>> {
        let mut active = Vec::new();
        for (promises, feature, property) in [
            (Self::V1, "icebergCompatV1", "delta.enableIcebergCompatV1"),
            (Self::V2, "icebergCompatV2", "delta.enableIcebergCompatV2"),
            (Self::V3, "icebergCompatV3", "delta.enableIcebergCompatV3"),
        ] {
            if supports_for_writers(protocol, feature) && boolean(metadata, property)? {
                active.push(promises);
            }
        }
        Ok(active)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};

    #[test]
    fn promises_are_in_force_by_feature_and_property_together() -> Result<()> {
        let on = metadata(&[
            ("delta.enableIcebergCompatV1", "false"),
            ("delta.enableIcebergCompatV2", "true"),
            ("delta.enableIcebergCompatV3", "true"),
        ]);
        let both = protocol(2, 7, &["columnMapping", "icebergCompatV1", "icebergCompatV2"]);
        assert_eq!(IcebergCompat::active(&both, &on)?, [IcebergCompat::V2]);
        assert!(IcebergCompat::active(&both, &metadata(&[]))?.is_empty());
        assert!(IcebergCompat::active(&protocol(2, 6, &[]), &on)?.is_empty());
        let odd = metadata(&[("delta.enableIcebergCompatV2", "perhaps")]);
        assert!(IcebergCompat::active(&both, &odd).is_err());
        Ok(())
    }
}
