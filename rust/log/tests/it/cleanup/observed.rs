//! The state of a table after a cleanup: remaining names, and readable versions.

use std::collections::BTreeSet;

use deltaic_log::listing::Listing;
use deltaic_log::segment::version_range;
use deltaic_protocol::{Result, Version};
use deltaic_storage::clock::now_ms;
use deltaic_storage::store_error;
use deltaic_testkit::facts::facts;
use deltaic_testkit::oracle::replay;
use deltaic_testkit::table_builder::TableBuilder;
use futures::TryStreamExt;
use object_store::ObjectStore;

pub(crate) const DAY_MS: i64 = 86_400_000;

pub(crate) fn version(number: usize) -> Version {
    Version::try_new(i64::try_from(number).unwrap_or(i64::MAX)).expect("a version")
}

/// A day on which every file of a test has long expired.
pub(crate) fn long_after() -> i64 {
    now_ms() + 40 * DAY_MS
}

/// The names in the log's folder and below it.
pub(crate) async fn names(table: &TableBuilder) -> Result<BTreeSet<String>> {
    let location = table.location();
    let folder = location.below("_delta_log")?;
    let listed = location.store().list(Some(&folder)).try_collect::<Vec<_>>().await;
    let listed = listed.map_err(|error| store_error(&error, "_delta_log"))?;
    let below =
        |path: &object_store::path::Path| path.as_ref().trim_start_matches("t/_delta_log/").to_owned();
    Ok(listed.iter().map(|object| below(&object.location)).collect())
}

/// Every listed version can be opened and agrees with the oracle; these are the versions from `oldest` on.
pub(crate) async fn assert_readable_from(table: &TableBuilder, oldest: usize, how: &str) -> Result<()> {
    let newest = table.commits().len() - 1;
    let listing = Listing::whole(&table.location()).await?;
    let range = version_range(&listing);
    let (first, last) = range.unwrap_or_else(|| panic_with(how));
    assert_eq!(last, version(newest), "{how}");
    assert!(first <= version(oldest), "{how}: the oldest version is {first}");
    for number in usize::try_from(first.as_i64()).unwrap_or(0)..=newest {
        let snapshot = table.open_at(number).await?;
        assert_eq!(
            facts(&snapshot).await?,
            replay(&table.commits()[..=number]).facts(),
            "{how}, version {number}"
        );
    }
    let snapshot = table.open().await?;
    assert_eq!(facts(&snapshot).await?, replay(table.commits()).facts(), "{how}");
    Ok(())
}

#[expect(clippy::panic, reason = "a table that is gone fails the test")]
fn panic_with(how: &str) -> (Version, Version) {
    panic!("{how}: there is no table any more")
}
