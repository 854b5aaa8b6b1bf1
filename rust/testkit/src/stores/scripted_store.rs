//! A store with latency that records its requests and fails on demand.

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::time::Instant;

use super::fault::{Fault, Rule};
use super::hold::{Hold, HoldPoint, Holder};
use super::listing_form::ListingForm;
use super::requests::{Report, Request, RequestKind};
use super::store_clock::StoreClock;

/// Objects per page of a listing, as on large object stores.
const PAGE: usize = 1000;

/// Duration of a slow response.
const SLOW: Duration = Duration::from_secs(60 * 60);

/// A store, in memory or over another one, fast and correct until configured otherwise. Clones share the store.
///
/// On a runtime whose clock is paused, latency costs no time, and [`Report::depth`] counts exactly:
///
/// ```
/// use std::time::Duration;
/// use deltaic_testkit::requests::RequestKind;
/// use deltaic_testkit::scripted_store::ScriptedStore;
/// use object_store::{ObjectStoreExt, path::Path};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let store = ScriptedStore::default();
/// store.put(&Path::from("a"), "hello".into()).await?;
/// store.set_latency(Duration::from_millis(30));
/// store.forget();
/// store.head(&Path::from("a")).await?;
/// store.get_range(&Path::from("a"), 1..3).await?;
/// let report = store.report();
/// assert_eq!((report.depth(), report.count(RequestKind::Get), report.bytes()), (2, 1, 2));
/// # Ok::<(), object_store::Error>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedStore {
    store: Arc<dyn ObjectStore>,
    script: Arc<Mutex<Script>>,
    clock: StoreClock,
    made: Instant,
}

#[derive(Debug)]
struct Script {
    latency: Duration,
    page: usize,
    rules: Vec<Rule>,
    listing: ListingForm,
    requests: Vec<Request>,
    /// Requests before this were cleared: their responses are not recorded.
    forgotten: usize,
    met: usize,
    holder: Option<Holder>,
}

impl Default for ScriptedStore {
    fn default() -> Self {
        Self::over(Arc::new(InMemory::new()))
    }
}

impl ScriptedStore {
    /// A store over another one. Requests sent directly to the inner store have no latency or faults and are not
    /// counted.
    #[must_use]
    pub fn over(store: Arc<dyn ObjectStore>) -> Self {
        Self {
            store,
            script: Arc::new(Mutex::new(Script {
                latency: Duration::ZERO,
                page: PAGE,
                rules: Vec::new(),
                listing: ListingForm::default(),
                requests: Vec::new(),
                forgotten: 0,
                met: 0,
                holder: None,
            })),
            clock: StoreClock::default(),
            made: Instant::now(),
        }
    }

    /// Sets the latency of all further requests.
    pub fn set_latency(&self, latency: Duration) {
        self.script().latency = latency;
    }

    /// Sets how far the store's clock is ahead of this machine's; it stamps all objects put from now on.
    pub fn set_clock_ahead(&self, ahead: Duration) {
        self.clock.set_ahead(ahead);
    }

    /// Sets the number of objects per page of further listings.
    pub fn set_page(&self, page: usize) {
        self.script().page = page.max(1);
    }

    /// Adds a rule. The first rule that matches a request decides; every rule counts the requests that it matches.
    pub fn fail(&self, rule: Rule) {
        self.script().rules.push(rule);
    }

    /// Sets the faults of the next puts and the next reads, in order.
    pub fn script_next(&self, puts: &[Fault], reads: &[Fault]) {
        for (kinds, faults) in [
            (&[RequestKind::Put][..], puts),
            (&[RequestKind::Get, RequestKind::Head][..], reads),
        ] {
            for (number, fault) in faults.iter().enumerate() {
                self.fail(Rule::new(*fault).of(kinds).requests(number..number + 1));
            }
        }
    }

    /// Sets the form of further folder listings.
    pub fn set_listing(&self, form: ListingForm) {
        self.script().listing = form;
    }

    /// Removes all rules, and restores correct listings.
    pub fn heal(&self) {
        let mut script = self.script();
        script.rules.clear();
        script.holder = None;
        script.listing = ListingForm::default();
    }

    /// Blocks one further request, counted from 0, until the [`Hold`] is released or dropped.
    pub fn hold(&self, request: usize, point: HoldPoint) -> Hold {
        let mut script = self.script();
        let number = script.forgotten + script.requests.len() + request;
        let (hold, holder) = Hold::of(number, point);
        script.holder = Some(holder);
        hold
    }

