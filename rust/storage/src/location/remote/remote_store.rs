//! A remote store whose errors contain no secret, and which works in forked processes.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use tracing::{Instrument, Span, debug_span};

use super::connect::connect;
use super::network::Network;
use super::per_process::PerProcess;
use crate::location::given::options::{Settings, secrets, without};
use crate::location::given::uri::RemoteFolder;
use crate::store_error::Cause;

/// A store whose errors contain no secret, whatever a server responds, and whose `Debug` output is its name.
pub(in crate::location) struct RemoteStore {
    place: RemoteFolder,
    settings: Settings,
    secrets: Arc<[String]>,
    stores: PerProcess,
    network: Network,
}

impl RemoteStore {
    /// Creates the store. Sends no request.
    pub(in crate::location) fn try_new(
        place: RemoteFolder,
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

/// The span of a request. `bytes` is the number of bytes sent or requested.
fn request(method: &'static str, path: &Path, bytes: usize) -> Span {
    debug_span!(target: "deltaic::storage", "request", method, path = path.as_ref(), bytes)
}

fn listing(prefix: Option<&Path>) -> Span {
    debug_span!(target: "deltaic::storage", "request", method = "list", path = prefix.map(AsRef::as_ref))
}

/// A stream in a span that lasts until the stream is dropped.
fn lasting<T: Send + 'static>(
    stream: impl Stream<Item = Result<T>> + Send + 'static,
    span: Span,
) -> BoxStream<'static, Result<T>> {
    // The closure owns the span, and the stream owns the closure.
    stream
        .inspect(move |_| {
            let _ = &span;
        })
        .boxed()
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
        let request = request("put", path, payload.content_length());
        let put = self.store()?.put_opts(path, payload, options);
        put.instrument(request).await.map_err(self.discreet())
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let upload = self.store()?.put_multipart_opts(path, options);
        let upload = upload.instrument(request("start upload", path, 0)).await;
        let upload = upload.map_err(self.discreet())?;
        Ok(Box::new(RemoteUpload {
            upload,
            secrets: Arc::clone(&self.secrets),
        }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let request = request(if options.head { "head" } else { "get" }, path, 0);
        let got = self.store()?.get_opts(path, options);
        let mut got = got.instrument(request.clone()).await.map_err(self.discreet())?;
        request.record("bytes", got.range.end.saturating_sub(got.range.start));
        if let GetResultPayload::Stream(stream) = got.payload {
            let stream = stream.map_err(self.discreet());
            got.payload = GetResultPayload::Stream(lasting(stream, request));
        }
        Ok(got)
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let bytes: u64 = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start))
            .sum();
        let request = request("get ranges", path, usize::try_from(bytes).unwrap_or(usize::MAX));
        let got = self.store()?.get_ranges(path, ranges);
        got.instrument(request).await.map_err(self.discreet())
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.store() {
            Ok(store) => lasting(
                store.delete_stream(paths).map_err(self.discreet()),
                debug_span!(target: "deltaic::storage", "delete"),
            ),
            Err(error) => failed(error),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.store() {
            Ok(store) => lasting(store.list(prefix).map_err(self.discreet()), listing(prefix)),
            Err(error) => failed(error),
        }
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.store() {
            Ok(store) => {
                let listed = store.list_with_offset(prefix, offset).map_err(self.discreet());
                lasting(listed, listing(prefix))
            }
            Err(error) => failed(error),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let listed = self.store()?.list_with_delimiter(prefix);
        listed.instrument(listing(prefix)).await.map_err(self.discreet())
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let copied = self.store()?.copy_opts(from, to, options);
        let copied = copied.instrument(request("copy", from, 0)).await;
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
