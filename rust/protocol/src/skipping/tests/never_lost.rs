//! A file with a matching row is never skipped: generated tables, predicates, and statistics of many
//! writers are compared with an oracle that evaluates every row.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::super::{Files, columns_of, files_that_may_match, may_match};
use super::predicates::predicate;
use super::recorded::Form;
use super::tables::{File, Table};
use super::values::Chance;
use crate::expr::{BoundPredicate, evaluate, parse_predicate};

/// Number of predicates per table.
const PREDICATES: usize = 12;
/// Number of tables, unless `PROPTEST_CASES` is set.
const TABLES: u32 = 1_500;

/// The results of all predicates for all files.
#[derive(Debug, Default)]
struct Tally {
    asked: Cell<usize>,
    refused: Cell<usize>,
    /// Files without a matching row, and those of them that were skipped.
    without_match: Cell<usize>,
    left_out: Cell<usize>,
}

fn add(to: &Cell<usize>, more: usize) {
    to.set(to.get() + more);
}

/// protocol: per-file-statistics.4, per-file-statistics.5
#[test]
fn a_file_with_a_matching_row_is_never_left_out() {
    let mut config = ProptestConfig::default();
    // 256 is the default, so the environment did not set another number.
    if config.cases == 256 {
        config.cases = TABLES;
    }
    // Seeds cannot be shrunk in a useful way; the message contains the seed.
    config.max_shrink_iters = 0;
    config.failure_persistence = None;
    let tally = Tally::default();
    let run = TestRunner::new(config).run(&any::<u64>(), |seed| a_table(seed, &tally));
    run.unwrap_or_else(|error| panic!("{error}"));
    let share = |part: &Cell<usize>, of: &Cell<usize>| 100 * part.get() / of.get().max(1);
    assert!(
        share(&tally.refused, &tally.asked) < 15,
        "predicates are mostly refused: {tally:?}"
    );
    // Otherwise a bug that never skips files would not be detected.
    assert!(
        share(&tally.left_out, &tally.without_match) > 40,
        "too little is left out: {tally:?}"
    );
}

fn a_table(seed: u64, tally: &Tally) -> Result<(), TestCaseError> {
    let mut chance = Chance::new(seed);
    let table = Table::new(&mut chance);
    let files: Vec<File> = (0..1 + chance.below(3))
        .map(|_| table.file(&mut chance))
        .collect();
    let form = *chance.pick(&[Form::Text, Form::EscapedText, Form::Struct]);
    let schema = table.schema();
    for _ in 0..PREDICATES {
        let text = predicate(&table, &mut chance, 3);
        add(&tally.asked, 1);
        let bound = parse_predicate(&text).and_then(|predicate| predicate.bind(&schema));
        let Ok(bound) = bound else {
            add(&tally.refused, 1);
            continue;
        };
        let described = |what: &str| format!("{what}\nseed {seed}: {text}\n{form:?} {files:#?}");
        let matching = files
            .iter()
            .map(|file| Ok(evaluate(&bound, &file.rows)?.true_count() > 0))
            .collect::<crate::Result<Vec<bool>>>()
            .map_err(|error| TestCaseError::fail(described(&error.to_string())))?;
        let kept = kept(&table, &files, form, &bound, &mut chance);
        let kept = kept.map_err(|error| TestCaseError::fail(described(&error.to_string())))?;
        for (matches, keeps) in matching.iter().zip(&kept) {
            prop_assert!(*keeps || !matches, "{}", described("a row is lost"));
            add(&tally.without_match, usize::from(!matches));
            add(&tally.left_out, usize::from(!keeps));
        }
    }
    Ok(())
}

/// Which files are read, by their statistics alone or with their partition values.
fn kept(
    table: &Table,
    files: &[File],
    form: Form,
    predicate: &BoundPredicate,
    chance: &mut Chance,
) -> crate::Result<Vec<bool>> {
    let paths = columns_of(predicate);
    let wanted = table.wanted(chance.percent(50).then_some(paths.as_slice()));
    let statistics = table.statistics(files, form, &wanted)?;
    let (values, unreadable) = table.partitions(files);
    let kept = if chance.percent(70) {
        let known = Files::new(files.len())
            .with_statistics(&statistics, &wanted)?
            .with_partition_values(&values, &unreadable)?;
        files_that_may_match(predicate, &known)?
    } else {
        may_match(predicate, &statistics, &wanted)?
    };
    Ok((0..files.len())
        .map(|row| kept.as_ref().is_none_or(|kept| kept.value(row)))
        .collect())
}
