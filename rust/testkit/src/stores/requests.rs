//! The requests that a store received: kind, time, byte ranges, and how many depend on one another.

use std::ops::Range;
use std::time::Duration;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// A file or a byte range of it.
    Get,
    /// A file's size.
    Head,
    /// A page of all objects below a prefix.
    List,
    /// A page of all objects below a prefix and after a name.
    ListFrom,
    /// A page of a folder.
    ListFolder,
    /// A file is written.
    Put,
    /// A file is copied or renamed.
    Copy,
    /// A file is deleted.
    Delete,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its kind.
    pub kind: RequestKind,
    /// The path on the store; for a listing, the prefix.
    pub path: String,
    /// The returned byte range; only for reads.
    pub range: Option<Range<u64>>,
    /// When it was sent, since the store was created.
    pub started: Duration,
    /// When the response was sent, or the request failed; `None` if the caller did not wait for it.
    pub ended: Option<Duration>,
}

/// The requests of a period, in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The requests.
    pub requests: Vec<Request>,
    /// Latency of each request.
    pub latency: Duration,
}

impl Report {
    /// Number of requests that wait for one another: the time from the first to the last request, divided by the
    /// latency.
    ///
    /// Only meaningful on a paused clock, where nothing but requests takes time.
    #[must_use]
    pub fn depth(&self) -> u128 {
        let first = self.requests.iter().map(|request| request.started).min();
        let last = self.requests.iter().filter_map(|request| request.ended).max();
        let elapsed = last.unwrap_or_default().saturating_sub(first.unwrap_or_default());
        // A timer may fire within the millisecond after it is due.
        (elapsed.as_nanos() + self.latency.as_nanos() / 2)
            .checked_div(self.latency.as_nanos())
            .unwrap_or_default()
    }

    /// Number of requests of a kind.
    #[must_use]
    pub fn count(&self, kind: RequestKind) -> usize {
        self.requests
            .iter()
            .filter(|request| request.kind == kind)
            .count()
    }

    /// The requests of a kind whose path contains a string.
    pub fn at(&self, kind: RequestKind, part_of_path: &str) -> impl Iterator<Item = &Request> {
        self.requests
            .iter()
            .filter(move |request| request.kind == kind && request.path.contains(part_of_path))
    }

    /// Number of fetched bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ranges()
            .map(|(_, range)| range.end.saturating_sub(range.start))
            .sum()
    }

    /// The byte ranges that were fetched more than once, with their file.
    #[must_use]
    pub fn fetched_twice(&self) -> Vec<(String, Range<u64>)> {
        let mut ranges: Vec<(&str, Range<u64>)> = self.ranges().collect();
        ranges.sort_by(|left, right| {
            (left.0, left.1.start, left.1.end).cmp(&(right.0, right.1.start, right.1.end))
        });
        let mut twice = Vec::new();
        let mut reached: (&str, u64) = ("", 0);
        for (path, range) in ranges {
            if reached.0 != path {
                reached = (path, 0);
            }
            if range.start < reached.1.min(range.end) {
                twice.push((path.to_owned(), range.start..reached.1.min(range.end)));
            }
            reached.1 = reached.1.max(range.end);
        }
        twice
    }

    fn ranges(&self) -> impl Iterator<Item = (&str, Range<u64>)> {
        self.requests
            .iter()
            .filter(|request| request.kind == RequestKind::Get)
            .filter_map(|request| Some((request.path.as_str(), request.range.clone()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str, range: Range<u64>, from: u64, to: u64) -> Request {
        Request {
            kind: RequestKind::Get,
            path: path.to_owned(),
            range: Some(range),
            started: Duration::from_millis(from),
            ended: Some(Duration::from_millis(to)),
        }
    }

    #[test]
    fn overlaps_are_found_file_by_file() {
        let report = |requests| Report {
            requests,
            latency: Duration::from_millis(10),
        };
        let apart = report(vec![
            get("a", 5..9, 0, 10),
            get("a", 0..5, 0, 10),
            get("b", 0..9, 0, 10),
        ]);
        assert!(apart.fetched_twice().is_empty());
        assert_eq!((apart.depth(), apart.bytes()), (1, 18));
        let over = report(vec![
            get("a", 0..9, 0, 10),
            get("a", 2..4, 10, 20),
            get("a", 8..12, 20, 30),
        ]);
        assert_eq!(
            over.fetched_twice(),
            [("a".to_owned(), 2..4), ("a".to_owned(), 8..9)]
        );
        assert_eq!(over.depth(), 3);
    }
}
