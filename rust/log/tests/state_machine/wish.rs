//! A wish of the model as a transaction: its actions, and what was read for it.

use std::collections::{BTreeMap, BTreeSet};

use deltaic_log::Snapshot;
use deltaic_log::clock::{new_id, now_ms};
use deltaic_log::transaction::{
    DecidedBy, Operation, SharedFile, Transaction, United, UnitedVector, Vectors, unite,
};
use deltaic_log::upkeep::UpkeepPolicy;
use deltaic_protocol::Result;
use deltaic_protocol::actions::{Add, DomainMetadata, Remove};
use deltaic_protocol::change::{Form, Moment, change};
use deltaic_protocol::deletion_vector::{Bitmap, Descriptor, z85};
use deltaic_protocol::features::{ensure_appendable, ensure_changeable};

use super::model::{File, State, Wish};

/// The partition column of the tables that have one.
pub(crate) const PARTITION: &str = "part";

/// The transaction of a wish; `read` is the table at the snapshot's version.
pub(crate) fn transaction<'a>(
    snapshot: &'a Snapshot,
    read: &State,
    wish: &Wish,
    vectors: Option<&'a dyn Vectors>,
) -> Result<Transaction<'a>> {
    let operation = Operation {
        name: wish.name,
        parameters: Vec::new(),
        metrics: Vec::new(),
    };
    let gate = if wish.form.is_some() {
        ensure_changeable
    } else {
        ensure_appendable
    };
    let mut ours = Transaction::try_new(snapshot, operation, gate)?;
    ours.vectors = vectors;
    // What is written behind commits is a step of its own here.
    ours.upkeep = UpkeepPolicy::none();
    ours.app_transaction.clone_from(&wish.app);
    if wish.reads_all {
        ours.read.read_whole_table();
    }
    let touched = wish
        .removes
        .iter()
        .chain(wish.deletes.iter().map(|(path, _)| path));
    ours.read.read_files(touched.map(String::as_str));
    let proposal = &mut ours.proposal;
    if !wish.deletes.is_empty() {
        proposal.decided_by = DecidedBy::Row;
    }
    let now = now_ms();
    for path in &wish.removes {
        let add = to_add(path, &read.files[path], wish)?;
        proposal.removes.push(Remove {
            data_change: wish.changes_rows,
            ..Remove::of(&add, now)
        });
    }
    for (path, rows) in &wish.deletes {
        let before = &read.files[path];
        proposal
            .removes
            .push(Remove::of(&to_add(path, before, wish)?, now));
        let deleted = before.deleted.union(rows).copied().collect();
        let after = File {
            deleted,
            ..before.clone()
        };
        proposal.adds.push(to_add(path, &after, wish)?);
    }
    for (path, file) in &wish.adds {
        proposal.adds.push(to_add(path, file, wish)?);
    }
    if let Some((name, configuration)) = &wish.domain {
        proposal.domains.push(DomainMetadata {
            domain: name.clone(),
            configuration: configuration
                .clone()
                .unwrap_or_else(|| read.domains[name].clone()),
            removed: configuration.is_none(),
        });
    }
    if let Some((wanted, ..)) = &wish.form {
        let before = Form {
            protocol: snapshot.protocol().clone(),
            metadata: snapshot.metadata().clone(),
            domains: snapshot.domains().values().cloned().collect(),
        };
        let moment = &mut Moment {
            version: snapshot.version().next()?,
            timestamp_ms: now,
            new_id: &mut new_id,
        };
        let actions = change(&before, wanted, moment)?.actions_since(&before);
        (proposal.protocol, proposal.metadata) = (actions.protocol, actions.metadata);
    }
    Ok(ours)
}

fn to_add(path: &str, file: &File, wish: &Wish) -> Result<Add> {
    let partition = file.partition.clone();
    Ok(Add {
        path: path.to_owned(),
        partition_values: partition
            .map(|value| (PARTITION.to_owned(), Some(value)))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
        size: file.size,
        modification_time: 1,
        data_change: wish.changes_rows,
        stats: file.rows.map(|rows| format!(r#"{{"numRecords":{rows}}}"#)),
        deletion_vector: to_vector(&file.deleted)?,
        base_row_id: file.numbered.map(|(first, _)| first),
        default_row_commit_version: file.numbered.map(|(_, version)| version),
        ..Add::default()
    })
}

/// A vector in the log itself.
fn to_vector(rows: &BTreeSet<u64>) -> Result<Option<Descriptor>> {
    if rows.is_empty() {
        return Ok(None);
    }
    in_log(&Bitmap::from_positions(rows.iter().copied())?).map(Some)
}

fn in_log(rows: &Bitmap) -> Result<Descriptor> {
    let bytes = rows.encode()?;
    Ok(Descriptor {
        storage_type: "i".to_owned(),
        path_or_inline_dv: z85::encode(&bytes),
        offset: None,
        size_in_bytes: i32::try_from(bytes.len()).unwrap_or(i32::MAX),
        cardinality: i64::try_from(rows.len()).unwrap_or(i64::MAX),
    })
}

/// Unites the vectors of files that two commits share.
pub(crate) struct InLog;

impl Vectors for InLog {
    fn unite<'a>(&'a self, file: &'a SharedFile) -> United<'a> {
        Box::pin(async move {
            let read = |vector: Option<&Descriptor>| -> Result<Bitmap> {
                let rows = vector.map(Descriptor::decode_inline).transpose()?.flatten();
                Ok(rows.unwrap_or_default())
            };
            let (base, winner) = (read(file.base.as_ref())?, read(Some(&file.winner))?);
            let mine = file.mine.as_ref().map(|mine| read(Some(mine))).transpose()?;
            let Some(united) = unite(&base, mine.as_ref(), &winner) else {
                return Ok(UnitedVector::Overlap);
            };
            if mine.is_none() {
                return Ok(UnitedVector::Untouched);
            }
            // A vector has one spelling here, whatever it was made out of: `to_vector` tells it by its rows.
            let united = Bitmap::from_positions(united.iter())?;
            Ok(UnitedVector::Vector(in_log(&united)?))
        })
    }
}
