//! Functions for tests, only in builds with the features `provoke` and `witness`, never in a release.

#[cfg(feature = "provoke")]
pub(crate) mod expression;
#[cfg(feature = "provoke")]
pub(crate) mod provoke;
#[cfg(feature = "witness")]
pub(crate) mod witness;
