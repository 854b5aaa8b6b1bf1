//! The network that a store's client uses.

use std::sync::Arc;

use object_store::client::HttpConnector;

/// A replacement of the network for tests.
pub(in crate::location) type Network = Option<Arc<dyn HttpConnector>>;
