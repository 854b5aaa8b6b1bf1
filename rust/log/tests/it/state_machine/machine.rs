//! A table and its model side by side: creation, the snapshots that writers hold, and the comparison of both.

use std::collections::BTreeMap;

use deltaic_log::Snapshot;
use deltaic_log::listing::Listing;
use deltaic_log::segment::version_range;
use deltaic_log::snapshot::LoadOptions;
use deltaic_log::transaction::{IfExists, NewTable, create};
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{ErrorKind, Result};
use deltaic_testkit::own_commits::{a_new_table, without_maintenance};
use deltaic_testkit::untrusted::mutation::Chance;

use super::change::Blank;
use super::clocks::{Clocks, DAY_MS};
use super::model::{History, PlannedCommit, State, Version};
use super::observed::{Look, features_of, seen};
use super::planned_commit::PARTITION;
use super::table_location::{Medium, Mishap, Place, to_version};
use super::tally::Tally;
use super::trace::Trace;

/// Number of writers that hold a version of the table.
pub(crate) const WRITERS: usize = 3;

/// Tombstone retention, in milliseconds.
const TOMBSTONE_MS: i64 = 7 * DAY_MS;

/// The initial configuration of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(crate) is_partitioned: bool,
    pub(crate) has_domains: bool,
    /// Log retention, in milliseconds.
    pub(crate) retention_ms: i64,
    pub(crate) properties: BTreeMap<String, String>,
}

/// A table, its model, and its writers.
pub(crate) struct Machine {
    pub(crate) place: Place,
    pub(crate) clocks: Clocks,
    pub(crate) form: Form,
    pub(crate) history: History,
    /// The snapshots that writers hold.
    pub(crate) held: [Option<Snapshot>; WRITERS],
    /// Whether the log was cleaned up since each writer opened the table, so that files of its snapshot may have been
    /// deleted.
    pub(crate) outlived: [bool; WRITERS],
    pub(crate) chance: Chance,
    pub(crate) trace: Trace,
    pub(crate) tally: Tally,
    /// Number of file names used so far.
    pub(crate) names: usize,
}

impl Form {
    fn by(chance: &mut Chance) -> (Self, bool) {
        let mut properties = BTreeMap::new();
        let mut set_if = |is_asked: bool, key: &str, value: &str| {
            if is_asked {
                properties.insert(key.to_owned(), value.to_owned());
            }
            is_asked
        };
        let numbers_rows = set_if(chance.below(2) == 0, "delta.enableRowTracking", "true");
        set_if(chance.below(2) == 0, "delta.enableInCommitTimestamps", "true");
        set_if(chance.below(3) > 0, "delta.enableDeletionVectors", "true");
        let by_feature = !numbers_rows && chance.below(2) == 0;
        let has_domains = set_if(by_feature, "delta.feature.domainMetadata", "supported") || numbers_rows;
        set_if(chance.below(2) == 0, "delta.checkpointPolicy", "v2");
        set_if(chance.below(2) == 0, "delta.isolationLevel", "WriteSerializable");
        set_if(
            chance.below(3) == 0,
            "delta.checkpoint.writeStatsAsStruct",
            "true",
        );
        set_if(chance.below(2) == 0, "delta.checkpointInterval", "3");
        let (retention, retention_ms) = [
            ("interval 30 days", 30 * DAY_MS),
            ("interval 30 days", 30 * DAY_MS),
            ("interval 1 day", DAY_MS),
            ("interval 0 seconds", 0),
        ][chance.below(4)];
        set_if(true, "delta.logRetentionDuration", retention);
        let is_partitioned = chance.below(2) == 0;
        let form = Self {
            is_partitioned,
            has_domains,
            retention_ms,
            properties,
        };
        (form, numbers_rows)
    }

    /// The creation parameters of a table of this form.
    pub(crate) fn new_table(&self, if_exists: IfExists) -> NewTable {
        NewTable {
            schema: self.schema(),
            partition_columns: self
                .is_partitioned
                .then(|| PARTITION.to_owned())
                .into_iter()
                .collect(),
            properties: self.properties.clone(),
            if_exists,
            ..a_new_table()
        }
    }

