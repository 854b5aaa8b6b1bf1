//! Tests which files a plan deletes, and that the log remains readable after any part of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use deltaic_protocol::ErrorKind;
use deltaic_protocol::log_path::LogPath;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::cleanup::deletion::Expired;
use crate::cleanup::waves::waves;
use crate::listing::LogFile;
use crate::segment::version_range;

const ID: &str = "3a0d65cd-4056-49b8-937b-95f9e3ee90e5";

const RULES: CleanupRules = CleanupRules {
    is_enabled: true,
    log_retention_ms: 0,
    protected_before: None,
};

fn listing(names: impl IntoIterator<Item = String>) -> Listing {
    let mut files: Vec<Arc<LogFile>> = names
        .into_iter()
        .filter_map(|name| {
            Some(Arc::new(LogFile {
                path: LogPath::parse(&name)?,
                name,
                size: 1,
                modified_ms: 0,
                e_tag: None,
            }))
        })
        .collect();
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Listing { files, any: true }
}

fn version(number: i64) -> Version {
    Version::try_new(number).expect("a version")
}

fn at(number: i64) -> Cutoff {
    Cutoff {
        timestamp_ms: 0,
        commit: Some(version(number)),
    }
}

fn commit(number: i64) -> String {
    format!("{number:020}.json")
}

fn classic(number: i64) -> String {
    format!("{number:020}.checkpoint.parquet")
}

fn part(number: i64, part: i64, parts: i64) -> String {
    format!("{number:020}.checkpoint.{part:010}.{parts:010}.parquet")
}

fn compacted(from: i64, to: i64) -> String {
    format!("{from:020}.{to:020}.compacted.json")
}

/// Ten commits with their checksums, and the given extra files.
fn ten(more: impl IntoIterator<Item = String>) -> Listing {
    let checksums = (0..10).map(|number| format!("{number:020}.crc"));
    listing((0..10).map(commit).chain(checksums).chain(more))
}

fn names(plan: &CleanupPlan) -> BTreeSet<String> {
    let name = |deletion: &Deletion| deletion.path.trim_start_matches("_delta_log/").to_owned();
    plan.deletions().map(name).collect()
}

/// Everything before the newest checkpoint that is old enough is deleted, and nothing from it on; so are compaction
/// files whose range begins at it or before.
///
/// protocol: metadata-cleanup.1, checkpoints.3
#[test]
fn files_before_the_checkpoint_at_the_cutoff_are_deleted() -> Result<()> {
    let uuid = format!("{:020}.checkpoint.{ID}.json", 2);
    let listing = ten([
        uuid.clone(),
        part(3, 1, 2),
        part(3, 2, 2),
        part(4, 1, 2),
        classic(5),
        classic(8),
        compacted(0, 3),
        compacted(5, 7),
        compacted(6, 9),
    ]);
    let plan = plan(&listing, at(7), &RULES, LogFacts::default())?;
    assert_eq!(plan.oldest_kept(), Some(version(5)));
    let mut expected: BTreeSet<String> = (0..5).map(commit).collect();
    expected.extend((0..5).map(|number| format!("{number:020}.crc")));
    expected.extend([uuid, part(3, 1, 2), part(3, 2, 2), part(4, 1, 2)]);
    expected.extend([compacted(0, 3), compacted(5, 7)]);
    assert_eq!(names(&plan), expected);
    let message = plan.to_string();
    assert!(
        message.contains("the log is retained from version 5"),
        "{message}"
    );
    assert_eq!(message.lines().count(), expected.len() + 1);
    Ok(())
}

/// A checkpoint at the cutoff is used, else an older one, never a newer one.
///
/// protocol: metadata-cleanup.1
#[test]
fn commits_after_the_cutoff_are_not_deleted() -> Result<()> {
    let listing = ten([classic(2), classic(6)]);
    for (cutoff, kept) in [
        (9, Some(6)),
        (6, Some(6)),
        (5, Some(2)),
        (2, Some(2)),
        (1, None),
        (0, None),
    ] {
        let plan = plan(&listing, at(cutoff), &RULES, LogFacts::default())?;
        assert_eq!(plan.oldest_kept().map(Version::as_i64), kept, "{cutoff}");
        let reason = kept.is_none().then_some(RetentionReason::NoCheckpoint);
        assert_eq!(plan.kept, reason, "{cutoff}");
        assert_eq!(plan.waves.is_empty(), kept.is_none());
    }
    let none = Cutoff {
        timestamp_ms: 0,
        commit: None,
    };
    assert_eq!(
        plan(&listing, none, &RULES, LogFacts::default())?.kept,
        Some(RetentionReason::NothingExpired)
    );
    Ok(())
}

