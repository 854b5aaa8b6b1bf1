//! Conflicts of two commits that delete rows of one file by deletion vectors.

use super::{ADDED, APPEND, Loser, OK, Outcome, READ};
use crate::transaction::IsolationLevel::Serializable;
use crate::transaction::conflict::Granularity;
use crate::transaction::samples::{add, file, remove, vector, winning_commit};
use crate::transaction::{DecidedBy, WinningCommit};

/// Two commits that delete rows of one file by deletion vectors.
#[test]
fn rows_of_one_file() {
    let cutting = |winning_commit: &mut WinningCommit, path: &str, from: Option<&str>, to: Option<&str>| {
        winning_commit.removes.push(file(path));
        winning_commit.adds.push(file(path));
        winning_commit
            .removes
            .iter_mut()
            .for_each(|file| file.deletion_vector = from.map(vector));
        winning_commit
            .adds
            .iter_mut()
            .for_each(|file| file.deletion_vector = to.map(vector));
    };
    let cut = |from, to| winning_commit("DELETE", |w| cutting(w, "1f", from, to));
    let deleting = |decided_by, from: Option<&str>, to: Option<&str>| {
        Loser::of(&["p"], "DELETE")
            .reading("p = 1", &["1f"])
            .proposing(|proposal| {
                proposal.decided_by = decided_by;
                let (mut gone, mut again) = (remove("1f"), add("1f"));
                gone.deletion_vector = from.map(vector);
                again.deletion_vector = to.map(vector);
                proposal.removes.push(gone);
                proposal.adds.push(again);
            })
    };
    let row = || deleting(DecidedBy::Row, None, Some("mine"));
    let rewriting = row().proposing(|proposal| proposal.adds = vec![add("1g")]);
    let dropping = row().proposing(|proposal| proposal.adds.clear());
    let looking = |decided_by, files: &[&str]| {
        let loser = Loser::of(&["p"], "DELETE").reading("p = 1", files);
        loser.proposing(|proposal| {
            proposal.decided_by = decided_by;
            proposal.adds.push(add("1new"));
        })
    };
    let updated = winning_commit("UPDATE", |w| {
        cutting(w, "1f", None, Some("theirs"));
        w.adds.push(file("1new rows"));
    });
    let updated_elsewhere = winning_commit("UPDATE", |w| {
        cutting(w, "1f", None, Some("theirs"));
        w.adds.push(file("2new rows"));
    });
    let mut whole = row();
    whole.read.read_whole_table();
    const ROWS: Outcome = Outcome::ByRows;
    for (name, loser, winning_commit, by_files, by_rows) in [
        ("both delete rows", row(), cut(None, Some("theirs")), APPEND, ROWS),
        (
            "both delete more rows",
            deleting(DecidedBy::Row, Some("old"), Some("mine")),
            cut(Some("old"), Some("theirs")),
            APPEND,
            ROWS,
        ),
        (
            "from different versions",
            row(),
            cut(Some("old"), Some("theirs")),
            APPEND,
            APPEND,
        ),
        (
            "the change depends on other rows",
            deleting(DecidedBy::Table, None, Some("mine")),
            cut(None, Some("theirs")),
            APPEND,
            APPEND,
        ),
        (
            "the current transaction rewrites the other rows",
            rewriting,
            cut(None, Some("theirs")),
            APPEND,
            APPEND,
        ),
        (
            "the current transaction removes the whole file",
            dropping,
            cut(None, Some("theirs")),
            APPEND,
            APPEND,
        ),
        (
            "the winner rewrites the other rows",
            row(),
            winning_commit("DELETE", |w| w.removes.push(file("1f"))),
            READ,
            READ,
        ),
        (
            "the winner restores rows",
            row(),
            cut(Some("old"), None),
            APPEND,
            APPEND,
        ),
        (
            "the current transaction adds the file again without a remove",
            row().proposing(|proposal| proposal.removes.clear()),
            cut(None, Some("theirs")),
            ADDED,
            ADDED,
        ),
        ("the winner's other new files", row(), updated, APPEND, APPEND),
        (
            "the winner's new files elsewhere",
            row(),
            updated_elsewhere,
            APPEND,
            ROWS,
        ),
        (
            "a file that was read",
            looking(DecidedBy::Row, &["1f"]),
            cut(None, Some("theirs")),
            APPEND,
            ROWS,
        ),
        (
            "a file that a merge read",
            looking(DecidedBy::Table, &["1f"]),
            cut(None, Some("theirs")),
            APPEND,
            APPEND,
        ),
        (
            "a file that a merge did not read",
            looking(DecidedBy::Table, &[]),
            cut(None, Some("theirs")),
            APPEND,
            ROWS,
        ),
        ("the whole table", whole, cut(None, Some("theirs")), APPEND, READ),
        (
            "a file that the current transaction does not change",
            Loser::of(&["p"], "WRITE").proposing(|proposal| proposal.adds.push(add("1a"))),
            cut(None, Some("theirs")),
            OK,
            OK,
        ),
    ] {
        assert_eq!(
            loser.meeting(Serializable, Granularity::Files, &winning_commit, &[]),
            by_files,
            "{name}"
        );
        assert_eq!(
            loser.meeting(Serializable, Granularity::Rows, &winning_commit, &[]),
            by_rows,
            "{name}"
        );
    }
}
