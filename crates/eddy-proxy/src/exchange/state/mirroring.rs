//! Mirror copies of a request.

use std::rc::Rc;

use eddy_config::MirrorHost;

use crate::upstream::WorkerCluster;

/// State of the mirror copies of a request.
#[derive(Debug, Default)]
pub(crate) enum Mirroring {
    /// No attempt has written its head yet.
    #[default]
    Undrawn,
    /// Copies to send once an attempt has sent the request.
    Pending(Box<[MirrorCopy]>),
    /// All copies were sent or dropped, or there are none.
    Done,
}

impl Mirroring {
    /// Whether copies are still to be sent.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self, Self::Pending(_))
    }
}

/// One copy.
#[derive(Debug)]
pub(crate) struct MirrorCopy {
    pub(in crate::exchange) cluster: Rc<WorkerCluster>,
    pub(in crate::exchange) host: MirrorHost,
}
