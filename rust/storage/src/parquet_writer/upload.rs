//! Uploads a file to the store: it appears complete under its final name, or not at all.
//!
//! A small file is buffered and put at once. A larger one is a multipart upload.

use std::sync::Arc;

use bytes::Bytes;
use deltaic_protocol::Result;
use object_store::path::Path;
use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutPayload, PutPayloadMut, PutResult, WriteMultipart,
};

use crate::TableLocation;
use crate::location::Sent;
use crate::new_file::{exists, put_if_absent};
use crate::store_error::{Cause, store_error};

/// Size of a part of a file that may exist, in bytes: the smallest that stores accept.
const PART_BYTES: usize = 5 << 20;

/// Smaller pieces of a file are copied to be joined.
const SMALL_BYTES: usize = 64 << 10;

/// Maximum number of parts sent concurrently.
const PARTS_IN_FLIGHT: usize = 8;

/// The same of a file that may exist.
const PARTS_IN_FLIGHT_IF_ABSENT: usize = 4;

/// What may exist at the path of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// Nothing: the name is unique.
    UniqueName,
    /// A file, which is not replaced. Up to `most_held` bytes are buffered and put if absent; stores do not support that
    /// for multipart uploads, so before one is completed we check for an existing file. Of two writers the later may then
    /// replace the file of the other, so both must have the same content, as checkpoints of one version.
    IfAbsent {
        /// The maximum number of buffered bytes.
        most_held: usize,
    },
}

/// The file that exists at the path after the upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
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
    relative: String,
    is_local: bool,
    creation: Creation,
    /// Size of a part in bytes.
    part_bytes: usize,
    /// Small pieces are joined: a disk writes each with a call of its own.
    held: PutPayloadMut,
    sending: Option<WriteMultipart>,
}

impl Upload {
    /// Creates the upload of a file below the root of a table.
    pub(super) fn new(location: &TableLocation, relative: &str, creation: Creation) -> Result<Self> {
        Ok(Self {
            store: Arc::clone(location.store()),
            path: location.below(relative)?,
            relative: relative.to_owned(),
            is_local: location.file_system().is_some(),
            creation,
            part_bytes: match creation {
                Creation::UniqueName => location.part_bytes(),
                Creation::IfAbsent { .. } => PART_BYTES,
            },
            held: PutPayloadMut::new(),
            sending: None,
        })
    }

    /// Aborts the upload and deletes its parts on the store.
    pub(super) async fn abort(self) {
        if let Some(parts) = self.sending {
            let _ = parts.abort().await;
        }
    }

    /// Adds bytes at the end of the file.
    ///
    /// # Errors
    ///
    /// `StorageError` if the store fails.
    pub(super) async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let written = self.add(bytes).await;
        written.map_err(|error| store_error(&error, &self.relative))
    }

    /// Completes the upload; the file is durable when this returns.
    ///
    /// # Errors
    ///
    /// `StorageError` if the store fails.
    pub(super) async fn complete(&mut self) -> Result<Landed> {
        let completed = match self.creation {
            Creation::UniqueName => self.create().await,
            Creation::IfAbsent { .. } => self.create_if_absent().await,
        };
        completed.map_err(|error| store_error(&error, &self.relative))
    }

    async fn add(&mut self, bytes: Bytes) -> object_store::Result<()> {
        let in_flight = self.most_in_flight();
        if let Some(parts) = &mut self.sending {
            parts.wait_for_capacity(in_flight).await?;
            parts.put(bytes);
            return Ok(());
        }
        match bytes.len() < SMALL_BYTES {
            true => self.held.extend_from_slice(&bytes),
            false => self.held.push(bytes),
        }
        let most_held = match self.creation {
            Creation::UniqueName => self.part_bytes,
            Creation::IfAbsent { most_held } => most_held,
        };
        if self.held.content_length() > most_held {
            let upload = self.store.put_multipart(&self.path).await?;
            let mut parts = WriteMultipart::new_with_chunk_size(upload, self.part_bytes);
            for bytes in self.take_held() {
                parts.wait_for_capacity(in_flight).await?;
                parts.put(bytes);
            }
            self.sending = Some(parts);
        }
        Ok(())
    }

    /// The maximum number of parts sent concurrently.
    fn most_in_flight(&self) -> usize {
        match self.creation {
            Creation::UniqueName => PARTS_IN_FLIGHT,
            Creation::IfAbsent { .. } => PARTS_IN_FLIGHT_IF_ABSENT,
        }
    }

    fn take_held(&mut self) -> PutPayload {
        std::mem::take(&mut self.held).freeze()
    }

    async fn create(&mut self) -> object_store::Result<Landed> {
        let created = match self.sending.take() {
            Some(parts) => parts.finish().await,
            None => {
                let held = self.take_held();
                self.store.put(&self.path, held).await
            }
        };
        created.map(|_| Landed::Ours)
    }

    async fn create_if_absent(&mut self) -> object_store::Result<Landed> {
        let sent = match self.sending.take() {
            Some(parts) => {
                if exists(&self.store, &self.path).await? {
                    let _ = parts.abort().await;
                    return Ok(Landed::Another);
                }
                parts.finish().await
            }
            None => {
                let held = self.take_held();
                put(&self.store, &self.path, self.is_local, held).await
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
) -> object_store::Result<PutResult> {
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

    fn upload(store: &Arc<dyn ObjectStore>, is_local: bool, creation: Creation) -> Upload {
        Upload {
            store: Arc::clone(store),
            path: Path::from("a"),
            relative: "a".to_owned(),
            is_local,
            creation,
            part_bytes: PART_BYTES,
            held: PutPayloadMut::new(),
            sending: None,
        }
    }

    /// An existing file is not replaced, whether the new one is buffered or a multipart upload.
    #[tokio::test]
    async fn a_file_that_is_there_is_not_replaced() -> Result<()> {
        for most_held in [0, 1 << 20] {
            let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
            let content = async || -> Result<Bytes> { Ok(store.get(&Path::from("a")).await?.bytes().await?) };
            for (bytes, landed) in [("first", Landed::Ours), ("other", Landed::Another)] {
                let mut upload = upload(&store, false, Creation::IfAbsent { most_held });
                upload.write(Bytes::from(bytes)).await?;
                assert_eq!(upload.complete().await?, landed, "{most_held}");
                assert_eq!(content().await?, "first", "{most_held}");
            }
        }
        Ok(())
    }

    /// A file with a unique name is put, or uploaded in parts if it is larger than one.
    #[tokio::test]
    async fn a_file_with_a_unique_name_is_created() -> Result<()> {
        for parts in [0, 1, 3] {
            let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
            let mut upload = upload(&store, false, Creation::UniqueName);
            upload.part_bytes = 4;
            for _ in 0..parts {
                upload.write(Bytes::from("12345")).await?;
            }
            assert_eq!(upload.complete().await?, Landed::Ours);
            let content = store.get(&Path::from("a")).await?.bytes().await?;
            assert_eq!(content, "12345".repeat(parts));
        }
        Ok(())
    }

    /// Returns an incomplete upload with some bytes.
    async fn taken(store: &Arc<dyn ObjectStore>, is_local: bool, most_held: usize) -> Result<Upload> {
        let mut upload = upload(store, is_local, Creation::IfAbsent { most_held });
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
            let upload = taken(&store, true, most_held).await?;
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
            let mut upload = taken(&store, false, 10).await?;
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