#[test]
fn a_table_that_retains_its_log_is_left_alone() -> Result<()> {
    let rules = CleanupRules {
        is_enabled: false,
        ..RULES
    };
    let plan = plan(&ten([classic(6)]), at(9), &rules, LogFacts::default())?;
    assert_eq!(
        (plan.kept, plan.waves.len()),
        (Some(RetentionReason::Disabled), 0)
    );
    Ok(())
}

/// protocol: beyond:checkpoint-protection.1
#[test]
fn protected_checkpoints_go_all_at_once_or_not_at_all() -> Result<()> {
    let listing = ten([classic(2), classic(6)]);
    for (protected, cutoff, kept) in [
        (6, 9, Some(6)),
        (7, 9, None),
        (6, 5, None),
        (3, 5, None),
        (2, 5, Some(2)),
        (1, 9, Some(6)),
    ] {
        let rules = CleanupRules {
            protected_before: Some(version(protected)),
            ..RULES
        };
        let plan = plan(&listing, at(cutoff), &rules, LogFacts::default())?;
        assert_eq!(
            plan.oldest_kept().map(Version::as_i64),
            kept,
            "{protected} {cutoff}"
        );
        let reason = kept
            .is_none()
            .then_some(RetentionReason::Protected(version(protected)));
        assert_eq!(plan.kept, reason);
    }
    Ok(())
}

/// If commits after the checkpoint are missing, the log is damaged and nothing is deleted.
#[test]
fn no_commit_of_a_damaged_log_is_deleted() {
    let names = (0..10).filter(|number| *number != 7).map(commit);
    let listing = listing(names.chain([classic(5)]));
    let planned = plan(&listing, at(9), &RULES, LogFacts::default());
    assert_eq!(
        planned.err().map(|error| error.kind()),
        Some(ErrorKind::CorruptLog)
    );
}

#[test]
fn a_checkpoint_that_cannot_be_read_represents_nothing() -> Result<()> {
    let listing = ten([classic(2), classic(6), part(6, 1, 2), part(6, 2, 2)]);
    let all = complete_checkpoints(&listing, None);
    for (unreadable, kept) in [(0, Some(6)), (1, Some(6)), (2, Some(2)), (3, None)] {
        let known = LogFacts {
            unreadable: &all[..unreadable],
            ..LogFacts::default()
        };
        let plan = plan(&listing, at(9), &RULES, known)?;
        assert_eq!(plan.oldest_kept().map(Version::as_i64), kept, "{unreadable}");
    }
    Ok(())
}

/// Readers that follow the hint need the checkpoint that it names.
#[test]
fn the_checkpoint_of_the_hint_is_not_deleted() -> Result<()> {
    let listing = ten([classic(2), classic(4), classic(6)]);
    for (hint, kept) in [
        (None, 6),
        (Some(6), 6),
        (Some(4), 4),
        (Some(3), 6),
        (Some(9), 6),
        (Some(2), 2),
    ] {
        let known = LogFacts {
            hint: hint.map(version),
            ..LogFacts::default()
        };
        let plan = plan(&listing, at(7), &RULES, known)?;
        assert_eq!(plan.oldest_kept(), Some(version(kept)), "{hint:?}");
    }
    Ok(())
}

#[test]
fn a_log_that_is_clean_is_left_alone() -> Result<()> {
    let listing = listing((6..10).map(commit).chain([classic(6), compacted(7, 9)]));
    let plan = plan(&listing, at(9), &RULES, LogFacts::default())?;
    assert_eq!(
        (plan.kept, plan.checkpoint),
        (Some(RetentionReason::NothingExpired), None)
    );
    Ok(())
}

/// The files of a generated log at a version.
#[derive(Clone, Copy, Debug)]
enum Extra {
    Classic,
    Parts(i64),
    Incomplete(i64),
    Uuid,
    Checksum,
    Compaction(i64),
}

fn extra() -> impl Strategy<Value = Extra> {
    prop_oneof![
        Just(Extra::Classic),
        (2i64..4).prop_map(Extra::Parts),
        (2i64..4).prop_map(Extra::Incomplete),
        Just(Extra::Uuid),
        Just(Extra::Checksum),
        (1i64..4).prop_map(Extra::Compaction),
    ]
}

fn names_of(extra: Extra, number: i64) -> Vec<String> {
    match extra {
        Extra::Classic => vec![classic(number)],
        Extra::Parts(parts) => (1..=parts).map(|which| part(number, which, parts)).collect(),
        Extra::Incomplete(parts) => (1..parts).map(|which| part(number, which, parts + 5)).collect(),
        Extra::Uuid => vec![format!("{number:020}.checkpoint.{ID}.parquet")],
        Extra::Checksum => vec![format!("{number:020}.crc")],
        Extra::Compaction(more) => vec![compacted(number, number + more)],
    }
}

