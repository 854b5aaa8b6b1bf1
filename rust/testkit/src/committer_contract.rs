//! What every way of committing must keep, whatever the store: run by the tests of each.

use std::sync::Arc;

use deltaic_log::TableLocation;
use deltaic_log::committer::{Outcome, prepare, propose};
use deltaic_log::listing::Listing;
use deltaic_protocol::log_path::LogPath;
use deltaic_protocol::{Result, Version};

/// Proposes, proposes again, and lets many propose at once. Panics where the contract is broken.
///
/// Protocol: *Delta Log Entries*; a commit is seen whole or not at all, one proposer wins, and a listing shows it.
#[expect(clippy::panic, reason = "a broken contract fails the test that runs it")]
pub async fn keeps_the_contract(location: Arc<TableLocation>) -> Result<()> {
    prepare(&location).await?;
    let first = Version::ZERO;
    assert_eq!(
        propose(&location, first, b"one\n".to_vec()).await?,
        Outcome::Committed(first)
    );
    assert_eq!(
        propose(&location, first, b"two\n".to_vec()).await?,
        Outcome::Lost(first)
    );
    assert_eq!(
        read(&location, first).await,
        "one\n",
        "a loser changed the winner's commit"
    );
    for number in 1..6 {
        let version = Version::try_new(number)?;
        let proposals: Vec<_> = (0..8)
            .map(|writer| {
                let location = Arc::clone(&location);
                tokio::spawn(
                    async move { propose(&location, version, format!("{writer}\n").into_bytes()).await },
                )
            })
            .collect();
        let mut winners = Vec::new();
        for (writer, proposal) in proposals.into_iter().enumerate() {
            match proposal
                .await
                .unwrap_or_else(|error| panic!("a proposal broke: {error}"))?
            {
                Outcome::Committed(_) => winners.push(writer),
                Outcome::Lost(_) => {}
                Outcome::Unknown(_) => panic!("a store without faults knows what became of a commit"),
            }
        }
        assert_eq!(winners.len(), 1, "version {number} has the winners {winners:?}");
        assert_eq!(read(&location, version).await, format!("{}\n", winners[0]));
    }
    let listing = Listing::whole(&location).await?;
    assert_eq!(listing.commits().count(), 6);
    assert_eq!(
        listing.files.len(),
        6,
        "something else is taken for a file of the log: {listing:?}"
    );
    Ok(())
}

async fn read(location: &TableLocation, version: Version) -> String {
    let bytes = location.read(&LogPath::commit(version)).await.unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
