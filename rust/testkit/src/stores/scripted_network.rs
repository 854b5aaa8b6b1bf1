//! Replaces the network below a store's client: responds like the services or as scripted, and records all requests.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body::{Body, Frame};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{ClientConfigKey, ClientOptions, Result};
use percent_encoding::percent_decode_str;
use tokio::time::Instant;

use super::services::{Object, Objects, Response, serve};

/// The fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The server responds with a status and an error code.
    Status(u16, &'static str),
    /// The connection is refused.
    Refused,
    /// The server closes the connection before it responds.
    Closed,
    /// The connection is reset before a response.
    Reset,
    /// No response until the timeout of the client's settings.
    Silence,
    /// The connection is reset in the middle of the body.
    BreaksOff,
    /// The body is silently truncated in the middle.
    Short,
    /// The body is longer than announced.
    Long,
}

/// Selects the requests that meet a fault.
#[derive(Clone, Debug)]
pub struct Trouble {
    mishap: Mishap,
    method: &'static str,
    part_of_uri: String,
    which: Range<usize>,
    is_done: bool,
    met: usize,
}

impl Trouble {
    /// Matches every request with a method whose decoded URI contains a string.
    #[must_use]
    pub fn new(mishap: Mishap, method: &'static str, part_of_uri: &str) -> Self {
        Self {
            mishap,
            method,
            part_of_uri: part_of_uri.to_owned(),
            which: 0..usize::MAX,
            is_done: false,
            met: 0,
        }
    }

    /// Only these of the matching requests, counted from 0 since the rule was added.
    #[must_use]
    pub fn requests(self, which: Range<usize>) -> Self {
        Self { which, ..self }
    }

    /// The request is executed before the fault.
    #[must_use]
    pub fn done(self) -> Self {
        Self {
            is_done: true,
            ..self
        }
    }

    fn check(&mut self, request: &HttpRequest) -> Option<(Mishap, bool)> {
        let is_meant =
            request.method().as_str() == self.method && decoded(request).contains(&self.part_of_uri);
        if !is_meant {
            return None;
        }
        let number = self.met;
        self.met += 1;
        self.which
            .contains(&number)
            .then_some((self.mishap, self.is_done))
    }
}

/// A request that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its method.
    pub method: String,
    /// Its URI, decoded, since each service encodes different characters.
    pub uri: String,
    /// When it was sent, since the network was created.
    pub started: Duration,
    /// When the response began or the request failed.
    pub ended: Duration,
}

/// The network, and the one bucket of each service on it. Clones share the network.
///
/// ```
/// use std::sync::Arc;
/// use deltaic_storage::TableLocation;
/// use deltaic_storage::location::StorageOptions;
/// use deltaic_testkit::scripted_network::{Mishap, ScriptedNetwork, Trouble};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
/// # runtime.block_on(async {
/// let network = ScriptedNetwork::default();
/// network.put("t/a", "hello");
/// network.meets(Trouble::new(Mishap::Status(503, "SlowDown"), "GET", "t/a").requests(0..2));
/// let keys = [("aws_access_key_id", "k"), ("aws_secret_access_key", "s")];
/// let options: std::collections::BTreeMap<_, _> =
///     keys.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
/// let table = TableLocation::on_network("s3://b/t", StorageOptions::from(options), Arc::new(network.clone()))?;
/// assert_eq!(table.read("a").await.ok().as_deref(), Some(&b"hello"[..]));
/// assert_eq!(network.attempts("GET", "t/a").len(), 3);
/// # Ok::<(), deltaic_protocol::Error>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedNetwork {
    state: Arc<Mutex<State>>,
    made: Instant,
}

#[derive(Debug, Default)]
struct State {
    objects: Objects,
    writings: usize,
    troubles: Vec<Trouble>,
    attempts: Vec<Attempt>,
}

impl Default for ScriptedNetwork {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            made: Instant::now(),
        }
    }
}

impl ScriptedNetwork {
    /// Puts an object into the bucket without a request.
    pub fn put(&self, key: &str, bytes: impl Into<Bytes>) {
        let mut state = self.state();
        state.writings += 1;
        let (bytes, writing) = (bytes.into(), state.writings);
        state.objects.insert(key.to_owned(), Object { bytes, writing });
    }

    /// The bucket's content.
    #[must_use]
    pub fn objects(&self) -> Vec<(String, Bytes)> {
        let state = self.state();
        let objects = state.objects.iter();
        objects
            .map(|(key, object)| (key.clone(), object.bytes.clone()))
            .collect()
    }

    /// Adds a fault. The first one that matches a request decides; every one counts the requests that it matches.
    pub fn meets(&self, trouble: Trouble) {
        self.state().troubles.push(trouble);
    }