/// Whether every version that a listing shows can be loaded from its files.
fn all_can_be_read(listing: &Listing) -> bool {
    let Some((oldest, newest)) = version_range(listing) else {
        return false;
    };
    (oldest.as_i64()..=newest.as_i64()).all(|number| {
        let checkpoint = complete_checkpoints(listing, Some(version(number)))
            .into_iter()
            .next();
        LogSegment::try_new(listing, checkpoint, version(number)).is_ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Interrupted in any wave after any part of it, a cleanup leaves a log whose versions can all be read, including
    /// those from the checkpoint on; when complete, it leaves nothing older.
    ///
    /// protocol: checkpoints.3, metadata-cleanup.1
    #[test]
    fn any_part_of_a_plan_leaves_versions_that_can_be_read(
        first in 0i64..4, length in 1i64..12, extras in vec((0i64..12, extra()), 0..12),
        cutoff in 0i64..16, stop in any::<prop::sample::Index>(), mask in vec(any::<bool>(), 64),
    ) {
        let newest = first + length;
        // A log that begins later must begin with a checkpoint.
        let start = (first > 0).then(|| classic(first));
        let extras = extras.iter().filter(|(at, _)| first + at <= newest);
        let extras = extras.flat_map(|(at, extra)| names_of(*extra, first + at));
        let names: BTreeSet<String> = (first..=newest).map(commit).chain(start).chain(extras).collect();
        let before = listing(names.iter().cloned());
        prop_assert!(all_can_be_read(&before));
        let plan = plan(&before, at(cutoff.min(newest)), &RULES, LogFacts::default()).expect("the log is whole");
        let Some(kept) = plan.oldest_kept() else {
            prop_assert!(plan.waves.is_empty());
            return Ok(());
        };
        prop_assert!(kept.as_i64() <= cutoff);
        let stop = stop.index(plan.waves.len() + 1);
        let mut left = names.clone();
        for (number, wave) in plan.waves.iter().enumerate().take(stop + 1) {
            for (deletion, is_done) in wave.iter().zip(mask.iter().cycle()) {
                if number < stop || *is_done {
                    prop_assert!(left.remove(deletion.path.trim_start_matches("_delta_log/")));
                }
            }
        }
        let after = listing(left.iter().cloned());
        prop_assert!(all_can_be_read(&after), "{left:?}");
        let (oldest, now_newest) = version_range(&after).expect("there is a version");
        prop_assert!(oldest <= kept && now_newest.as_i64() == newest);
        if stop == plan.waves.len() {
            prop_assert_eq!(oldest, kept);
            prop_assert!(after.files.iter().all(|file| file.path.version >= kept), "{left:?}");
            let again = super::plan(&after, at(cutoff.min(newest)), &RULES, LogFacts::default()).expect("it is whole");
            prop_assert!(again.waves.is_empty(), "the second plan deletes nothing");
        }
    }
}

/// Every reason to delete or retain a file has a distinct text.
#[test]
fn every_reason_has_a_message() {
    let goes = [
        Expired::BeforeCheckpoint,
        Expired::OlderCheckpoint,
        Expired::Compaction,
        Expired::Sidecar,
        Expired::LeftBehind,
    ];
    let stays = [
        RetentionReason::Disabled,
        RetentionReason::NothingExpired,
        RetentionReason::NoCheckpoint,
        RetentionReason::Protected(version(7)),
    ];
    let goes: Vec<String> = goes.iter().map(ToString::to_string).collect();
    let stays: Vec<String> = stays.iter().map(ToString::to_string).collect();
    let distinct: BTreeSet<&String> = goes.iter().chain(&stays).collect();
    assert_eq!(distinct.len(), goes.len() + stays.len());
    assert!(distinct.iter().all(|words| words.contains(' ')), "{distinct:?}");
    assert!(stays.iter().any(|words| words.contains('7')), "{stays:?}");
}

/// A checkpoint of version 0 replaces that version only; its commit is retained.
#[test]
fn nothing_of_a_truncated_log_is_deleted() -> Result<()> {
    let listing = ten([classic(0), compacted(1, 3)]);
    assert_eq!(waves(&listing, version(0)), Vec::<Vec<Deletion>>::new());
    let plan = plan(&listing, at(7), &RULES, LogFacts::default())?;
    assert_eq!(names(&plan), BTreeSet::new());
    Ok(())
}
