//! Event loop of one core: accepts connections, runs their sessions, keeps time and applies plans.

mod accept;
mod admission;
mod cluster;
mod connect;
mod date;
mod overload;
mod run;
mod sockets;
mod state;
mod tick;
mod uploads;

pub(crate) use accept::{has_room, is_shortage};
pub(crate) use admission::{Ticket, Waited};
pub(crate) use cluster::{EndpointGuard, LinkWanted, WorkerCluster};
pub(crate) use overload::{Pressure, Room};
pub(crate) use run::{Apply, Start, WorkerCommand, run};
pub(crate) use sockets::SocketTable;
pub use sockets::Sockets;
pub(crate) use state::{ListenerHandle, Worker, WorkerParts, WorkerPlan, millis, now, share};
pub(crate) use uploads::{SlotWait, Upload, UploadSlot, UploadSlots};
