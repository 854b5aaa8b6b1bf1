//! A store on a network: its errors contain no secret, and it works in forked processes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use super::connect::{Network, connect};
use super::options::{Settings, secrets, without};
use super::per_process::PerProcess;
use super::uri::Place;
use crate::store_error::Cause;

/// A store whose errors contain no secret, whatever a server responds, and whose `Debug` output is its name.
pub(super) struct RemoteStore {
    place: Place,
    settings: Settings,
    secrets: Arc<[String]>,
    stores: PerProcess,
    network: Network,
}

impl RemoteStore {
    /// Creates the store. Sends no request.
    pub(super) fn try_new(
        place: Place,
        settings: Settings,
        network: Network,
    ) -> deltaic_protocol::Result<Self> {
        let store = connect(&place, &settings, &network)?;
        Ok(Self {
            secrets: secrets(&settings).into(),
            stores: PerProcess::new(store),
            place,
            settings,
            network,
        })
    }

    fn store(&self) -> Result<&Arc<dyn ObjectStore>> {
        self.stores.get(|| {
            connect(&self.place, &self.settings, &self.network).map_err(|error| Error::Generic {
                store: "remote",
                source: error.message().to_owned().into(),
            })
        })
    }

    fn discreet(&self) -> impl Fn(Error) -> Error + Clone + Send + Sync + 'static {
        let secrets = Arc::clone(&self.secrets);
        move |error| discreet(error, &secrets)
    }
}

/// Returns the error with a short cause without secrets: servers may include request data in responses.
fn discreet(error: Error, secrets: &[String]) -> Error {
    let cause = Cause::of(&error).without(|text| without(secrets, text));
    let source = Box::new(cause);
    match error {
        Error::NotFound { path, .. } => Error::NotFound { path, source },
        Error::AlreadyExists { path, .. } => Error::AlreadyExists { path, source },
        Error::Precondition { path, .. } => Error::Precondition { path, source },
        Error::NotModified { path, .. } => Error::NotModified { path, source },
        Error::PermissionDenied { path, .. } => Error::PermissionDenied { path, source },
        Error::Unauthenticated { path, .. } => Error::Unauthenticated { path, source },
        Error::NotSupported { .. } => Error::NotSupported { source },
        Error::NotImplemented { operation, .. } => Error::NotImplemented {
            operation,
            implementer: "the store".to_owned(),
        },
        Error::Generic { store, .. } => Error::Generic { store, source },
        _ => Error::Generic {
            store: "remote",
            source,
        },
    }
}

fn failed<T: Send + 'static>(error: Error) -> BoxStream<'static, Result<T>> {
    stream::once(async { Err(error) }).boxed()
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteStore({self})")
    }
}

impl fmt::Display for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.place.scheme, self.place.bucket)
    }
}

#[async_trait]
impl ObjectStore for RemoteStore {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let put = self.store()?.put_opts(path, payload, options).await;
        put.map_err(self.discreet())
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let upload = self.store()?.put_multipart_opts(path, options).await;
        let upload = upload.map_err(self.discreet())?;
        Ok(Box::new(RemoteUpload {
            upload,
            secrets: Arc::clone(&self.secrets),
        }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let got = self.store()?.get_opts(path, options).await;
        let mut got = got.map_err(self.discreet())?;
        if let GetResultPayload::Stream(stream) = got.payload {
            got.payload = GetResultPayload::Stream(stream.map_err(self.discreet()).boxed());
        }
        Ok(got)
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let got = self.store()?.get_ranges(path, ranges).await;
        got.map_err(self.discreet())
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.store() {
            Ok(store) => store.delete_stream(paths).map_err(self.discreet()).boxed(),
            Err(error) => failed(error),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.store() {
            Ok(store) => store.list(prefix).map_err(self.discreet()).boxed(),
            Err(error) => failed(error),
        }
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.store() {
            Ok(store) => store
                .list_with_offset(prefix, offset)
                .map_err(self.discreet())
                .boxed(),
            Err(error) => failed(error),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let listed = self.store()?.list_with_delimiter(prefix).await;
        listed.map_err(self.discreet())
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let copied = self.store()?.copy_opts(from, to, options).await;
        copied.map_err(self.discreet())
    }
}

/// A multipart upload.
#[derive(Debug)]
struct RemoteUpload {
    upload: Box<dyn MultipartUpload>,
    secrets: Arc<[String]>,
}

#[async_trait]
impl MultipartUpload for RemoteUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let secrets = Arc::clone(&self.secrets);
        let part = self.upload.put_part(data);
        part.map(move |done| done.map_err(|error| discreet(error, &secrets)))
            .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let done = self.upload.complete().await;
        done.map_err(|error| discreet(error, &self.secrets))
    }

    async fn abort(&mut self) -> Result<()> {
        let done = self.upload.abort().await;
        done.map_err(|error| discreet(error, &self.secrets))
    }
}
