//! Predicates bound to a schema.