    /// The table without any commit.
    pub(crate) fn blank(&self) -> Blank {
        let columns = self.schema().fields.into_iter();
        // Properties that enable a feature are part of the protocol, and not stored as properties.
        let properties = self.properties.clone().into_iter();
        let properties: BTreeMap<_, _> = properties
            .filter(|(key, _)| !key.starts_with("delta.feature."))
            .collect();
        Blank {
            columns: columns
                .map(|field| (field.name, field.data_type.to_string()))
                .collect(),
            partition_column: self.is_partitioned.then(|| PARTITION.to_owned()),
            features: features_of(&properties).collect(),
            properties,
        }
    }

    fn schema(&self) -> StructType {
        let text = |name: &str| StructField::new(name, DataType::Primitive(PrimitiveType::String), true);
        let mut fields = vec![text("value")];
        if self.is_partitioned {
            fields.push(text(PARTITION));
        }
        StructType { fields }
    }
}

impl Machine {
    /// Creates a new table; creation is retried after mishaps.
    pub(crate) async fn start(seed: u64, medium: Medium) -> Result<Self> {
        let mut chance = Chance::from_number(seed);
        let (form, numbers_rows) = Form::by(&mut chance);
        let place = Place::on(medium)?;
        let mut machine = Self {
            clocks: Clocks::by(&mut chance, place.clock()),
            place,
            trace: Trace::of(seed, format!("{medium:?}, {form:?}")),
            form,
            history: History {
                numbers_rows,
                ..History::default()
            },
            held: [const { None }; WRITERS],
            outlived: [false; WRITERS],
            chance,
            tally: Tally::default(),
            names: 0,
        };
        machine.create().await?;
        Ok(machine)
    }

    async fn create(&mut self) -> Result<()> {
        let table = self.form.new_table(IfExists::Error);
        let mut mishap = Mishap::by(&mut self.chance);
        let info = loop {
            self.trace.begin(format!("create, {mishap:?}"));
            let ended = self
                .place
                .run(
                    mishap,
                    create(&self.place.location, table.clone(), &without_maintenance()),
                )
                .await;
            self.trace.end(&ended, |_| "made".to_owned());
            let info = self.place.info_of(0).await?;
            match &ended.outcome {
                Some(Ok(made)) => assert!(
                    made.is_some() && info.is_some(),
                    "a table that was made is not there"
                ),
                Some(Err(error)) if error.kind() == ErrorKind::CommitUnknown => {
                    assert!(ended.was_met, "{error}")
                }
                Some(Err(error)) => assert!(ended.was_met && info.is_none(), "{error}"),
                None => {}
            }
            if let Some(info) = info {
                break info;
            }
            mishap = Mishap::None;
        };
        let first = self.load(None).await?;
        let state = seen(&first, Look::Whole).await?;
        let Blank {
            columns,
            partition_column,
            properties,
            features,
        } = self.form.blank();
        let expected = State {
            columns,
            partition_column,
            properties,
            features,
            ..State::default()
        };
        assert_eq!(state, expected, "the new table is not what was asked for");
        let time_ms = info["inCommitTimestamp"].as_i64();
        assert_eq!(time_ms.is_some(), state.has_times());
        self.history.versions.push(Version {
            planned: PlannedCommit::default(),
            state,
            time_ms,
            modified_ms: self.place.modified_ms(0).await?,
        });
        Ok(())
    }

    /// Opens the table without faults.
    pub(crate) async fn load(&self, version: Option<usize>) -> Result<Snapshot> {
        let location = std::sync::Arc::clone(&self.place.location);
        Snapshot::load(location, version.map(to_version), LoadOptions::default()).await
    }

    /// Compares a snapshot with the model at its version, as far as known after opening.
    pub(crate) async fn glance(&self, snapshot: &Snapshot) -> Result<()> {
        let version = number_of(snapshot);
        let mut expected = self.history.state(version).clone();
        expected.gone.clear();
        for file in expected.files.values_mut() {
            file.rows = None;
        }
        let seen = seen(snapshot, Look::Short).await?;
        assert_eq!(seen, expected, "version {version} is not what it should be");
        assert_eq!(snapshot.warnings(), [""; 0], "version {version}");
        Ok(())
    }

