//! Protocol between the parent and the gateway process.
//!
//! They are connected by one Unix seqpacket socket: a message is one datagram of JSON, with descriptors attached. The
//! child's end is its standard input. Both sides log and ignore unknown messages, so that adjacent versions of eddy
//! understand each other during a hand-over.
//!
//! A gateway process whose parent is gone talks to its successor in the same way.

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
