//! What a scan will do, in words.

use std::fmt::Write;

use deltaic_protocol::Result;

use super::Scan;

impl Scan {
    /// A few lines of text: which files are read, and what ruled the others out. Must be called inside a runtime.
    pub async fn explain(&self) -> Result<String> {
        let (_, report) = self.pruned().await?;
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "scan of {} at version {}",
            self.context.location.uri(),
            self.context.version
        );
        let names: Vec<&str> = self.schema().names().collect();
        let _ = writeln!(
            text,
            "  columns    {}",
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        );
        if let Some((predicate, _)) = &self.context.predicate {
            let _ = writeln!(text, "  predicate  {predicate}");
        }
        if let Some(limit) = self.limit() {
            let _ = writeln!(text, "  limit      {limit} rows");
        }
        let _ = writeln!(
            text,
            "  files      {} in all, {} after partitions, {} after statistics",
            report.files, report.after_partitions, report.after_statistics
        );
        let _ = writeln!(
            text,
            "  bytes      {} in all, {} after partitions, {} after statistics",
            readable(report.bytes),
            readable(report.bytes_after_partitions),
            readable(report.bytes_after_statistics)
        );
        for conjunct in self.bound().map(|bound| bound.conjuncts()).unwrap_or_default() {
            let by_partition = conjunct
                .columns()
                .iter()
                .all(|column| self.context.partition_columns.iter().any(|name| name == column));
            let (_, alone) = self.snapshot.files(Some(conjunct)).await?;
            let what = if by_partition {
                format!(
                    "on partitions, rules out {} files",
                    alone.files - alone.after_partitions
                )
            } else {
                format!(
                    "on rows, as they are read; statistics rule out {} files",
                    alone.after_partitions - alone.after_statistics
                )
            };
            let _ = writeln!(text, "  {conjunct}: {what}");
        }
        Ok(text)
    }
}

fn readable(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes.max(0);
    let mut tenths = 0;
    let mut unit = 0;
    while value >= 1024 && unit + 1 < UNITS.len() {
        tenths = (value % 1024) * 10 / 1024;
        value /= 1024;
        unit += 1;
    }
    match (UNITS.get(unit), unit) {
        (Some(name), 0) => format!("{value} {name}"),
        (Some(name), _) => format!("{value}.{tenths} {name}"),
        (None, _) => format!("{bytes} B"),
    }
}
