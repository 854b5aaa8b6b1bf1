//! Counts how often a request was sent: the store's client retries, and the last response does not show whether
//! the first request succeeded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{ClientOptions, Extensions, Result};

use super::network::Network;

/// Counter of the requests that carry it. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Sent(Arc<AtomicUsize>);

impl Sent {
    /// Returns the extension for a request to be counted.
    pub fn carried(&self) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(self.clone());
        extensions
    }

    /// Whether more than one request was sent.
    pub fn is_again(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }
}

/// Creates HTTP clients that count their requests.
#[derive(Debug)]
pub(in crate::location) struct Counting(Arc<dyn HttpConnector>);

impl Counting {
    /// Uses the network, or the replacement that a test provides.
    pub(in crate::location) fn over(network: &Network) -> Self {
        Self(match network {
            Some(stand) => Arc::clone(stand),
            None => Arc::new(ReqwestConnector::default()),
        })
    }
}

impl HttpConnector for Counting {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        Ok(HttpClient::new(CountingClient(self.0.connect(options)?)))
    }
}

#[derive(Debug)]
struct CountingClient(HttpClient);

#[async_trait]
impl HttpService for CountingClient {
    async fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        if let Some(Sent(count)) = request.extensions().get::<Sent>() {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.0.execute(request).await
    }
}