    async fn wait_if_held(&self, number: usize, point: HoldPoint) {
        let holder = self
            .script()
            .holder
            .take_if(|holder| holder.is_meant(number, point));
        if let Some(holder) = holder {
            holder.wait().await;
        }
    }

    /// The clock that sets the modification times of objects.
    #[must_use]
    pub fn clock(&self) -> &StoreClock {
        &self.clock
    }

    /// Number of requests that met a fault.
    #[must_use]
    pub fn faults_met(&self) -> usize {
        self.script().met
    }

    /// Clears the recorded requests.
    pub fn forget(&self) {
        let mut script = self.script();
        script.forgotten += script.requests.len();
        script.requests.clear();
    }

    /// The requests since the store was created or cleared.
    #[must_use]
    pub fn report(&self) -> Report {
        let script = self.script();
        Report {
            requests: script.requests.clone(),
            latency: script.latency,
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request, waits for its latency, and returns its fault.
    async fn begin(&self, kind: RequestKind, path: &str) -> (usize, Option<Fault>) {
        let (number, fault, latency) = {
            let started = self.made.elapsed();
            let mut script = self.script();
            let mut fault = None;
            for rule in &mut script.rules {
                // Every rule counts, so that "the third" does not depend on other rules.
                let checked = rule.check(kind, path);
                fault = fault.or(checked);
            }
            script.met += usize::from(fault.is_some());
            script.requests.push(Request {
                kind,
                path: path.to_owned(),
                range: None,
                started,
                ended: None,
            });
            (
                script.forgotten + script.requests.len() - 1,
                fault,
                script.latency,
            )
        };
        let latency = if fault == Some(Fault::Slow) { SLOW } else { latency };
        if !latency.is_zero() {
            wait(latency).await;
        }
        self.wait_if_held(number, HoldPoint::Before).await;
        (number, fault)
    }

    fn end(&self, number: usize, range: Option<Range<u64>>) {
        let ended = self.made.elapsed();
        let mut script = self.script();
        let place = number.checked_sub(script.forgotten);
        if let Some(request) = place.and_then(|place| script.requests.get_mut(place)) {
            request.ended = Some(ended);
            request.range = range;
        }
    }

    /// Executes a request with a single response.
    async fn ask<T>(
        &self,
        kind: RequestKind,
        path: &str,
        request: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let (number, fault) = self.begin(kind, path).await;
        let answer = match fault {
            None | Some(Fault::Slow) => request.await,
            Some(Fault::AnswerLost) => {
                request.await?;
                Err(Fault::AnswerLost.error(path))
            }
            Some(fault) => Err(fault.error(path)),
        };
        self.wait_if_held(number, HoldPoint::After).await;
        self.end(number, None);
        answer
    }

    /// Pages of a listing: one request each; the next page is requested once the last one was read.
    fn pages(
        &self,
        kind: RequestKind,
        prefix: Option<&Path>,
        objects: BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let form = self.script().listing.clone();
        let clock = self.clock.clone();
        let objects = form.apply_to(objects);
        let objects = objects.map_ok(move |object| clock.shown(object)).boxed();
        let store = self.clone();
        let path = prefix.map(ToString::to_string).unwrap_or_default();
        let pages = stream::unfold(Some(objects), move |objects| {
            let (store, path) = (store.clone(), path.clone());
            async move {
                let mut objects = objects?;
                let size = store.script().page;
                let page = async {
                    let mut page: Vec<Result<ObjectMeta>> = Vec::new();
                    while page.len() < size
                        && let Some(object) = objects.next().await
                    {
                        page.push(object);
                    }
                    Ok(page)
                };
                let page = store.ask(kind, &path, page).await;
                Some(match page {
                    Err(error) => (vec![Err(error)], None),
                    // A partial page is the last one.
                    Ok(page) => {
                        let more = page.len() == size;
                        (page, more.then_some(objects))
                    }
                })
            }
        });
        pages.flat_map(stream::iter).boxed()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "simulated latency, which a paused clock skips"
)]
async fn wait(latency: Duration) {
    tokio::time::sleep(latency).await;
}

impl fmt::Display for ScriptedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedStore")
    }
}

