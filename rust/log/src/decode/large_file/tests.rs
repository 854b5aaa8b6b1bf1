//! Pieces of any size give the same result as the whole file.

use deltaic_protocol::Version;
use object_store::memory::InMemory;
use object_store::path::Path;
use proptest::prelude::*;

use super::*;
use crate::decode::commits::decode_commit;
use crate::decode::file_batch::StatisticsSource;

/// The paths of the adds, the positions of their statistics, and the number of actions.
fn message(adds: &[&FileBatch]) -> Vec<(String, u64, u32)> {
    adds.iter()
        .flat_map(|batch| {
            let StatisticsSource::Lines(places) = &batch.statistics else {
                panic!("adds of lines have positions");
            };
            (0..batch.len()).map(|row| {
                let path = format!("{:?}", batch.keys.key(row));
                (path, places.first[row], places.length[row])
            })
        })
        .collect()
}

async fn in_pieces(text: &[u8], cut: Splitting) -> Result<(TableActions, Vec<FileBatch>, Vec<FileBatch>)> {
    let store = Arc::new(InMemory::new());
    let file = Arc::new(LogFile {
        size: text.len() as u64,
        ..LogFile::commit(Version::ZERO)
    });
    let path = Path::from(format!("t/{}", file.relative()));
    store
        .put(&path, bytes::Bytes::copy_from_slice(text).into())
        .await
        .expect("an in-memory store accepts every put");
    let location = TableLocation::on_store("memory://t/".to_owned(), store, Path::from("t"));
    let mut pieces = Vec::new();
    for start in (0..file.size).step_by(usize::try_from(cut.piece).unwrap_or(1)) {
        pieces.push(read_piece(&location, &file, start, cut, 1 << 10).await?);
    }
    assemble(pieces)
}

/// The same from a network that returns chunks of this size.
async fn from_chunks(
    text: &[u8],
    cut: Splitting,
    chunk: usize,
) -> Result<(TableActions, Vec<FileBatch>, Vec<FileBatch>)> {
    let chunks: Vec<_> = text
        .chunks(chunk)
        .map(|chunk| Ok(Bytes::copy_from_slice(chunk)))
        .collect();
    let arriving = Arriving {
        path: Path::from("t"),
        length: text.len() as u64,
        stream: Box::pin(futures::stream::iter(chunks)),
    };
    let file = Arc::new(LogFile::commit(Version::ZERO));
    assemble(read_arriving(arriving, &file, cut, 1 << 10).await?)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn pieces_state_what_the_whole_states(
        lines in prop::collection::vec((0usize..3, 0usize..200), 1..30),
        piece in 1u64..300,
        read in 1u64..300,
        ending in prop::sample::select(vec!["\n", "\r\n"]),
        is_ended in any::<bool>(),
    ) {
        let mut text: String = lines
            .iter()
            .enumerate()
            .map(|(number, (kind, width))| match kind {
                0 => ending.to_owned(),
                1 => format!("{{\"txn\":{{\"appId\":\"{number}{}\",\"version\":1}}}}{ending}", "x".repeat(*width)),
                _ => format!(
                    "{{\"add\":{{\"path\":\"{number}{}\",\"partitionValues\":{{}},\"size\":1,\"modificationTime\":2,\"dataChange\":true,\"stats\":\"{{}}\"}}}}{ending}",
                    "y".repeat(*width)
                ),
            })
            .collect();
        if !is_ended {
            text.truncate(text.trim_end().len());
        }
        let file = Arc::new(LogFile::commit(Version::ZERO));
        let whole = decode_commit(text.as_bytes(), &file, 1 << 10);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let cut = Splitting { piece, read };
        let chunk = usize::try_from(read).unwrap_or(1);
        let ways = [
            runtime.block_on(in_pieces(text.as_bytes(), cut)),
            runtime.block_on(from_chunks(text.as_bytes(), cut, chunk)),
        ];
        for cut in ways {
            match (&whole, cut) {
                (Ok(whole), Ok((table, adds, _))) => {
                    let whole_adds: Vec<&FileBatch> = whole.adds.iter().map(AsRef::as_ref).collect();
                    prop_assert_eq!(message(&whole_adds), message(&adds.iter().collect::<Vec<_>>()));
                    prop_assert_eq!(&whole.table.txns, &table.txns);
                }
                (whole, cut) => prop_assert!(whole.is_err() && cut.is_err(), "{text:?}"),
            }
        }
    }
}

#[test]
fn damage_has_the_line_of_the_whole_file() {
    let line = "{\"txn\":{\"appId\":\"a\",\"version\":1}}\n";
    let text = line.repeat(20) + "{\"txn\":" + "\n" + line;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    for piece in [7, 50, 100, 10_000] {
        let cut = Splitting { piece, read: 13 };
        let error = runtime.block_on(in_pieces(text.as_bytes(), cut)).err();
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("line: 21"), "{piece}: {message}");
    }
}
