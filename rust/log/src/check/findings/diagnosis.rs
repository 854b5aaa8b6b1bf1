//! All diagnoses of a check: one row per code, with the meaning for the user and the remedy.

use super::severity::Severity;

/// A kind of finding.
#[derive(Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// A stable name for programs.
    pub code: &'static str,
    /// The usual severity.
    pub severity: Severity,
    /// What it means for the user, in one sentence.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

const RESTORE_COMMIT: &str = "Restore the commit's file from a backup of the table.";
const NEW_CHECKPOINT: &str =
    "Readers are not affected; have a writer create a new checkpoint, then move the damaged one away.";
const MOVE_AWAY: &str =
    "Move the file away: no reader needs it, and readers that trust it return wrong results.";
const REWRITE_METADATA: &str =
    "Set the table's properties or schema again with a client that supports them, or restore the commit.";

macro_rules! diagnoses {
    ($($(#[$doc:meta])* $name:ident: $severity:ident, $meaning:expr, $remedy:expr;)*) => {
        $(
            $(#[$doc])*
            pub static $name: Diagnosis = Diagnosis {
                code: stringify!($name),
                severity: Severity::$severity,
                meaning: $meaning,
                remedy: $remedy,
            };
        )*
        /// All diagnoses.
        pub static DIAGNOSES: &[&Diagnosis] = &[$(&$name),*];
    };
}

#[rustfmt::skip] // a table: one row for each code
diagnoses! {
    // Commits.
    /// A commit, or a line of it, that cannot be read.
    DAMAGED_COMMIT: Damage, "The version and later ones cannot be read, unless a newer checkpoint replaces it.", RESTORE_COMMIT;
    /// A commit that is missing.
    MISSING_COMMIT: Damage, "The version and later ones cannot be read, unless a newer checkpoint replaces it.", RESTORE_COMMIT;
    /// A folder with the name of a commit.
    FOLDER_AS_COMMIT: Damage, "The table does not open while the folder exists.", "Move the folder away, and restore the commit from a backup of the table.";
    /// A log file that the store lists but does not return.
    UNREADABLE_FILE: Damage, "This user cannot read versions that need the file.", "Check the permissions of the file, and the store.";
    /// Two protocol or metadata actions, or two actions on one application or domain, in one commit.
    DUPLICATE_ACTION: Damage, "Actions within a commit are unordered, so it is unknown which one applies.", RESTORE_COMMIT;
    /// A logical file that one commit adds or removes more than once.
    DUPLICATE_FILE: Damage, "It is unknown whether the file is in the table.", RESTORE_COMMIT;
    /// A data file that is live with two deletion vectors, or with and without one.
    PATH_LIVE_TWICE: Damage, "The file's rows are in the table twice.", "Remove one of the two with a client that supports it, or restore the commit that added the second.";
    /// A data file that is live under two spellings of its path.
    PLACE_LIVE_TWICE: Damage, "The file's rows are in the table twice.", "Remove one of the two with a client that supports it, or restore the commit that added the second.";
    /// A log without protocol or metadata.
    NO_PROTOCOL_OR_METADATA: Damage, "The table does not open.", "Restore the table's first commit or a checkpoint from a backup.";
    /// A `commitInfo` that is not the first action, in a table with in-commit timestamps.
    COMMIT_INFO_NOT_FIRST: Warning, "Readers that expect the timestamp in the first line do not find it.", "The commit cannot be changed; correct the writer that created it.";
    /// A commit without its required in-commit timestamp.
    MISSING_IN_COMMIT_TIMESTAMP: Damage, "Time travel to a timestamp fails for this version and for versions whose search reads it.", RESTORE_COMMIT;
    /// An in-commit timestamp that is not later than the previous one.
    IN_COMMIT_TIMESTAMP_GOES_BACK: Warning, "Time travel to a nearby timestamp may return another version than expected.", "Use versions for time travel; correct the writer that created the commit.";

    /// A commit timestamp outside the calendar.
    IMPOSSIBLE_TIME: Warning, "The timestamp cannot be displayed, and time travel that uses it fails.", "Use versions for time travel; correct the writer that created the commit.";
    /// Statistics or a `commitInfo` with a duplicate key in an object, or with excessive nesting.
    LOOSE_JSON: Warning, "Readers use one of the values, or none.", "Correct the writer; rewriting a file gives it new statistics.";

    // File actions.
    /// A partition value that is invalid for its column's type.
    BAD_PARTITION_VALUE: Damage, "Scans that include the file raise an error.", "Remove the file from the table and write its rows again.";
    /// A file without a value for a partition column.
    MISSING_PARTITION_VALUE: Damage, "Scans that include the file raise an error.", "Remove the file from the table and write its rows again.";
    /// A negative file size.
    BAD_FILE_SIZE: Damage, "The action is invalid, and the version does not open.", RESTORE_COMMIT;
    /// An invalid deletion vector descriptor.
    BAD_DELETION_VECTOR: Damage, "The deleted rows of the file are unknown, so its rows cannot be read.", RESTORE_COMMIT;
    /// A deletion vector in a table whose protocol does not list the feature.
    DELETION_VECTOR_WITHOUT_FEATURE: Damage, "Readers that follow the protocol return deleted rows.", "Enable deletion vectors in the table's protocol with a client that supports them.";
    /// A live file without row IDs in a table with row tracking.
    MISSING_ROW_IDS: Damage, "Scans with row IDs raise an error, and rows of the file cannot be tracked.", "Set delta.enableRowTracking to false and to true again: this assigns IDs to the files.";
    /// Statistics that are not a JSON object.
    STATISTICS_NOT_JSON: Warning, "Every query reads the file completely.", "No action is required; rewriting the file gives it statistics.";
    /// Statistics that no rows can have.
    IMPOSSIBLE_STATISTICS: Warning, "Readers that use them may omit matching rows.", "Rewrite the file, or compute its statistics again.";
    /// An implausible deletion timestamp of a tombstone.
    ODD_TOMBSTONE_TIME: Warning, "Vacuum uses it, and deletes the file too early or never.", "Do not vacuum beyond this timestamp; correct the writer's clock.";
    /// A path that refers to a file outside the table.
    FILE_OUTSIDE_OF_TABLE: Warning, "The file is read only if allowed_roots contains its location.", "If the table is a shallow clone and you trust it, open it with allowed_roots; otherwise remove the file from the table.";

    // Protocol and metadata.
    /// A protocol action that contradicts itself.
    BROKEN_PROTOCOL: Damage, "The table does not open.", "Restore the commit that contains the protocol from a backup of the table.";
    /// Features of the protocol that exclude or require each other.
    PROTOCOL_CONTRADICTION: Warning, "Clients treat the table differently: some reject a table that others read or write.", "Add or drop the feature with a client that follows the protocol.";
    /// Metadata with an invalid schema or invalid partition columns.
    BROKEN_METADATA: Damage, "The version does not open.", "Restore the commit that contains the metadata from a backup of the table.";
    /// Ambiguous names or IDs in a table with column mapping.
    BROKEN_COLUMN_MAPPING: Damage, "Columns may be read as other columns, or as NULL.", REWRITE_METADATA;
    /// Parts of the schema that violate the protocol.
    ODD_SCHEMA: Warning, "Clients that need this part of the schema reject the table or interpret it differently.", REWRITE_METADATA;
    /// A property with an invalid value.
    BAD_PROPERTY: Warning, "Operations that need the property fail; reading does not.", "Set the property to a valid value.";
    /// A property that enables a feature that the protocol does not list.
    PROPERTY_WITHOUT_FEATURE: Warning, "Clients that follow the protocol ignore the property.", "Enable the feature in the table's protocol, or unset the property.";
    /// A column whose type needs a feature that the protocol does not list.
    TYPE_WITHOUT_FEATURE: Warning, "Clients that follow the protocol may not know the type, and fail on the column.", "Enable the feature in the table's protocol.";
    /// Configuration of a system domain that cannot be read.
    BAD_DOMAIN: Warning, "The feature of the domain does not work, or works incorrectly.", "Have the writer that owns the domain set it again.";
    /// A feature that deltaic does not implement.
    UNSUPPORTED_FEATURE: Info, "The table may be valid, but deltaic cannot read it completely.", "Use a client that supports the feature, or a newer deltaic.";
    /// A table that does not open for a reported reason.
    CANNOT_BE_OPENED: Damage, "The newest version cannot be read.", "Correct the other findings, then check again.";

    // Checkpoints.
    /// A checkpoint that cannot be read.
    BROKEN_CHECKPOINT: Warning, "Readers ignore it and use an older checkpoint or the commits, if they still exist.", NEW_CHECKPOINT;
    /// A multi-part checkpoint with missing parts.
    INCOMPLETE_CHECKPOINT: Warning, "Readers ignore it; its writer was interrupted, or a part was lost.", NEW_CHECKPOINT;
    /// A checkpoint with a missing sidecar.
    MISSING_SIDECAR: Warning, "The checkpoint cannot be read, and readers that start from it would miss files.", NEW_CHECKPOINT;
    /// A checkpoint of another table.
    FOREIGN_CHECKPOINT: Damage, "Readers that start from it return another table.", "Move the checkpoint away.";
    /// A checkpoint that differs from the commits.
    CHECKPOINT_CONTRADICTS_COMMITS: Damage, "Readers that start from it return another table than readers that use the commits.", "Move the checkpoint away while the commits exist, and have a writer create a new one.";

    // Optional files.
    /// A version checksum that cannot be read.
    BROKEN_CHECKSUM: Warning, "It is not used; the table is unaffected.", MOVE_AWAY;
    /// A version checksum of another commit.
    FOREIGN_CHECKSUM: Warning, "It does not describe this version; a writer that lost the commit, or another table, created it.", MOVE_AWAY;
    /// A version checksum that differs from the log.
    CHECKSUM_DISAGREES: Warning, "The checksum or the log is wrong; readers use the log.", "Inspect the named field; if the log is right, move the checksum away.";
    /// A version checksum that does not identify its commit.
    CHECKSUM_WITHOUT_ID: Info, "Readers cannot determine whether it belongs to the version, and ignore it.", "No action is required.";
    /// A compaction file that cannot be read.
    BROKEN_COMPACTION: Warning, "Readers use the commits.", MOVE_AWAY;
    /// A compaction file with an invalid range.
    REVERSED_COMPACTION: Warning, "Readers ignore it.", MOVE_AWAY;
    /// A compaction file with actions that it must not contain.
    COMPACTION_FORBIDDEN_ACTION: Warning, "Readers that follow the protocol ignore it.", MOVE_AWAY;
    /// A compaction file that differs from the commits.
    COMPACTION_DISAGREES: Warning, "Readers that use it return another table than readers that use the commits.", MOVE_AWAY;
    /// A `_last_checkpoint` that cannot be used.
    BROKEN_HINT: Warning, "The log is listed from its start, which takes longer.", "Delete _last_checkpoint; the next checkpoint writes it again.";
    /// A `_last_checkpoint` that refers to no checkpoint.
    DANGLING_HINT: Warning, "The log is listed from its start; some readers fail.", "Delete _last_checkpoint; the next checkpoint writes it again.";
    /// A `_last_checkpoint` with a higher count than its checkpoint contains.
    HINT_DISAGREES: Warning, "Either the checkpoint has lost actions, or the hint describes another checkpoint; readers use the checkpoint.", "If the commits before the checkpoint exist, move it away and have a writer create a new one; otherwise compare the checkpoint with a backup.";
    /// An outdated `_last_checkpoint`.
    STALE_HINT: Info, "Readers list more of the log than necessary.", "No action is required; the next checkpoint writes it again.";

    /// An optional file that was not compared completely.
    NOT_ALL_COMPARED: Info, "It is too large to compare all of it in reasonable time.", "No action is required; the compared part is correct unless reported.";

    // Other files in the log.
    /// A file whose name resembles that of a log file.
    NEARLY_RIGHT_NAME: Warning, "Readers ignore it; if it was meant to be part of the log, the table lacks it.", "Identify the writer that created it; rename it only if the version is missing.";
    /// A folder, pipe or dangling link with the name of a checkpoint, checksum or compaction file.
    NO_REGULAR_FILE: Warning, "Readers ignore it, or treat it as the file and fail.", "Move it away; if the file is needed, have a writer create it again.";
    /// A temporary file of a writer.
    TEMPORARY_FILE: Info, "It is not part of the table.", "Delete it when no writer is active.";
    /// A sidecar that no checkpoint refers to.
    ORPHANED_SIDECAR: Info, "It is not part of the table, or belongs to a checkpoint that is being written.", "No action is required; a log cleanup deletes it.";
    /// A staged commit that is not published.
    STAGED_COMMIT: Info, "It becomes part of the table only if its catalog publishes it.", "No action is required; a log cleanup deletes published ones.";

    // Data files, with `deep`.
    /// A missing data file.
    MISSING_DATA_FILE: Damage, "Its rows are lost, and scans that include it fail.", "Restore the file from a backup; without a backup, remove it from the table.";
    /// A data file whose size differs from the log.
    OTHER_FILE_SIZE: Warning, "The file was replaced or truncated, or the log is wrong; some readers fail on it.", "Compare the file with a backup.";
    /// A data file whose footer cannot be read.
    DAMAGED_DATA_FILE: Damage, "Its rows cannot be read.", "Restore the file from a backup of the table.";
    /// A data file whose number of rows differs from its statistics.
    OTHER_ROW_COUNT: Warning, "Row counts from the log are wrong, and deletion vectors may belong to another file.", "Compare the file with a backup; rewriting it corrects its statistics.";
    /// A missing deletion vector file.
    MISSING_DELETION_VECTOR: Damage, "It is unknown which rows are deleted, so the data file cannot be read.", "Restore the file from a backup of the table.";
    /// Files in the table's folder that its newest version does not refer to.
    UNREFERENCED_FILES: Info, "They take up space; an interrupted write left them, or an older version needs them.", "No action is required.";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_is_one_and_is_explained() {
        let mut codes = HashSet::new();
        let page = include_str!("../../../../../docs/reference/check.md");
        for diagnosis in DIAGNOSES {
            assert!(codes.insert(diagnosis.code), "{} is listed twice", diagnosis.code);
            for text in [diagnosis.meaning, diagnosis.remedy] {
                assert!(text.ends_with('.') && !text.contains('\n'), "{text}");
            }
            let row = format!("| `{}` | {} |", diagnosis.code, diagnosis.severity.name());
            assert!(page.contains(&row), "docs/reference/check.md lacks {row}");
        }
        let rows = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(
            rows,
            DIAGNOSES.len(),
            "docs/reference/check.md lists codes that do not exist"
        );
    }
}
