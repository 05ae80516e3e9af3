//! What the parent and the gateway process say to each other, and how.
//!
//! One Unix socket of type seqpacket joins them: a message is one datagram of JSON, and descriptors travel beside it. The
//! child finds its end at standard input. Both sides ignore, and log, a message they do not know, so that neighbouring
//! versions of eddy understand each other during a hand-over.
//!
//! A gateway process whose parent is gone speaks in the same way with the one that is to take its place.

mod channel;
mod message;
mod rendezvous;
mod succession;

pub(crate) use channel::{Channel, DESCRIPTORS_PER_MESSAGE, Received, memory_file, read_memory_file};
pub(crate) use message::{
    ChildSettings, FilterAbout, PROTOCOL, QuarantineLimits, Quarantined, STATE_FORMAT, SocketKey,
    SocketPlace, SocketRole, StartReason, ToChild, ToParent,
};
pub(crate) use rendezvous::{GatewayPeer, Rendezvous, gateway_peers};
pub(crate) use succession::{SUCCESSION_PROTOCOL, ServedAddress, ServingState, ToPredecessor, ToSuccessor};

#[cfg(test)]
mod tests;
