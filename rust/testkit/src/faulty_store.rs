//! A store that loses answers, as networks do.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What becomes of a put or of a read of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is done, and the answer is lost.
    AnswerLost,
    /// It never arrives, and neither does an answer.
    RequestLost,
}

/// A store in memory whose requests meet faults in the order in which they were scripted; then it is sound.
#[derive(Debug)]
pub struct FaultyStore {
    store: Arc<InMemory>,
    puts: Mutex<VecDeque<Fault>>,
    reads: Mutex<VecDeque<Fault>>,
}

impl FaultyStore {
    /// A store over another, sound until faults are scripted.
    #[must_use]
    pub fn over(store: Arc<InMemory>) -> Self {
        Self {
            store,
            puts: Mutex::default(),
            reads: Mutex::default(),
        }
    }

    /// What the next puts and the next reads meet.
    pub fn script(&self, puts: &[Fault], reads: &[Fault]) {
        self.puts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(puts);
        self.reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(reads);
    }
}

fn next(faults: &Mutex<VecDeque<Fault>>) -> Option<Fault> {
    faults.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn lost() -> Error {
    Error::Generic {
        store: "faulty",
        source: "the connection was reset".into(),
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyStore")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        match next(&self.puts) {
            None => self.store.put_opts(path, payload, options).await,
            Some(Fault::RequestLost) => Err(lost()),
            Some(Fault::AnswerLost) => {
                self.store.put_opts(path, payload, options).await?;
                Err(lost())
            }
        }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        match next(&self.reads) {
            None => self.store.get_opts(path, options).await,
            Some(_) => Err(lost()),
        }
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}
