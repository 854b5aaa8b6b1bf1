//! The time before which files have expired.

use deltaic_protocol::actions::Metadata;
use deltaic_protocol::properties::tombstone_retention_ms;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::request::{RetentionCheck, VacuumRequest};

/// The retention of a vacuum, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retention {
    /// As requested.
    pub(super) specified_ms: Option<i64>,
    /// The table's.
    pub(super) default_ms: i64,
}

impl Retention {
    /// Validates the requested retention.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if it is negative, or shorter than the table's and the check is enabled; `CorruptLog` for an
    /// invalid property.
    pub(super) fn of(metadata: &Metadata, request: &VacuumRequest) -> Result<Self> {
        let default_ms = tombstone_retention_ms(metadata)?;
        let specified_ms = request.retention_ms;
        if specified_ms.is_some_and(|ms| ms < 0) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the retention is negative",
            ));
        }
        let too_short = specified_ms.filter(|ms| *ms < default_ms);
        if let (Some(short_ms), RetentionCheck::Enabled) = (too_short, request.retention_check) {
            let message = format!(
                "a retention of {} is shorter than the table's, {}: it could delete files that running writers have \
                 not committed yet, and files of versions that are still read",
                spelled(short_ms),
                spelled(default_ms)
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message)
                .with("field", "delta.deletedFileRetentionDuration")
                .hint(
                    "use a longer retention; or force=True if nothing else writes the table and no older version is \
                     read",
                ));
        }
        Ok(Self {
            specified_ms,
            default_ms,
        })
    }

    /// The effective retention.
    pub(super) fn ms(self) -> i64 {
        self.specified_ms.unwrap_or(self.default_ms)
    }

    /// The time before which files have expired.
    pub(super) fn cutoff_ms(self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.ms())
    }
}

/// A duration in the largest unit that represents it exactly.
fn spelled(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] = [
        (86_400_000, "day"),
        (3_600_000, "hour"),
        (60_000, "minute"),
        (1_000, "second"),
    ];
    let exact = UNITS.iter().find(|(unit, _)| ms != 0 && ms % unit == 0);
    exact.map_or_else(
        || format!("{ms} ms"),
        |(unit, name)| match ms / unit {
            1 => format!("1 {name}"),
            number => format!("{number} {name}s"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_retention_is_refused_unless_the_check_is_disabled() -> Result<()> {
        let metadata: Metadata = serde_json::from_value(serde_json::json!({
            "id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
            "configuration": {"delta.deletedFileRetentionDuration": "interval 36 hours"}}))
        .expect("metadata");
        let of = |retention_ms, retention_check| {
            let request = VacuumRequest {
                retention_ms,
                retention_check,
                ..VacuumRequest::default()
            };
            Retention::of(&metadata, &request)
        };
        const HOUR: i64 = 3_600_000;
        assert_eq!(
            of(None, RetentionCheck::Enabled)?.cutoff_ms(100 * HOUR),
            64 * HOUR
        );
        assert_eq!(of(Some(40 * HOUR), RetentionCheck::Enabled)?.ms(), 40 * HOUR);
        assert_eq!(of(Some(0), RetentionCheck::Disabled)?.cutoff_ms(7), 7);
        for (short, check) in [
            (36 * HOUR - 1, RetentionCheck::Enabled),
            (0, RetentionCheck::Enabled),
            (-1, RetentionCheck::Disabled),
        ] {
            let error = of(Some(short), check).expect_err("it is refused");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
        Ok(())
    }

    #[test]
    fn durations_are_readable() {
        for (ms, text) in [
            (0, "0 ms"),
            (604_800_000, "7 days"),
            (3_600_000, "1 hour"),
            (90_000, "90 seconds"),
            (5_400_000, "90 minutes"),
            (1_500, "1500 ms"),
        ] {
            assert_eq!(spelled(ms), text);
        }
    }
}
