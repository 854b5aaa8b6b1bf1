//! Everything that a check can find: one row a code, with what it means for the user and what to do.

use super::finding::Severity;

/// A kind of finding.
#[derive(Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// A name that stays the same, for programs to compare.
    pub code: &'static str,
    /// How bad it mostly is.
    pub severity: Severity,
    /// What it means for the user, in one sentence.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

const RESTORE_COMMIT: &str = "Restore the commit's file from a backup of the table.";
const NEW_CHECKPOINT: &str =
    "Nothing need be done for reading; have a writer make a new checkpoint, and move the bad one away.";
const MOVE_AWAY: &str = "Move the file away: nothing needs it, and readers that trust it are misled.";
const REWRITE_METADATA: &str =
    "Set the table's properties or schema anew with a client that writes them, or restore the commit.";

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
        /// Every diagnosis there is.
        pub static DIAGNOSES: &[&Diagnosis] = &[$(&$name),*];
    };
}

#[rustfmt::skip] // a table: one row a code
diagnoses! {
    // The commits.
    /// A commit that cannot be read, or a line of it.
    DAMAGED_COMMIT: Damage, "The version cannot be read, nor can later ones unless a newer checkpoint stands in for it.", RESTORE_COMMIT;
    /// A commit that should be there and is not.
    MISSING_COMMIT: Damage, "The version is lost, and later ones with it unless a newer checkpoint stands in for it.", RESTORE_COMMIT;
    /// A folder that has a commit's name.
    FOLDER_AS_COMMIT: Damage, "The table does not open as long as the folder is there.", "Move the folder away, and restore the commit from a backup of the table.";
    /// A file of the log that the store lists and does not hand out.
    UNREADABLE_FILE: Damage, "Whatever needs the file cannot be read by this user.", "Check the rights on the file, and the store.";
    /// Two protocols, two metadata, two words on one application or domain in one commit.
    DUPLICATE_ACTION: Damage, "The order within a commit means nothing, so which of the two holds cannot be told.", RESTORE_COMMIT;
    /// One logical file added or removed more than once in one commit.
    DUPLICATE_FILE: Damage, "Whether the file is in the table cannot be told.", RESTORE_COMMIT;
    /// One data file that is live with two deletion vectors, or with one and without.
    PATH_LIVE_TWICE: Damage, "The file's rows are in the table twice.", "Remove one of the two with a client that can, or restore the commit that added the second.";
    /// One data file that is live under two spellings of its path.
    PLACE_LIVE_TWICE: Damage, "The file's rows are in the table twice.", "Remove one of the two with a client that can, or restore the commit that added the second.";
    /// A log without protocol or metadata.
    NO_PROTOCOL_OR_METADATA: Damage, "Without them nobody can tell what the table is, and it does not open.", "Restore the table's first commit or a checkpoint from a backup.";
    /// A `commitInfo` that does not stand first, in a table with in-commit timestamps.
    COMMIT_INFO_NOT_FIRST: Warning, "Readers that look for the commit's time in its first line do not find it.", "Nothing can be done about a commit; mend the writer that made it.";
    /// A commit without the in-commit timestamp that it must have.
    MISSING_IN_COMMIT_TIMESTAMP: Damage, "The version cannot be found by time, nor can others that are searched for past it.", RESTORE_COMMIT;
    /// An in-commit timestamp that is not later than the one before.
    IN_COMMIT_TIMESTAMP_GOES_BACK: Warning, "Asking for the table as of a time near it may give another version than was meant.", "Ask by version there; mend the writer that made the commit.";

    /// A commit's time that no calendar holds.
    IMPOSSIBLE_TIME: Warning, "The time cannot be shown, and travel by time goes wrong where readers go by it.", "Ask by version there; mend the writer that made the commit.";
    /// Statistics or a `commitInfo` with a key twice in one object, or nested without end.
    LOOSE_JSON: Warning, "Readers take one value or the other, or none.", "Mend the writer; rewriting a file gives it statistics.";

    // Actions on files.
    /// A partition value that is no value of its column's type.
    BAD_PARTITION_VALUE: Damage, "A scan that touches the file is refused.", "Remove the file from the table and write its rows again.";
    /// A file without a value for a partition column.
    MISSING_PARTITION_VALUE: Damage, "A scan that touches the file is refused.", "Remove the file from the table and write its rows again.";
    /// A file's size that is negative.
    BAD_FILE_SIZE: Damage, "The action is not valid, and the version does not open.", RESTORE_COMMIT;
    /// A deletion vector's descriptor that cannot be.
    BAD_DELETION_VECTOR: Damage, "Which rows of the file are deleted cannot be told, so they cannot be read.", RESTORE_COMMIT;
    /// A deletion vector in a table whose protocol does not have the feature.
    DELETION_VECTOR_WITHOUT_FEATURE: Damage, "Readers that go by the protocol show rows that are deleted.", "Enable deletion vectors in the table's protocol with a client that has them.";
    /// A live file without row ids in a table whose rows all have some.
    MISSING_ROW_IDS: Damage, "A scan that asks for row ids is refused, and rows of the file cannot be followed.", "Set delta.enableRowTracking to false and to true again: the files get their ids then.";
    /// Statistics that are no JSON object.
    STATISTICS_NOT_JSON: Warning, "The file is read in full by every query, since nothing is known about its rows.", "Nothing need be done; rewriting the file gives it statistics.";
    /// Statistics that cannot be true of any rows.
    IMPOSSIBLE_STATISTICS: Warning, "Readers that believe them may leave out rows that match a query.", "Rewrite the file, or compute its statistics anew.";
    /// A tombstone's time that is no time of a deletion.
    ODD_TOMBSTONE_TIME: Warning, "Vacuum goes by it, and removes the file too early or never.", "Do not vacuum below the time; mend the writer's clock.";
    /// A path of the log that leads out of the table's folder.
    FILE_OUTSIDE_OF_TABLE: Warning, "The file is read only where its folder is named in allowed_roots.", "If the table is a shallow clone and you trust it, open it with allowed_roots; else remove the file from the table.";

    // Protocol and metadata.
    /// A protocol action that contradicts itself so that nobody can follow it.
    BROKEN_PROTOCOL: Damage, "The table does not open.", "Restore the commit that holds the protocol from a backup of the table.";
    /// Features of the protocol that do not go together.
    PROTOCOL_CONTRADICTION: Warning, "Clients judge the table differently: some refuse what others read or write.", "Add or drop the feature with a client that keeps the protocol's rules.";
    /// Metadata that cannot be understood: the schema or the partition columns.
    BROKEN_METADATA: Damage, "The version does not open.", "Restore the commit that holds the metadata from a backup of the table.";
    /// Names and ids of a mapped table that do not tell its columns apart.
    BROKEN_COLUMN_MAPPING: Damage, "Columns may be read as others, or as NULL.", REWRITE_METADATA;
    /// Parts of the schema that are not as the protocol has them.
    ODD_SCHEMA: Warning, "Clients that need this part of the schema refuse the table or differ about it.", REWRITE_METADATA;
    /// A property whose value is none.
    BAD_PROPERTY: Warning, "The operation that needs the property fails; reading does not.", "Set the property to a valid value.";
    /// A property that turns on a feature that the protocol does not have.
    PROPERTY_WITHOUT_FEATURE: Warning, "Clients that go by the protocol do not do what the property asks.", "Enable the feature in the table's protocol, or unset the property.";
    /// A column of a type that needs a feature that the protocol does not have.
    TYPE_WITHOUT_FEATURE: Warning, "Clients that go by the protocol may not know the type, and fail on the column.", "Enable the feature in the table's protocol.";
    /// Configuration of a system domain that cannot be read.
    BAD_DOMAIN: Warning, "What the domain is for is not done, or done wrongly.", "Have the writer that owns the domain set it anew.";
    /// Something that deltaic does not implement.
    UNSUPPORTED_FEATURE: Info, "The table may be sound, but deltaic does not read it, or not all of it.", "Use a client that has the feature, or a newer deltaic.";
    /// A table that does not open for a reason that is told here.
    CANNOT_BE_OPENED: Damage, "The newest version cannot be read.", "Mend what else is reported; then check again.";

    // Checkpoints.
    /// A checkpoint that cannot be read.
    BROKEN_CHECKPOINT: Warning, "Readers pass it over and go by an older checkpoint or by the commits, if those are still there.", NEW_CHECKPOINT;
    /// A multi-part checkpoint of which parts are missing.
    INCOMPLETE_CHECKPOINT: Warning, "Readers pass it over; it was broken off, or a part of it was lost.", NEW_CHECKPOINT;
    /// A checkpoint whose sidecar is not there.
    MISSING_SIDECAR: Warning, "The checkpoint cannot be read, and readers that started from it would miss files.", NEW_CHECKPOINT;
    /// A checkpoint whose table is another one.
    FOREIGN_CHECKPOINT: Damage, "Readers that start from it show another table.", "Move the checkpoint away.";
    /// A checkpoint that says something else than the commits.
    CHECKPOINT_CONTRADICTS_COMMITS: Damage, "Readers that start from it see another table than readers that go by the commits.", "Move the checkpoint away as long as the commits are there, and have a writer make a new one.";

    // Helps.
    /// A version checksum that cannot be read.
    BROKEN_CHECKSUM: Warning, "It is not used; the table is what it was.", MOVE_AWAY;
    /// A version checksum that belongs to another commit.
    FOREIGN_CHECKSUM: Warning, "It tells nothing about this version; it was left by a commit that lost, or by another table.", MOVE_AWAY;
    /// A version checksum that says something else than the log.
    CHECKSUM_DISAGREES: Warning, "Either the checksum or the log is not what its writer meant; readers go by the log.", "Look into the named field; if the log is right, move the checksum away.";
    /// A version checksum that does not say which commit it belongs to.
    CHECKSUM_WITHOUT_ID: Info, "Readers cannot tell whether it belongs to the version, and do without it.", "Nothing need be done.";
    /// A compaction file that cannot be read.
    BROKEN_COMPACTION: Warning, "Readers go by the commits.", MOVE_AWAY;
    /// A compaction file whose range is not one.
    REVERSED_COMPACTION: Warning, "Readers pass it over.", MOVE_AWAY;
    /// A compaction file with actions that may not stand in one.
    COMPACTION_FORBIDDEN_ACTION: Warning, "Readers that keep to the protocol pass it over.", MOVE_AWAY;
    /// A compaction file that says something else than the commits.
    COMPACTION_DISAGREES: Warning, "Readers that use it see another table than readers that go by the commits.", MOVE_AWAY;
    /// A `_last_checkpoint` that cannot be used.
    BROKEN_HINT: Warning, "The log is listed from its start, which takes longer.", "Delete _last_checkpoint; the next checkpoint writes it anew.";
    /// A `_last_checkpoint` that leads to no checkpoint.
    DANGLING_HINT: Warning, "The log is listed from its start; some readers fail.", "Delete _last_checkpoint; the next checkpoint writes it anew.";
    /// A `_last_checkpoint` that counts more than its checkpoint holds.
    HINT_DISAGREES: Warning, "Either the checkpoint has lost actions or the hint is of another one; readers go by the checkpoint.", "If the commits before the checkpoint are there, move it away and have a writer make a new one; else compare it with a backup.";
    /// A `_last_checkpoint` that is behind.
    STALE_HINT: Info, "Readers list a little more of the log than they need.", "Nothing need be done; the next checkpoint writes it anew.";

    /// A help of which not everything was compared.
    NOT_ALL_COMPARED: Info, "There is so much of its kind that comparing all of it would take too long.", "Nothing need be done; what was compared is right unless it is told.";

    // What lies around.
    /// A file whose name is nearly that of a log file.
    NEARLY_RIGHT_NAME: Warning, "No reader sees it; if it was meant as part of the log, the table lacks it.", "Find out who wrote it; give it its right name only if the version is not there.";
    /// A folder, a pipe or a link to nowhere with the name of a checkpoint, a checksum or a compaction file.
    NO_REGULAR_FILE: Warning, "Readers pass it over, or take it for the file and fail.", "Move it away; if the file is wanted, have a writer make it anew.";
    /// A file that a writer left behind.
    TEMPORARY_FILE: Info, "It is no part of the table.", "Delete it once no writer is at work.";
    /// Sidecars that no checkpoint names.
    ORPHANED_SIDECAR: Info, "It is no part of the table, or of a checkpoint that is being written.", "Nothing need be done; cleaning up the log removes it.";
    /// A staged commit that is not published.
    STAGED_COMMIT: Info, "It becomes part of the table only when its catalog says so.", "Nothing need be done; cleaning up the log removes those that are published.";

    // The data, when it is looked at.
    /// A data file that is not there.
    MISSING_DATA_FILE: Damage, "Its rows are lost, and a scan that touches it fails.", "Restore the file from a backup; if it cannot be had, remove it from the table.";
    /// A data file that has another size than the log says.
    OTHER_FILE_SIZE: Warning, "The file was replaced or cut, or the log is wrong about it; some readers fail on it.", "Compare the file with a backup.";
    /// A data file whose footer cannot be read.
    DAMAGED_DATA_FILE: Damage, "Its rows cannot be read.", "Restore the file from a backup of the table.";
    /// A data file that has another number of rows than its statistics say.
    OTHER_ROW_COUNT: Warning, "Counts that go by the log are wrong, and deletion vectors may be of another file.", "Compare the file with a backup; rewriting it gives it right statistics.";
    /// A deletion vector's file that is not there.
    MISSING_DELETION_VECTOR: Damage, "Which rows are deleted is lost, so the data file cannot be read.", "Restore the file from a backup of the table.";
    /// Files below the table's root that its newest version does not name.
    UNREFERENCED_FILES: Info, "They take room; a write that was broken off left them, or an older version needs them still.", "Nothing need be done.";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_is_one_and_is_explained() {
        let mut codes = HashSet::new();
        let page = include_str!("../../../../docs/reference/check.md");
        for diagnosis in DIAGNOSES {
            assert!(codes.insert(diagnosis.code), "{} stands twice", diagnosis.code);
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
            "docs/reference/check.md has codes that there are not"
        );
    }
}
