//! A request that is blocked until a test releases it.

use tokio::sync::oneshot;

/// When a request is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldPoint {
    /// Before the store executes it.
    Before,
    /// After the store has executed it, and before the caller receives the response. Reads are never blocked here.
    After,
}

/// The test's handle of a blocked request. Dropping it releases the request.
#[derive(Debug)]
pub struct Hold {
    reached: oneshot::Receiver<()>,
    _release: oneshot::Sender<()>,
}

/// The store's side of a [`Hold`].
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

    /// Waits until the request is blocked, without a timeout.
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
