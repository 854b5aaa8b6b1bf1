//! Uploads a file to the store: it appears complete under its final name, or not at all.
//!
//! A small file is buffered and put if absent. A larger one is a multipart upload, which stores do not
//! support conditionally: we check for an existing file before completing the upload. Of two concurrent
//! checkpoints of one version the later may then replace the other; the protocol allows this because both
//! have the same content.

use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload, PutResult, Result, WriteMultipart};

use deltaic_storage::Cause;
use deltaic_storage::location::Sent;
use deltaic_storage::new_file::{exists, put_if_absent};

/// Size of a part in bytes: the smallest that stores accept.
const PART_BYTES: usize = 5 << 20;

/// Maximum number of parts sent concurrently.
const PARTS_IN_FLIGHT: usize = 4;

/// The file that exists at the path after the upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Landed {
    /// Our file.
    Ours,
    /// An existing file, or ours if the response was lost.
    Another,
}

/// The upload of one file.
#[derive(Debug)]
pub(super) struct Upload {
    store: Arc<dyn ObjectStore>,
    path: Path,
    is_local: bool,
    most_held: usize,
    held: Vec<Bytes>,
    held_bytes: usize,
    sending: Option<WriteMultipart>,
}

impl Upload {
    /// Creates an upload that buffers up to `most_held` bytes.
    pub(super) fn new(store: Arc<dyn ObjectStore>, path: Path, is_local: bool, most_held: usize) -> Self {
        Self {
            store,
            path,
            is_local,
            most_held,
            held: Vec::new(),
            held_bytes: 0,
            sending: None,
        }
    }

    /// Aborts the upload and deletes its parts on the store.
    pub(super) async fn abort(self) {
        if let Some(parts) = self.sending {
            let _ = parts.abort().await;
        }
    }

    /// Adds bytes at the end of the file.
    pub(super) async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.held_bytes += bytes.len();
        self.held.push(bytes);
        if self.held_bytes > self.most_held && self.sending.is_none() {
            let upload = self.store.put_multipart(&self.path).await?;
            self.sending = Some(WriteMultipart::new_with_chunk_size(upload, PART_BYTES));
        }
        if let Some(parts) = &mut self.sending {
            for bytes in self.held.drain(..) {
                parts.wait_for_capacity(PARTS_IN_FLIGHT).await?;
                parts.put(bytes);
            }
        }
        Ok(())
    }

    /// Completes the upload; the file is durable when this returns.
    pub(super) async fn complete(&mut self) -> Result<Landed> {
        let sent = match self.sending.take() {
            Some(parts) => {
                if exists(&self.store, &self.path).await? {
                    let _ = parts.abort().await;
                    return Ok(Landed::Another);
                }
                parts.finish().await
            }
            None => {
                let payload: PutPayload = std::mem::take(&mut self.held).into_iter().collect();
                put(&self.store, &self.path, self.is_local, payload).await
            }
        };
        match sent {
            Ok(_) => Ok(Landed::Ours),
            Err(error @ Error::AlreadyExists { .. }) if !Cause::of(&error).is_undecided() => {
                Ok(Landed::Another)
            }
            // The response is not definitive, but an existing file is complete, whichever writer created it.
            Err(error) => match exists(&self.store, &self.path).await {
                Ok(true) => Ok(Landed::Another),
                _ => Err(error),
            },
        }
    }
}

