//! State of an event loop.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use eddy_config::ListenAddress;
use tokio::task::AbortHandle;

use crate::event_loop::sockets::Sockets;
use crate::resolved::RetiredParts;
use crate::session::{ListenerHandle, SessionFlows};
use crate::worker::Worker;

/// State of a worker's event loop besides the worker itself.
pub(crate) struct Loop {
    pub(crate) worker: Rc<Worker>,
    pub(crate) sockets: RefCell<Arc<Sockets>>,
    pub(crate) listeners: RefCell<Vec<ServedListener>>,
    /// Dropped when the last connection has ended, once a drain has begun.
    pub(crate) drained: RefCell<Option<Sender<()>>>,
    pub(super) accepting: RefCell<Vec<AbortHandle>>,
    /// Tasks that read datagrams, which have no accept queue to be emptied.
    pub(super) taking: RefCell<Vec<AbortHandle>>,
    /// Tasks that apply updates of endpoints and of their health.
    pub(super) following: RefCell<Vec<AbortHandle>>,
    pub(super) retired: Rc<RetiredParts>,
}

/// A listener that the worker serves or has served.
pub(super) struct ServedListener {
    pub(super) handle: Rc<ListenerHandle>,
    /// Datagram sessions, if the listener receives datagrams.
    pub(super) flows: Option<Rc<SessionFlows>>,
}

impl ServedListener {
    /// Creates the state of a listener that is not part of a plan yet.
    pub(super) fn new(address: ListenAddress) -> Self {
        let handle = Rc::new(ListenerHandle::new(address));
        let flows = handle.receives_datagrams().then(Rc::default);
        Self { handle, flows }
    }
}
