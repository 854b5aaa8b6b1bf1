//! Table changes, with and without retries after a winning commit.

use deltaic_log::Snapshot;
use deltaic_log::post_commit::PostCommitPolicy;
use deltaic_log::transaction::{CommitOptions, Committed, alter};
use deltaic_protocol::Result;
use deltaic_protocol::change::TableChange;
use deltaic_protocol::schema::{ColumnName, PrimitiveType, StructField};
use deltaic_protocol::schema_evolution::Place;

pub(crate) fn options() -> CommitOptions {
    CommitOptions {
        max_attempts: 100,
        post_commit: PostCommitPolicy::none(),
        ..CommitOptions::default()
    }
}

pub(crate) fn strict() -> CommitOptions {
    CommitOptions {
        row_level: false,
        ..options()
    }
}

pub(crate) async fn change(snapshot: &Snapshot, changes: &[TableChange]) -> Result<Committed> {
    alter(snapshot, changes, &options(), None).await
}

pub(crate) fn set(key: &str, value: &str) -> TableChange {
    TableChange::SetProperties([(key.to_owned(), value.to_owned())].into())
}

pub(crate) fn column(text: &str) -> ColumnName {
    ColumnName::from_parts(text.split('.').map(str::to_owned).collect())
}

pub(crate) fn new_column(name: &str) -> TableChange {
    TableChange::AddColumn {
        field: StructField::new(name, PrimitiveType::Long.into(), true),
        within: None,
        place: Place::Last,
    }
}

pub(crate) fn positive() -> TableChange {
    TableChange::AddConstraint {
        name: "positive".to_owned(),
        expression: "id > 0".to_owned(),
    }
}