async fn put(
    store: &Arc<dyn ObjectStore>,
    path: &Path,
    is_local: bool,
    payload: PutPayload,
) -> Result<PutResult> {
    match put_if_absent(store, path, payload.clone(), &Sent::default()).await {
        // A file system without hard links does not support a conditional put.
        Err(error) if is_local && !matches!(error, Error::AlreadyExists { .. }) => {
            match exists(store, path).await {
                Ok(false) => store.put(path, payload).await,
                _ => Err(error),
            }
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use deltaic_testkit::fault::{Fault, Rule};
    use deltaic_testkit::requests::RequestKind;
    use deltaic_testkit::scripted_store::ScriptedStore;
    use object_store::local::LocalFileSystem;
    use object_store::memory::InMemory;

    use super::*;

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    /// An existing file is not replaced, whether the new one is buffered or a multipart upload.
    #[tokio::test]
    async fn a_file_that_is_there_is_not_replaced() -> Result<()> {
        for most_held in [0, 1 << 20] {
            let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
            let path = Path::from("a");
            let content = async || -> Result<Bytes> { Ok(store.get(&path).await?.bytes().await?) };
            for (bytes, landed) in [("first", Landed::Ours), ("other", Landed::Another)] {
                let mut upload = Upload::new(Arc::clone(&store), path.clone(), false, most_held);
                upload.write(Bytes::from(bytes)).await?;
                assert_eq!(upload.complete().await?, landed, "{most_held}");
                assert_eq!(content().await?, "first", "{most_held}");
            }
        }
        Ok(())
    }

    /// Returns an incomplete upload with some bytes.
    async fn taken(store: &Arc<dyn ObjectStore>, path: &Path, is_local: bool, held: usize) -> Result<Upload> {
        let mut upload = Upload::new(Arc::clone(store), path.clone(), is_local, held);
        upload.write(Bytes::from("12")).await?;
        upload.write(Bytes::from("345")).await?;
        Ok(upload)
    }

    /// A small file is buffered and a larger one is sent; an aborted upload leaves no files.
    #[tokio::test]
    async fn abandoned_transactions_leave_no_files() -> Result<()> {
        for (most_held, sent) in [(6, 0), (5, 0), (4, 1), (2, 1), (0, 1)] {
            let folder = tempfile::tempdir()?;
            let disk = LocalFileSystem::new_with_prefix(folder.path())?;
            let store: Arc<dyn ObjectStore> = Arc::new(disk);
            let files = || folder.path().read_dir().map(Iterator::count);
            let upload = taken(&store, &Path::from("a"), true, most_held).await?;
            assert_eq!(files()?, sent, "{most_held}");
            upload.abort().await;
            assert_eq!(files()?, 0, "{most_held}");
        }
        Ok(())
    }

    /// After a put whose response was lost, an existing file is complete, whichever writer created it.
    #[tokio::test]
    async fn a_lost_answer_is_looked_after() -> Result<()> {
        for (fault, landed) in [
            (Fault::AnswerLost, Some(Landed::Another)),
            (Fault::RequestLost, None),
            (Fault::PermissionDenied, None),
        ] {
            let scripted = ScriptedStore::over(Arc::new(InMemory::new()));
            scripted.fail(Rule::new(fault).of(&[RequestKind::Put]));
            let store: Arc<dyn ObjectStore> = Arc::new(scripted);
            let mut upload = taken(&store, &Path::from("a"), false, 10).await?;
            let completed = upload.complete().await;
            assert_eq!(completed.ok(), landed, "{fault:?}");
        }
        Ok(())
    }

    /// If the disk rejects the conditional put, the file is put unconditionally unless it exists.
    #[tokio::test]
    async fn a_disk_without_hard_links_accepts_files() -> Result<()> {
        for (is_local, exists, is_taken) in [
            (true, false, true),
            (true, true, false),
            (false, false, false),
            (false, true, false),
        ] {
            let scripted = ScriptedStore::over(Arc::new(InMemory::new()));
            let path = Path::from("a");
            if exists {
                scripted.put(&path, PutPayload::from("first")).await?;
            }
            scripted.fail(
                Rule::new(Fault::PermissionDenied)
                    .of(&[RequestKind::Put])
                    .requests(0..1),
            );
            let store: Arc<dyn ObjectStore> = Arc::new(scripted);
            let done = put(&store, &path, is_local, PutPayload::from("ours")).await;
            assert_eq!(done.is_ok(), is_taken, "{is_local} {exists}");
        }
        Ok(())
    }
}
