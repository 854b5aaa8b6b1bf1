//! Describes what a scan will do, as text.

use std::fmt::Write;

use deltaic_log::snapshot::Files;
use deltaic_protocol::Result;

use crate::read::survey;
use crate::scan::Scan;

/// The maximum number of files that are opened for the description.
const LOOKED_INTO: usize = 256;

impl Scan {
    /// Returns a few lines of text: which files are read and what pruned the others and, for the first of the remaining
    /// files, which row groups and pages are decoded. Must be called inside a runtime.
    pub async fn explain(&self) -> Result<String> {
        let (files, report) = self.pruned().await?;
        let mut lines = Lines(String::new());
        lines.head(&format!(
            "scan of {} at version {}",
            self.context.location.uri(),
            self.context.version
        ));
        let names: Vec<&str> = self.schema().names().collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        lines.line("columns", &names);
        if let Some((predicate, _)) = &self.context.predicate {
            lines.line("predicate", predicate.text());
        }
        if let Some(limit) = self.limit() {
            lines.line(
                "limit",
                &format!("{limit} rows; the scan may read less than the following"),
            );
        }
        lines.line(
            "files",
            &format!(
                "{} in all, {} after partitions, {} after statistics",
                report.files, report.after_partitions, report.after_statistics
            ),
        );
        lines.line(
            "bytes",
            &format!(
                "{} in all, {} after partitions, {} after statistics",
                readable(report.bytes),
                readable(report.bytes_after_partitions),
                readable(report.bytes_after_statistics)
            ),
        );
        self.explain_files(&files, &mut lines).await?;
        self.explain_conjuncts(&mut lines).await?;
        Ok(lines.0)
    }

    /// Describes what is decoded of the remaining files.
    async fn explain_files(&self, files: &Files, lines: &mut Lines) -> Result<()> {
        let mut tasks = self.tasks_of(files)?;
        let count = tasks.len();
        tasks.truncate(LOOKED_INTO);
        if tasks.is_empty() {
            return Ok(());
        }
        let [all, kept] = match survey(tasks).await {
            Ok(amounts) => amounts,
            // A damaged file is not an error here; reading it will raise one.
            Err(error) => {
                lines.line("but", &error.to_string());
                return Ok(());
            }
        };
        if count > LOOKED_INTO {
            lines.line("of these", &format!("the first {LOOKED_INTO} files, opened:"));
        }
        lines.line(
            "row groups",
            &format!("{} in all, {} decoded", all.row_groups, kept.row_groups),
        );
        if all.pages > 0 || kept.pages > 0 {
            lines.line(
                "pages",
                &format!(
                    "{} of these row groups, {} decoded",
                    all.pages.max(kept.pages),
                    kept.pages
                ),
            );
        }
        let evaluated = if self.bound().is_some() {
            "evaluated"
        } else {
            "read"
        };
        lines.line("rows", &format!("{} in all, {} {evaluated}", all.rows, kept.rows));
        let bytes = |bytes: u64| readable(i64::try_from(bytes).unwrap_or(i64::MAX));
        lines.line(
            "packed",
            &format!(
                "{} of these columns, {} at most decoded",
                bytes(all.bytes),
                bytes(kept.bytes)
            ),
        );
        Ok(())
    }

    /// Describes the effect of each conjunct of the predicate on its own.
    async fn explain_conjuncts(&self, lines: &mut Lines) -> Result<()> {
        for conjunct in self.bound().map(|bound| bound.conjuncts()).unwrap_or_default() {
            let columns = conjunct.columns();
            let by_partition = columns
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
            lines.head(&format!("  {conjunct}: {what}"));
        }
        Ok(())
    }
}

/// The text under construction. Writing to a String cannot fail.
struct Lines(String);

impl Lines {
    fn head(&mut self, text: &str) {
        let _ = writeln!(self.0, "{text}");
    }

    fn line(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "  {name:<10} {text}");
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
