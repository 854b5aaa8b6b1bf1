//! Faults of requests, and rules that select the requests.

use std::ops::Range;

use bytes::Bytes;
use object_store::Error;

use super::requests::RequestKind;

/// The fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request succeeds, and the response is lost.
    AnswerLost,
    /// The request is never received, and there is no response.
    RequestLost,
    /// The store reports that the file does not exist.
    NotFound,
    /// The store reports an internal error.
    ServerError,
    /// The store throttles the request.
    Throttled,
    /// The store denies access.
    PermissionDenied,
    /// The body is silently truncated: after its last line but one, so that the received part is valid, or in the
    /// middle if it has no lines.
    Truncated,
    /// The connection is reset in the middle of the body.
    Reset,
    /// The body is longer than announced: its last line is repeated, or the whole body if it has no lines.
    Lengthened,
    /// The response is correct and takes an hour.
    Slow,
    /// The file is overwritten before the response by one of the same length: one bit of its first half differs.
    Overwritten,
}

impl Fault {
    /// All faults of reads.
    pub const OF_READS: [Self; 9] = [
        Self::RequestLost,
        Self::NotFound,
        Self::ServerError,
        Self::Throttled,
        Self::PermissionDenied,
        Self::Truncated,
        Self::Reset,
        Self::Lengthened,
        Self::Slow,
    ];

    /// The error that the client receives.
    #[must_use]
    pub fn error(self, path: &str) -> Error {
        let generic = |why: &'static str| Error::Generic {
            store: "scripted",
            source: why.into(),
        };
        match self {
            Self::NotFound => Error::NotFound {
                path: path.to_owned(),
                source: "404 Not Found".into(),
            },
            Self::PermissionDenied => Error::PermissionDenied {
                path: path.to_owned(),
                source: "403 Forbidden".into(),
            },
            Self::ServerError => generic("500 Internal Server Error"),
            Self::Throttled => generic("503 Slow Down"),
            Self::AnswerLost
            | Self::RequestLost
            | Self::Truncated
            | Self::Reset
            | Self::Lengthened
            | Self::Slow
            | Self::Overwritten => generic("the connection was reset"),
        }
    }

    /// Whether the request is carried out and a response is sent.
    pub(crate) fn is_answered(self) -> bool {
        matches!(
            self,
            Self::Truncated | Self::Reset | Self::Lengthened | Self::Slow | Self::Overwritten
        )
    }

    /// The received body, for faults that change it.
    pub(crate) fn arrives(self, body: &Bytes) -> Option<Bytes> {
        let half = body.len() / 2;
        match self {
            Self::Reset => Some(body.slice(..half)),
            Self::Truncated => {
                let mut before_the_end = body.iter().take(body.len().saturating_sub(1));
                let line = before_the_end.rposition(|byte| *byte == b'\n');
                Some(body.slice(..line.map_or(half, |end| end + 1)))
            }
            Self::Lengthened => {
                let mut before_the_end = body.iter().take(body.len().saturating_sub(1));
                let line = before_the_end.rposition(|byte| *byte == b'\n');
                let last = body.slice(line.map_or(0, |end| end + 1)..);
                Some([body.as_ref(), last.as_ref()].concat().into())
            }
            _ => None,
        }
    }
}

/// Selects the requests that meet a fault.
///
/// ```
/// use deltaic_testkit::fault::{Fault, Rule};
/// use deltaic_testkit::requests::RequestKind;
/// // The second read of a commit, and no other.
/// let rule = Rule::new(Fault::NotFound).of(&[RequestKind::Get]).at(".json").requests(1..2);
/// # let _ = rule;
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    fault: Fault,
    kinds: Vec<RequestKind>,
    part_of_path: String,
    which: Range<usize>,
    met: usize,
}

impl Rule {
    /// Matches every request, until the rule is narrowed.
    #[must_use]
    pub fn new(fault: Fault) -> Self {
        Self {
            fault,
            kinds: Vec::new(),
            part_of_path: String::new(),
            which: 0..usize::MAX,
            met: 0,
        }
    }

    /// Only requests of these kinds.
    #[must_use]
    pub fn of(self, kinds: &[RequestKind]) -> Self {
        Self {
            kinds: kinds.to_vec(),
            ..self
        }
    }

    /// Only requests whose path contains this string.
    #[must_use]
    pub fn at(self, part_of_path: &str) -> Self {
        Self {
            part_of_path: part_of_path.to_owned(),
            ..self
        }
    }

    /// Only these of the requests that match otherwise, counted from 0 since the rule was added.
    #[must_use]
    pub fn requests(self, which: Range<usize>) -> Self {
        Self { which, ..self }
    }

    /// Returns the fault of this rule for a request, and counts the request.
    pub(crate) fn check(&mut self, kind: RequestKind, path: &str) -> Option<Fault> {
        if !(self.kinds.is_empty() || self.kinds.contains(&kind)) || !path.contains(&self.part_of_path) {
            return None;
        }
        let number = self.met;
        self.met += 1;
        self.which.contains(&number).then_some(self.fault)
    }
}
