//! Verbs that change rows, on a store where any request fails: the table is as before or as after, the outcome that is
//! reported is true, and no file remains that no version names.
#![expect(clippy::expect_used, reason = "a test states what it expects by failing")]

mod outdated_optimize;
mod reruns;
mod table;
mod verbs;

use std::collections::BTreeSet;
use std::ops::Range;

use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::fault::{Fault, Rule};

use table::{Form, ROWS_OF_FILE, Template, changes, ids, unnamed_files};
use verbs::Verb;

/// The faults of requests: lost before or after the store received them, refused, and cut off.
const FAULTS: [Fault; 5] = [
    Fault::RequestLost,
    Fault::AnswerLost,
    Fault::ServerError,
    Fault::PermissionDenied,
    Fault::Reset,
];

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(work)
}

/// Runs a verb once for each request and fault, on tables of each form.
fn hold(verb: Verb, forms: &[Form]) -> Result<()> {
    for form in forms {
        let template = block_on(Template::of(*form))?;
        let mut outcomes = BTreeSet::new();
        for fault in FAULTS {
            let mut number = 0;
            while block_on(is_met(verb, &template, fault, number..number + 1, &mut outcomes))? {
                number += 1;
            }
            assert!(number > 5, "{verb:?} makes requests");
        }
        assert!(
            outcomes.contains("failed") && outcomes.contains("committed"),
            "{verb:?} of {form:?}: {outcomes:?}"
        );
    }
    Ok(())
}

/// Runs a verb with a fault at some of its requests; returns whether it made one of them.
async fn is_met(
    verb: Verb,
    template: &Template,
    fault: Fault,
    requests: Range<usize>,
    outcomes: &mut BTreeSet<&'static str>,
) -> Result<bool> {
    let how = format!(
        "{verb:?}, {:?}, {fault:?} at requests {requests:?}",
        template.form
    );
    // A store that fails from a request on does not delete files either.
    let deletes = requests.end != usize::MAX;
    let (before, after): (Vec<i64>, _) = ((0..3 * ROWS_OF_FILE).collect(), verb.after());
    let table = template.copy().await?;
    let met = table.scripted().faults_met();
    table.scripted().fail(Rule::new(fault).requests(requests));
    let outcome = verb.run(&table).await;
    let was_met = table.scripted().faults_met() > met;
    table.scripted().heal();
    let found = ids(&table).await?;
    let unnamed = unnamed_files(&table).await?;
    let is_after = match outcome {
        Ok(committed) => {
            assert_eq!(found, after, "{how}");
            assert!(!committed.skipped, "{how}");
            assert!(!deletes || unnamed.is_empty(), "{how}: {unnamed:?}");
            outcomes.insert("committed");
            true
        }
        Err(error) if error.kind() == ErrorKind::CommitUnknown => {
            assert!(found == before || found == after, "{how}: {error}");
            outcomes.insert("unknown");
            found == after
        }
        Err(error) => {
            assert_eq!(found, before, "{how}: {error}");
            assert!(!deletes || unnamed.is_empty(), "{how}: {error}: {unnamed:?}");
            outcomes.insert("failed");
            false
        }
    };
    if is_after && template.form.has_feed() {
        assert_eq!(changes(&table).await?, verb.changes(), "{how}");
    }
    Ok(was_met)
}

#[test]
fn an_append_is_whole_or_nothing() -> Result<()> {
    hold(
        Verb::Append,
        &[Form::PLAIN, Form::MAPPED_WITH_FEED, Form::TRACKED],
    )
}

#[test]
fn an_overwrite_of_all_rows_is_whole_or_nothing() -> Result<()> {
    hold(
        Verb::OverwriteAll,
        &[Form::PLAIN, Form::VECTORS, Form::MAPPED_WITH_FEED],
    )
}

#[test]
fn an_overwrite_by_a_predicate_is_whole_or_nothing() -> Result<()> {
    hold(Verb::OverwriteWhere, &Form::ALL)
}

#[test]
fn an_overwrite_of_partitions_is_whole_or_nothing() -> Result<()> {
    hold(
        Verb::OverwritePartitions,
        &[Form::PARTITIONED, Form::PARTITIONED_VECTORS],
    )
}

#[test]
fn a_deletion_is_whole_or_nothing() -> Result<()> {
    hold(Verb::Delete, &Form::ALL)
}

#[test]
fn an_update_is_whole_or_nothing() -> Result<()> {
    hold(Verb::Update, &Form::ALL)
}

#[test]
fn a_merge_is_whole_or_nothing() -> Result<()> {
    hold(Verb::Merge, &Form::ALL)
}

#[test]
fn an_optimization_is_whole_or_nothing() -> Result<()> {
    let forms = [Form::PLAIN, Form::VECTORS, Form::TRACKED, Form::MAPPED_WITH_FEED];
    hold(Verb::Optimize, &forms)?;
    hold(Verb::Optimize, &[Form::CLUSTERED])
}

#[test]
fn several_verbs_in_a_transaction_are_whole_or_nothing() -> Result<()> {
    hold(Verb::Together, &Form::ALL)
}

#[test]
fn a_store_that_fails_from_a_request_on_leaves_the_table_whole() -> Result<()> {
    for verb in Verb::ALL {
        for form in [Form::MAPPED_WITH_FEED, Form::VECTORS_WITH_FEED] {
            let template = block_on(Template::of(form))?;
            let (mut outcomes, mut number) = (BTreeSet::new(), 0);
            let fault = Fault::PermissionDenied;
            while block_on(is_met(verb, &template, fault, number..usize::MAX, &mut outcomes))? {
                number += 1;
            }
            assert!(number > 5, "{verb:?} makes requests");
        }
    }
    Ok(())
}

#[test]
fn a_table_and_its_first_rows_are_whole_or_nothing() -> Result<()> {
    let mut outcomes = BTreeSet::new();
    for fault in FAULTS {
        for number in 0.. {
            let how = format!("{fault:?} at request {number}");
            let (was_met, outcome) = block_on(verbs::write_first(fault, number, &how))?;
            outcomes.insert(outcome);
            if !was_met {
                assert!(number > 5, "a write makes requests");
                break;
            }
        }
    }
    assert!(
        outcomes.contains("failed") && outcomes.contains("committed"),
        "{outcomes:?}"
    );
    Ok(())
}
