//! What a request may meet, and which requests are to meet it.

use std::ops::Range;

use bytes::Bytes;
use object_store::Error;

use crate::requests::RequestKind;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is done, and the answer is lost.
    AnswerLost,
    /// It never arrives, and neither does an answer.
    RequestLost,
    /// The store says that there is no such file.
    NotFound,
    /// The store is out of order.
    ServerError,
    /// The store is asked too much.
    Throttled,
    /// The store lets nobody in.
    PermissionDenied,
    /// The body ends early and nobody says so: at the end of its last line but one, so that what came makes sense, or in
    /// the middle where it has no lines.
    Truncated,
    /// The connection breaks in the middle of the body.
    Reset,
    /// More comes than was told: the body's last line once more, or the whole body where it has no lines.
    Lengthened,
    /// The answer is right and takes an hour.
    Slow,
    /// Another file of the same length takes this one's place before it is answered: one bit of its first half is another.
    Overwritten,
}

impl Fault {
    /// Every fault of a read.
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

    /// What the client hears.
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

    /// Whether what is asked for is done and answered, as far as the fault lets it through.
    pub(crate) fn is_answered(self) -> bool {
        matches!(
            self,
            Self::Truncated | Self::Reset | Self::Lengthened | Self::Slow | Self::Overwritten
        )
    }

    /// What arrives of a body, for the faults that change it.
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

/// Which requests meet a fault.
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
    /// Every request meets the fault, until the rule is narrowed.
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

    /// Only requests whose path holds this text.
    #[must_use]
    pub fn at(self, part_of_path: &str) -> Self {
        Self {
            part_of_path: part_of_path.to_owned(),
            ..self
        }
    }

    /// Of the requests that the rest of the rule means only these, counted from 0 and from when the rule is given.
    #[must_use]
    pub fn requests(self, which: Range<usize>) -> Self {
        Self { which, ..self }
    }

    /// The fault that a request meets by this rule, which counts it.
    pub(crate) fn judge(&mut self, kind: RequestKind, path: &str) -> Option<Fault> {
        if !(self.kinds.is_empty() || self.kinds.contains(&kind)) || !path.contains(&self.part_of_path) {
            return None;
        }
        let number = self.met;
        self.met += 1;
        self.which.contains(&number).then_some(self.fault)
    }
}
