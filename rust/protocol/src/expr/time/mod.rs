//! Dates and timestamps: the calendar, time zones, and their spellings in the protocol and in SQL.

pub(in crate::expr) mod calendar;
mod protocol;
pub(in crate::expr) mod reader;
pub(in crate::expr) mod spellings;
mod zones;

pub use protocol::{format_date, format_timestamp, parse_date, parse_timestamp, parse_timestamp_ntz};
