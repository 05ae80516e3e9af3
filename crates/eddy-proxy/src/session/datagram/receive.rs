//! Reading of datagrams from a listener's socket and their assignment to sessions.

use std::io::{self, ErrorKind};
use std::rc::Rc;

use eddy_io::{DatagramListener, Flow};

use crate::session::datagram::session::{Session, SessionFlows, TURN_DATAGRAMS_MAX};
use crate::session::listener::ListenerHandle;
use crate::stats::DatagramLoss;
use crate::worker::Worker;

/// Maximum number of sessions tried for one datagram: when an endpoint turns out to be gone, another is selected once.
const SESSIONS_TRIED_MAX: usize = 2;

/// Reads datagrams until the task is aborted.
///
/// A datagram that cannot be forwarded is dropped and counted: its client sends it again if it matters.
pub(crate) async fn take_datagrams(
    worker: Rc<Worker>,
    handle: Rc<ListenerHandle>,
    flows: Rc<SessionFlows>,
    socket: Rc<DatagramListener>,
) {
    let taker = DatagramReceiver { worker: &worker, handle: &handle, flows: &flows, socket: &socket };
    while socket.readable().await.is_ok() {
        match (0..TURN_DATAGRAMS_MAX).try_for_each(|_| taker.take()) {
            // Let other tasks run.
            Ok(()) => tokio::task::yield_now().await,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => {
                worker.series.accepts_failed.increment();
                worker.ticked.notified().await;
            }
        }
    }
}

struct DatagramReceiver<'a> {
    worker: &'a Rc<Worker>,
    handle: &'a Rc<ListenerHandle>,
    flows: &'a Rc<SessionFlows>,
    socket: &'a Rc<DatagramListener>,
}

impl DatagramReceiver<'_> {
    fn take(&self) -> io::Result<()> {
        let mut room = self.flows.room.borrow_mut();
        let (count, flow) = self.socket.try_receive(&mut room)?;
        if let Err(loss) = self.pass(room.get(..count).unwrap_or_default(), flow) {
            self.lose(loss);
        }
        Ok(())
    }

    /// Forwards a datagram in its session; begins a session if there is none.
    fn pass(&self, bytes: &[u8], flow: Flow) -> Result<(), DatagramLoss> {
        let mut passed = Err(DatagramLoss::Refused);
        for _ in 0..SESSIONS_TRIED_MAX {
            let session = match self.flows.find(&flow) {
                Some(session) => session,
                None => Session::begin(self.worker, self.handle, self.flows, self.socket, flow)?,
            };
            passed = session.forward_to_endpoint(bytes);
            if passed != Err(DatagramLoss::Refused) {
                break;
            }
        }
        passed
    }

    fn lose(&self, loss: DatagramLoss) {
        if let Some(listener) = self.handle.current() {
            listener.series.datagrams.lose(loss);
        }
    }
}
