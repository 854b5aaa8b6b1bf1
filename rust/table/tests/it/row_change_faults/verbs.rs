//! The verbs that change rows.

use std::sync::Arc;

use deltaic_log::Snapshot;
use deltaic_log::transaction::{CommitOptions, Committed, Operation, create};
use deltaic_protocol::expr::{ValueExpr, parse_predicate};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_table::operations::{
    Append, Assignment, ClauseKind, Delete, Merge, MergeAction, MergeClause, MergeRows, Optimize, Overwrite,
    Replaced, SourceRows, Update, run,
};
use deltaic_table::transaction::{NewRows, SchemaMode, TableTransaction};
use deltaic_table::write::RowStream;
use deltaic_testkit::fault::{Fault, Rule};
use deltaic_testkit::table_builder::TableBuilder;

use super::table::{ROWS_OF_FILE, ids, new_table, open, rows, unnamed_files};

/// A verb on a table with the ids 0 to 119.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Append,
    OverwriteAll,
    OverwriteWhere,
    OverwritePartitions,
    Delete,
    Update,
    Merge,
    /// A deletion, an update and an append in one commit.
    Together,
    Optimize,
}

/// Some rows of two files, and a whole file. The rows of the first file are too many for an inline deletion vector.
const WHERE: &str = "id < 40 AND id % 2 = 0 OR id = 45 OR id >= 80";

/// The ids of the first file for which `WHERE` is true.
fn even() -> Vec<i64> {
    (0..ROWS_OF_FILE).filter(|id| id % 2 == 0).collect()
}

fn matching() -> Vec<i64> {
    let mut ids = even();
    ids.push(45);
    ids.extend(2 * ROWS_OF_FILE..3 * ROWS_OF_FILE);
    ids
}

fn assignment() -> Result<Vec<Assignment>> {
    Ok(vec![Assignment {
        column: "id".to_owned(),
        value: ValueExpr::parse("id + 200")?,
    }])
}

pub(super) fn append(rows: impl Into<RowStream>) -> Append {
    Append {
        rows: NewRows::of(rows),
        schema_mode: SchemaMode::Keep,
    }
}

pub(super) fn delete(predicate: &str) -> Result<Delete> {
    Ok(Delete {
        predicate: Some(parse_predicate(predicate)?),
    })
}

fn update(predicate: &str) -> Result<Update> {
    Ok(Update {
        assignments: assignment()?,
        predicate: Some(parse_predicate(predicate)?),
    })
}

impl Verb {
    pub(super) const ALL: [Self; 8] = [
        Self::Append,
        Self::OverwriteAll,
        Self::OverwriteWhere,
        Self::Delete,
        Self::Update,
        Self::Merge,
        Self::Together,
        Self::Optimize,
    ];

    pub(super) async fn run(self, table: &TableBuilder) -> Result<Committed> {
        self.run_on(open(table).await?).await
    }

    /// Runs it on a version, which need not be the newest.
    pub(super) async fn run_on(self, snapshot: Snapshot) -> Result<Committed> {
        let options = CommitOptions::default();
        let predicate = parse_predicate(WHERE)?;
        let replaced = match self {
            Self::Append => return run(&snapshot, &append(rows(150..152)), options).await,
            Self::Delete => return run(&snapshot, &delete(WHERE)?, options).await,
            Self::Update => return run(&snapshot, &update(WHERE)?, options).await,
            Self::Merge => return merge_into(&snapshot).await,
            Self::Together => return together(snapshot).await,
            Self::Optimize => return run(&snapshot, &Optimize::default(), options).await,
            Self::OverwriteAll => Replaced::All,
            Self::OverwriteWhere => Replaced::Where(predicate),
            Self::OverwritePartitions => Replaced::Partitions,
        };
        let new = match self {
            Self::OverwritePartitions => rows(38..42),
            _ => rows(150..152),
        };
        let overwrite = Overwrite {
            rows: NewRows::of(new),
            replaced,
            schema_mode: SchemaMode::Keep,
        };
        run(&snapshot, &overwrite, options).await
    }