    /// Removes all faults.
    pub fn heal(&self) {
        self.state().troubles.clear();
    }

    /// Clears the recorded requests.
    pub fn forget(&self) {
        self.state().attempts.clear();
    }

    /// The requests of a method whose URI contains a string, in order.
    #[must_use]
    pub fn attempts(&self, method: &str, part_of_uri: &str) -> Vec<Attempt> {
        let state = self.state();
        let attempts = state.attempts.iter();
        attempts
            .filter(|attempt| attempt.method == method && attempt.uri.contains(part_of_uri))
            .cloned()
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &HttpRequest, body: Bytes) -> (Option<Mishap>, Response) {
        let mut state = self.state();
        let mut met = None;
        for trouble in &mut state.troubles {
            let checked = trouble.check(request);
            met = met.or(checked);
        }
        state.writings += 1;
        let writing = state.writings;
        let mishap = met.map(|(mishap, _)| mishap);
        let is_in_the_body = matches!(mishap, Some(Mishap::BreaksOff | Mishap::Short | Mishap::Long));
        let answer = if met.is_none_or(|(_, is_done)| is_done) || is_in_the_body {
            serve(&mut state.objects, request, body, writing)
        } else {
            Response::default()
        };
        (mishap, answer)
    }
}

impl HttpConnector for ScriptedNetwork {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let silence = options.get_config_value(&ClientConfigKey::ReadTimeout);
        Ok(HttpClient::new(Client {
            network: self.clone(),
            silence: silence
                .and_then(|text| humantime::parse_duration(&text).ok())
                .unwrap_or(Duration::MAX),
        }))
    }
}

#[derive(Debug)]
struct Client {
    network: ScriptedNetwork,
    /// Timeout of the client's settings.
    silence: Duration,
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let started = self.network.made.elapsed();
        let body = whole(request.body_mut()).await?;
        let (mishap, answer) = self.network.answer(&request, body);
        // Like real clients, names the request.
        let uri = request.uri().to_string();
        let fails = |kind, why: &str| {
            let why = format!("{why} for {uri}");
            Err(HttpError::new(kind, std::io::Error::other(why)))
        };
        let answered = match mishap {
            Some(Mishap::Refused) => fails(HttpErrorKind::Connect, "connection refused"),
            Some(Mishap::Closed) => fails(HttpErrorKind::Request, "connection closed"),
            Some(Mishap::Reset) => fails(HttpErrorKind::Interrupted, "connection reset"),
            Some(Mishap::Silence) => {
                wait(self.silence).await;
                fails(HttpErrorKind::Timeout, "operation timed out")
            }
            Some(Mishap::Status(status, code)) => {
                Ok(response(Response::refusal(status, code, &request), None))
            }
            mishap => Ok(response(answer, mishap)),
        };
        let ended = self.network.made.elapsed();
        self.network.state().attempts.push(Attempt {
            method: request.method().to_string(),
            uri: decoded(&request),
            started,
            ended,
        });
        answered
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "simulated timeout, which a paused clock skips"
)]
async fn wait(silence: Duration) {
    tokio::time::sleep(silence).await;
}

fn decoded(request: &HttpRequest) -> String {
    let uri = request.uri().to_string();
    percent_decode_str(&uri).decode_utf8_lossy().into_owned()
}

async fn whole(body: &mut HttpRequestBody) -> Result<Bytes, HttpError> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        bytes.extend_from_slice(&frame?.into_data().unwrap_or_default());
    }
    Ok(bytes.into())
}

fn response(answer: Response, mishap: Option<Mishap>) -> HttpResponse {
    let half = answer.body.slice(..answer.body.len() / 2);
    let pieces = match mishap {
        Some(Mishap::BreaksOff) => {
            let reset = std::io::Error::other("connection reset");
            vec![Ok(half), Err(HttpError::new(HttpErrorKind::Interrupted, reset))]
        }
        Some(Mishap::Short) => vec![Ok(half)],
        Some(Mishap::Long) => vec![Ok(answer.body.clone()), Ok(answer.body)],
        _ => vec![Ok(answer.body)],
    };
    let mut response = HttpResponse::new(HttpResponseBody::new(BodyChunks(pieces.into())));
    if let Ok(status) = answer.status.try_into() {
        *response.status_mut() = status;
    }
    for (name, value) in answer.headers {
        if let Ok(value) = value.try_into() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// A body in chunks, the last of which may be a connection error.
struct BodyChunks(VecDeque<Result<Bytes, HttpError>>);

impl Body for BodyChunks {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        Poll::Ready(self.0.pop_front().map(|piece| piece.map(Frame::data)))
    }
}
