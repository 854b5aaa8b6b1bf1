//! A request that is held up until a test lets it go on.

use tokio::sync::oneshot;

/// Where a request is held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldPoint {
    /// Before the store does what it was asked.
    Before,
    /// After the store has done it, and before the caller gets the answer. Reads are never held up here.
    After,
}

/// The test's side of a request that is held up. Dropping it releases the request.
#[derive(Debug)]
pub struct Hold {
    reached: oneshot::Receiver<()>,
    _release: oneshot::Sender<()>,
}

/// The store's side.
#[derive(Debug)]
pub(crate) struct Holder {
    number: usize,
    point: HoldPoint,
    reached: oneshot::Sender<()>,
    release: oneshot::Receiver<()>,
}

impl Hold {
    pub(crate) fn of(number: usize, point: HoldPoint) -> (Self, Holder) {
        let (send_reached, reached) = oneshot::channel();
        let (send_release, release) = oneshot::channel();
        let hold = Self {
            reached,
            _release: send_release,
        };
        let holder = Holder {
            number,
            point,
            reached: send_reached,
            release,
        };
        (hold, holder)
    }

    /// Waits until the request is held up; forever if it never is.
    pub async fn reached(&mut self) {
        if (&mut self.reached).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Holder {
    pub(crate) fn is_meant(&self, number: usize, point: HoldPoint) -> bool {
        (self.number, self.point) == (number, point)
    }

    pub(crate) async fn wait(self) {
        let _ = self.reached.send(());
        let _ = self.release.await;
    }
}
