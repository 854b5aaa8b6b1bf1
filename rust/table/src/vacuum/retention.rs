//! The time before which files have expired.

use deltaic_log::removed_files::RetainedCommits;
use deltaic_protocol::actions::Metadata;
use deltaic_protocol::properties::tombstone_retention_ms;
use deltaic_protocol::{Error, ErrorKind, Result, Version};

use super::request::VacuumRequest;

/// The retention of a vacuum, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retention {
    /// As requested.
    pub(super) specified_ms: Option<i64>,
    /// The table's.
    pub(super) default_ms: i64,
}

impl Retention {
    /// The requested retention.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if it is negative; `CorruptLog` for an invalid property.
    pub(super) fn of(metadata: &Metadata, request: &VacuumRequest) -> Result<Self> {
        let specified_ms = request.retention_ms;
        if specified_ms.is_some_and(|ms| ms < 0) {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the retention is negative",
            ));
        }
        Ok(Self {
            specified_ms,
            default_ms: tombstone_retention_ms(metadata)?,
        })
    }

    /// Verifies that it is not shorter than the table's.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` with the versions that could no longer be read; those of [`RetainedCommits::newest_not_after`].
    pub(super) async fn ensure_safe(self, now_ms: i64, commits: &RetainedCommits) -> Result<()> {
        let Some(short_ms) = self.specified_ms.filter(|ms| *ms < self.default_ms) else {
            return Ok(());
        };
        let kept = commits
            .newest_not_after(now_ms.saturating_sub(self.default_ms))
            .await?;
        let left = commits.newest_not_after(now_ms.saturating_sub(short_ms)).await?;
        // The newest commit before the retention is the first version of which no file is deleted.
        let kept = kept.unwrap_or(Version::ZERO);
        let lost = left.filter(|left| *left > kept).map(|left| left.as_i64() - 1);
        let lost = match lost {
            None => String::new(),
            Some(last) if last == kept.as_i64() => format!("; version {last} could no longer be read"),
            Some(last) => format!("; versions {kept} to {last} could no longer be read"),
        };
        let message = format!(
            "a retention of {} is shorter than the table's, {}: files of running writers could be deleted before \
             their commit{lost}",
            spelled(short_ms),
            spelled(self.default_ms)
        );
        Err(Error::new(ErrorKind::InvalidArgument, message)
            .with("field", "delta.deletedFileRetentionDuration")
            .hint(
                "use a longer retention; or force=True if nothing else writes the table and no older version is read",
            ))
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
    fn a_retention_is_the_requested_one_or_that_of_the_table() -> Result<()> {
        let metadata: Metadata = serde_json::from_value(serde_json::json!({
            "id": "t", "format": {"provider": "parquet"}, "partitionColumns": [],
            "configuration": {"delta.deletedFileRetentionDuration": "interval 36 hours"}}))
        .expect("metadata");
        let of = |retention_ms| {
            let request = VacuumRequest {
                retention_ms,
                ..VacuumRequest::default()
            };
            Retention::of(&metadata, &request)
        };
        const HOUR: i64 = 3_600_000;
        assert_eq!(of(None)?.cutoff_ms(100 * HOUR), 64 * HOUR);
        assert_eq!(of(Some(40 * HOUR))?.ms(), 40 * HOUR);
        assert_eq!(of(Some(0))?.cutoff_ms(7), 7);
        let error = of(Some(-1)).expect_err("it is refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
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