    /// The types and ids of its changes, sorted.
    pub(super) fn changes(self) -> Vec<(String, i64)> {
        let (matching, new): (Vec<i64>, Vec<i64>) = match self {
            Self::Append => (Vec::new(), vec![150, 151]),
            Self::OverwriteAll => ((0..3 * ROWS_OF_FILE).collect(), vec![150, 151]),
            Self::OverwriteWhere => (matching(), vec![150, 151]),
            Self::OverwritePartitions => ((0..2 * ROWS_OF_FILE).collect(), (38..42).collect()),
            Self::Delete | Self::Update => (matching(), Vec::new()),
            Self::Merge => (matching().split_off(even().len() + 1), vec![150, 151]),
            Self::Together => (even(), vec![150, 151]),
            Self::Optimize => (Vec::new(), Vec::new()),
        };
        let updated = match self {
            Self::Update => matching.clone(),
            Self::Together => vec![45],
            Self::Merge => [even(), vec![45]].concat(),
            _ => Vec::new(),
        };
        let typed = |change: &str, ids: Vec<i64>| {
            let typed = ids.into_iter().map(|id| (change.to_owned(), id));
            typed.collect::<Vec<_>>()
        };
        let deleted = if self == Self::Update {
            Vec::new()
        } else {
            matching
        };
        let after = updated.iter().map(|id| id + 200).collect();
        let mut changes = typed("delete", deleted);
        changes.extend(typed("insert", new));
        changes.extend(typed("update_preimage", updated));
        changes.extend(typed("update_postimage", after));
        changes.sort_unstable();
        changes
    }

    /// The ids after it, sorted.
    pub(super) fn after(self) -> Vec<i64> {
        let mut ids: Vec<i64> = (0..3 * ROWS_OF_FILE).collect();
        for (change, id) in self.changes() {
            match change.as_str() {
                "delete" | "update_preimage" => ids.retain(|known| *known != id),
                _ => {}
            }
        }
        let added = |change: &str| change == "insert" || change == "update_postimage";
        let changes = self.changes().into_iter();
        ids.extend(changes.filter(|(change, _)| added(change)).map(|(_, id)| id));
        ids.sort_unstable();
        ids
    }
}

/// Deletes a whole file, updates some rows of the two others, and inserts new rows.
async fn merge_into(snapshot: &Snapshot) -> Result<Committed> {
    let clause = |kind, condition: Option<&str>, action| -> Result<MergeClause> {
        let condition = condition.map(parse_predicate).transpose()?;
        Ok(MergeClause {
            kind,
            condition,
            action,
        })
    };
    let value = ValueExpr::parse("target.id + 200")?;
    let column = "id".to_owned();
    let update = MergeAction::Update(vec![Assignment { column, value }]);
    let request = Merge {
        on: parse_predicate("target.id = source.id")?,
        target_alias: "target".to_owned(),
        source_alias: "source".to_owned(),
        clauses: vec![
            clause(ClauseKind::Matched, Some("target.id >= 80"), MergeAction::Delete)?,
            clause(ClauseKind::Matched, None, update)?,
            clause(ClauseKind::NotMatched, None, MergeAction::InsertAll)?,
        ],
        evolves: false,
    };
    let options = CommitOptions::default();
    let source = rows(matching().into_iter().chain(150..152));
    let source = Arc::new(SourceRows::read(source, options.memory).await?);
    let merge = MergeRows {
        merge: request,
        source,
    };
    run(snapshot, &merge, options).await
}

/// Rows of two files and new rows: the changes of each verb are recorded.
async fn together(snapshot: Snapshot) -> Result<Committed> {
    let mut transaction = TableTransaction::try_new(snapshot, Operation::Write, CommitOptions::default())?;
    let staged = async {
        transaction.apply(&append(rows(150..152))).await?;
        transaction.apply(&delete("id < 40 AND id % 2 = 0")?).await?;
        transaction.apply(&update("id = 45")?).await
    };
    if let Err(error) = staged.await {
        transaction.abandon().await;
        return Err(error);
    }
    Ok(transaction.commit().await?.expect("staged changes"))
}

/// Creates a table and appends its first rows, with a fault at one request. Returns whether the request was made, and the
/// outcome.
pub(super) async fn write_first(fault: Fault, number: usize, how: &str) -> Result<(bool, &'static str)> {
    let table = TableBuilder::new();
    let rule = Rule::new(fault).requests(number..number + 1);
    table.scripted().fail(rule);
    let written = async {
        create(&table.location(), new_table(), &CommitOptions::default()).await?;
        let snapshot = open(&table).await?;
        run(&snapshot, &append(rows(0..10)), CommitOptions::default()).await
    };
    let written = written.await;
    let was_met = table.scripted().faults_met() > 0;
    table.scripted().heal();
    let found = match open(&table).await {
        Err(error) if error.kind() == ErrorKind::TableNotFound => Vec::new(),
        _ => ids(&table).await?,
    };
    let (all, unnamed) = ((0..10).collect::<Vec<i64>>(), unnamed_files(&table).await?);
    let outcome = match written {
        Ok(_) => {
            assert_eq!(found, all, "{how}");
            "committed"
        }
        Err(error) if error.kind() == ErrorKind::CommitUnknown => {
            assert!(found.is_empty() || found == all, "{how}: {error}");
            return Ok((was_met, "unknown"));
        }
        Err(error) => {
            assert!(found.is_empty(), "{how}: {error}");
            "failed"
        }
    };
    assert!(unnamed.is_empty(), "{how}: {unnamed:?}");
    Ok((was_met, outcome))
}