    /// Compares a snapshot with the model at its version; nothing may have been skipped.
    pub(crate) async fn compare(&self, snapshot: &Snapshot) -> Result<()> {
        self.compare_held(snapshot, false).await
    }

    /// The same for a snapshot that may have outlived files of the log.
    pub(crate) async fn compare_held(&self, snapshot: &Snapshot, has_outlived: bool) -> Result<()> {
        self.compare_state(snapshot, has_outlived).await?;
        assert_eq!(snapshot.warnings(), [""; 0], "version {}", number_of(snapshot));
        Ok(())
    }

    /// The same for a snapshot that met faults: it must report everything that it skipped.
    pub(crate) async fn compare_hindered(&self, snapshot: &Snapshot, has_outlived: bool) -> Result<()> {
        self.compare_state(snapshot, has_outlived).await?;
        let mut warnings = snapshot.warnings().iter();
        assert!(
            warnings.all(|warning| warning.contains("skipped")),
            "{:?}",
            snapshot.warnings()
        );
        Ok(())
    }

    async fn compare_state(&self, snapshot: &Snapshot, has_outlived: bool) -> Result<()> {
        let version = number_of(snapshot);
        let mut seen = seen(snapshot, Look::Whole).await?;
        let mut expected = self.history.state(version).clone();
        // Checkpoints omit expired tombstones, by a clock that may be ahead.
        let forgotten_ms = self.clocks.latest_ms() - TOMBSTONE_MS;
        expected
            .gone
            .retain(|key, removed_ms| *removed_ms > forgotten_ms || seen.gone.contains_key(key));
        if has_outlived {
            // Statistics are read lazily, and their files may have been deleted.
            for (path, file) in &mut seen.files {
                file.rows = file.rows.or(expected.files.get(path).and_then(|file| file.rows));
            }
        }
        assert_eq!(seen, expected, "version {version} is not what it should be");
        Ok(())
    }

    /// Compares the newest version, opened again, with the model's.
    pub(crate) async fn compare_newest(&self) -> Result<Snapshot> {
        let newest = self.load(None).await?;
        assert_eq!(number_of(&newest), self.history.newest(), "the newest version");
        self.compare(&newest).await?;
        Ok(newest)
    }

    /// Verifies the oldest listed version: not before the previous oldest one, and not after the newest version that
    /// has expired by the store's clock.
    pub(crate) async fn compare_oldest(&mut self) -> Result<()> {
        let listing = Listing::whole(&self.place.location).await?;
        let (first, last) = version_range(&listing).expect("there is a table");
        let first = usize::try_from(first.as_i64()).unwrap_or(0);
        assert_eq!(last, to_version(self.history.newest()));
        // The newest version at or before the midnight that is one retention ago.
        let kept_from_ms = self.clocks.store_ms() - self.form.retention_ms;
        let latest = self
            .history
            .last_expired(kept_from_ms - kept_from_ms.rem_euclid(DAY_MS));
        assert!(
            (self.history.oldest..=latest).contains(&first),
            "the log begins at version {first}, and version {latest} has not expired"
        );
        if first > self.history.oldest {
            self.history.oldest = first;
            self.outlived = [true; WRITERS];
            self.tally.cuts += 1;
        }
        Ok(())
    }

    /// The snapshot of a writer, opened again if the log no longer contains its version.
    pub(crate) async fn hold_listed(&mut self, writer: usize) -> Result<Snapshot> {
        let oldest = self.history.oldest;
        self.held[writer].take_if(|held| number_of(held) < oldest);
        self.hold(writer).await
    }

    /// The snapshot of a writer, opened if it contains none.
    pub(crate) async fn hold(&mut self, writer: usize) -> Result<Snapshot> {
        if self.held[writer].is_none() {
            let newest = self.clocks.as_writer(writer, self.load(None)).await?;
            assert_eq!(number_of(&newest), self.history.newest(), "the newest version");
            self.glance(&newest).await?;
            self.held[writer] = Some(newest);
            self.outlived[writer] = false;
        }
        Ok(self.held[writer].clone().expect("it was just opened"))
    }
}

/// The version of a snapshot.
pub(crate) fn number_of(snapshot: &Snapshot) -> usize {
    usize::try_from(snapshot.version().as_i64()).unwrap_or(usize::MAX)
}