#[async_trait]
impl ObjectStore for ScriptedStore {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let put = async {
            let put = self.store.put_opts(path, payload, options).await?;
            self.clock.stamp(path);
            Ok(put)
        };
        self.ask(RequestKind::Put, path.as_ref(), put).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let put = async {
            let put = self.store.put_multipart_opts(path, options).await?;
            self.clock.stamp(path);
            Ok(put)
        };
        self.ask(RequestKind::Put, path.as_ref(), put).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        if options.head {
            let head = async {
                let mut found = self.store.get_opts(path, options).await?;
                found.meta = self.clock.shown(found.meta);
                Ok(found)
            };
            return self.ask(RequestKind::Head, path.as_ref(), head).await;
        }
        let (number, fault) = self.begin(RequestKind::Get, path.as_ref()).await;
        let (answer, range) = self.answer(path, options, fault).await;
        self.end(number, range);
        answer
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        paths
            .and_then(move |path| {
                let store = store.clone();
                async move {
                    let delete = store.store.delete(&path);
                    store.ask(RequestKind::Delete, path.as_ref(), delete).await?;
                    Ok(path)
                }
            })
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.pages(RequestKind::List, prefix, self.store.list(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let objects = self.store.list_with_offset(prefix, offset);
        self.pages(RequestKind::ListFrom, prefix, objects)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut listed = self.store.list_with_delimiter(prefix).await?;
        let form = self.script().listing.clone();
        listed.objects = form.apply(listed.objects);
        let objects = listed.objects.into_iter();
        listed.objects = objects.map(|object| self.clock.shown(object)).collect();
        let size = self.script().page;
        let path = prefix.map(Path::as_ref).unwrap_or_default();
        let pages = listed.objects.len() / size + 1;
        for _ in 0..pages {
            self.ask(RequestKind::ListFolder, path, async { Ok(()) }).await?;
        }
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let copy = async {
            self.store.copy_opts(from, to, options).await?;
            self.clock.stamp(to);
            Ok(())
        };
        self.ask(RequestKind::Copy, to.as_ref(), copy).await
    }
}

impl ScriptedStore {
    /// The response to a read, and its byte range.
    async fn answer(
        &self,
        path: &Path,
        options: GetOptions,
        fault: Option<Fault>,
    ) -> (Result<GetResult>, Option<Range<u64>>) {
        if let Some(fault) = fault
            && !fault.is_answered()
        {
            return (Err(fault.error(path.as_ref())), None);
        }
        if fault == Some(Fault::Overwritten)
            && let Err(error) = self.overwrite(path).await
        {
            return (Err(error), None);
        }
        let answer = match self.store.get_opts(path, options).await {
            Ok(mut answer) => {
                answer.meta = self.clock.shown(answer.meta);
                answer
            }
            Err(error) => return (Err(error), None),
        };
        let range = Some(answer.range.clone());
        let Some(fault) = fault.filter(|fault| !matches!(fault, Fault::Slow | Fault::Overwritten)) else {
            return (Ok(answer), range);
        };
        let (meta, asked) = (answer.meta.clone(), answer.range.clone());
        let (attributes, extensions) = (answer.attributes.clone(), answer.extensions.clone());
        let body = match answer.bytes().await {
            Ok(body) => body,
            Err(error) => return (Err(error), range),
        };
        let mut parts = vec![Ok(fault.arrives(&body).unwrap_or_default())];
        if fault == Fault::Reset {
            parts.push(Err(fault.error(path.as_ref())));
        }
        let broken = GetResult {
            payload: GetResultPayload::Stream(stream::iter(parts).boxed()),
            meta,
            range: asked,
            attributes,
            extensions,
        };
        (Ok(broken), range)
    }

    /// Replaces a file by another of the same length.
    async fn overwrite(&self, path: &Path) -> Result<()> {
        let mut bytes = self.store.get(path).await?.bytes().await?.to_vec();
        let quarter = bytes.len() / 4;
        // Changes one character inside a word, so that the file remains decodable.
        let words = bytes.get(quarter..).unwrap_or_default().windows(16);
        let word = words
            .into_iter()
            .position(|window| window.iter().all(u8::is_ascii_alphanumeric));
        if let Some(byte) = bytes.get_mut(quarter + word.map_or(0, |word| word + 8)) {
            *byte ^= 1;
        }
        self.store.put(path, bytes.into()).await.map(|_| ())
    }
}
